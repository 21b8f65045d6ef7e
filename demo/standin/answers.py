"""The two ways a route ends: an `Answer`, or an `ApiError` in GitHub's own form and words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

DOCUMENTATION = "https://docs.github.com/rest"


@dataclass(frozen=True, slots=True)
class Answer:
    """`body` None is an empty answer, `bytes` go out as they are, all else as JSON."""

    body: Any
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)


class ApiError(Exception):
    """A refusal; its JSON satisfies the schemas basic-error and validation-error."""

    def __init__(
        self,
        status: int,
        message: str,
        errors: list[dict[str, Any]] | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(message)
        body: dict[str, Any] = {"message": message, "documentation_url": DOCUMENTATION, "status": str(status)}
        if errors:
            body["errors"] = errors
        self.answer = Answer(body, status, headers or {})


def not_found() -> ApiError:
    return ApiError(404, "Not Found")


def invalid(resource: str, fld: str, code: str, message: str | None = None) -> ApiError:
    """422 `Validation Failed` with one error; codes as in GitHub's page "Troubleshooting the REST API"."""
    error = {"resource": resource, "field": fld, "code": code}
    return ApiError(422, "Validation Failed", [error | ({"message": message} if message else {})])


def malformed(sentence: str) -> ApiError:
    """422 for a body that breaks the published schema."""
    return ApiError(422, f"Invalid request.\n\n{sentence}")


def require(body: Any, /, **kinds: type) -> dict[str, Any]:
    """The body, if it is an object whose members of these names are there and of these types."""
    if not isinstance(body, dict):
        raise ApiError(400, "Problems parsing JSON")
    for name, kind in kinds.items():
        if name not in body:
            raise malformed(f'"{name}" wasn\'t supplied.')
        permit(body, **{name: kind})
    return body


def permit(body: dict[str, Any], /, **kinds: type) -> None:
    """Refuse members of these names that are there with another type; null counts as absent."""
    for name, kind in kinds.items():
        value = body.get(name)
        if value is not None and (not isinstance(value, kind) or (kind is int and isinstance(value, bool))):
            raise malformed(f"For 'properties/{name}', {value!r} is not of type {kind.__name__}.")
