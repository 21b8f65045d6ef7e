"""GitHub's REST description as a judge of every request that Mendbot sends and every answer that its stand-in gives.
Where GitHub refuses more than its description says, the rule stands here with its source (threats.md 4)."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any
from urllib.parse import parse_qsl, unquote

import jsonschema_rs

from .fetch import REST, load
from .schema import complaints, validator

_SPANNING = frozenset({"{path}", "{ref}", "{basehead}"})  # may hold slashes
_EVERYWHERE = frozenset({304, 400, 401, 403, 404, 408, 410, 422, 429, 500, 502, 503, 504})
_MARKDOWN_CHARACTERS = 65_536
_CHECK_BYTES = 65_535
_MESSAGE_BYTES = 64 * 1024


@dataclass(frozen=True, slots=True)
class Operation:
    method: str
    template: str
    parameters: Mapping[str, str]
    described: Mapping[str, Any]

    @property
    def name(self) -> str:
        return f"{self.method} {self.template}"


@dataclass(slots=True)
class RequestOracle:
    """Judges by one description; validators are made when they are first needed."""

    description: Mapping[str, Any]
    _templates: dict[str, list[tuple[tuple[str, ...], str]]] = field(default_factory=dict)
    _validators: dict[tuple[str, str], jsonschema_rs.Draft202012Validator] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for template, operations in self.description["paths"].items():
            for method in operations:
                self._templates.setdefault(method, []).append((tuple(template.strip("/").split("/")), template))

    def check_request(
        self, method: str, path: str, query: Mapping[str, object] | None = None, body: object = None
    ) -> list[str]:
        """What GitHub would refuse, or silently pass over, in this request; empty if nothing. `path` may end in a query
        of its own; `body` is the parsed JSON, None for none."""
        path, _, asked = path.partition("?")
        operation = self._find(method, path)
        if operation is None:
            return [f"{method.upper()} {path}: GitHub has no such operation"]
        found = self._parameters(operation, {**dict(parse_qsl(asked, keep_blank_values=True)), **(query or {})})
        described = operation.described.get("requestBody")
        if described is None:
            return found if body is None else [*found, f"{operation.name}: takes no body"]
        if body is None:
            return [*found, f"{operation.name}: needs a body"] if described.get("required") else found
        content = described["content"].get("application/json")
        if content is None:
            return found
        judge = self._validator(operation, "request", content["schema"], close=True)
        found += complaints(judge, body, "body")
        for pattern, rule in _BEYOND_THE_DESCRIPTION:
            if pattern.fullmatch(operation.name) and isinstance(body, Mapping | list):
                found += rule(body)
        return found

    def check_response(self, method: str, path: str, status: int, body: object = None) -> list[str]:
        """How this answer differs from what GitHub describes; members beyond the description don't count."""
        path = path.partition("?")[0]
        operation = self._find(method, path)
        if operation is None:
            return [] if status == 404 else [f"{method.upper()} {path}: GitHub has no such operation"]
        answer = self._resolve(operation.described["responses"].get(str(status)))
        if answer is None:
            if status in _EVERYWHERE:
                return _plain_error(status, body)
            known = ", ".join(operation.described["responses"])
            return [f"{operation.name}: GitHub answers {known}, never {status}"]
        content = answer.get("content", {}).get("application/json")
        if content is None:
            empty = body is None or body in ("", b"", {}) or status >= 300
            return [] if empty else [f"{operation.name}: a {status} has no body"]
        if status >= 400:
            return _plain_error(status, body)
        judge = self._validator(operation, str(status), content["schema"], close=False)
        return complaints(judge, body, "response")

    def _find(self, method: str, path: str) -> Operation | None:
        """The operation whose template fits with the most literal parts."""
        parts = tuple(unquote(part) for part in path.strip("/").split("/"))
        fits = [
            (-sum(not part.startswith("{") for part in template), name, found)
            for template, name in self._templates.get(method.lower(), [])
            if (found := _fit(template, parts)) is not None
        ]
        if not fits:
            return None
        _, template, parameters = min(fits, key=lambda fit: fit[:2])
        return Operation(method.upper(), template, parameters, self.description["paths"][template][method.lower()])

    def _parameters(self, operation: Operation, query: Mapping[str, object]) -> list[str]:
        found: list[str] = []
        described = [self._resolve(item) or {} for item in operation.described.get("parameters", [])]
        values = {"path": operation.parameters, "query": query}
        for parameter in described:
            place, name = parameter["in"], parameter["name"]
            if place not in values:
                continue
            if name in values[place]:
                judge = self._validator(operation, f"{place}.{name}", parameter["schema"], close=True)
                found += complaints(judge, _typed(values[place][name], self._type(parameter["schema"])), name)
            elif parameter.get("required"):
                found.append(f"{operation.name}: needs the parameter {name}")
        known = {parameter["name"] for parameter in described if parameter["in"] == "query"}
        found += [f"{operation.name}: knows no query parameter {name}" for name in query if name not in known]
        per_page = query.get("per_page", 30)
        if str(per_page).isdigit() and not 1 <= int(str(per_page)) <= 100:
            found.append("per_page: GitHub gives 1 to 100 a page")
        return found

    def _type(self, schema: Mapping[str, Any]) -> str:
        if "$ref" in schema:
            schema = self._resolve(schema) or {}
        return str(schema.get("type", ""))

    def _resolve(self, node: Mapping[str, Any] | None) -> Mapping[str, Any] | None:
        if node is None or "$ref" not in node:
            return node
        found: Any = self.description
        for part in node["$ref"].removeprefix("#/").split("/"):
            found = found[part]
        return found  # type: ignore[no-any-return]

    def _validator(
        self, operation: Operation, what: str, schema: Mapping[str, Any], *, close: bool
    ) -> jsonschema_rs.Draft202012Validator:
        key = (operation.name, what)
        if key not in self._validators:
            self._validators[key] = validator(schema, self.description["components"]["schemas"], close=close)
        return self._validators[key]


@cache
def rest_oracle() -> RequestOracle:
    """The judge of api.github.com; raises OracleUnavailable where its description can't be had."""
    return RequestOracle(load(REST))


def _fit(template: tuple[str, ...], parts: tuple[str, ...]) -> dict[str, str] | None:
    if template[-1] in _SPANNING and len(parts) > len(template):
        cut = len(template) - 1
        parts = (*parts[:cut], "/".join(parts[cut:]))
    if len(parts) != len(template) or any(parts[at] != literal for at, literal in _literals(template)):
        return None
    found: dict[str, str] = {}
    for wanted, given in zip(template, parts, strict=True):
        names, pattern = _pattern(wanted)
        if names:
            matched = pattern.fullmatch(given)
            if matched is None:
                return None
            found.update(zip(names, matched.groups(), strict=True))
    return found


@cache
def _literals(template: tuple[str, ...]) -> tuple[tuple[int, str], ...]:
    """The parts without a parameter, with their places. Almost every template differs from a path in one of them."""
    return tuple((at, part) for at, part in enumerate(template) if "{" not in part)


@cache
def _pattern(part: str) -> tuple[tuple[str, ...], re.Pattern[str]]:
    """The names of a part's parameters, and what the part must look like."""
    names = tuple(re.findall(r"{([^}]+)}", part))
    return names, re.compile(re.sub(r"\\{[^}]+\\}", "(.+)", re.escape(part)), re.S)


def _typed(value: object, kind: str) -> object:
    """A parameter as its schema wants it; what can't be so read stays text and is complained of."""
    if not isinstance(value, str):
        return value
    if kind == "integer" and re.fullmatch(r"-?\d{1,18}", value):
        return int(value)
    if kind == "boolean" and value in ("true", "false"):
        return value == "true"
    return value.split(",") if kind == "array" else value


def _plain_error(status: int, body: object) -> list[str]:
    if status == 304:
        return []
    told = isinstance(body, Mapping) and isinstance(body.get("message"), str)
    return [] if told else [f"a {status} of GitHub's is an object with a message"]


def _markdown(body: Any) -> list[str]:
    text = body.get("body") if isinstance(body, Mapping) else None
    if isinstance(text, str) and len(text) > _MARKDOWN_CHARACTERS:
        return [f"body.body: {len(text)} characters; GitHub takes {_MARKDOWN_CHARACTERS}"]
    return []


def _comment(body: Any) -> list[str]:
    blank = isinstance(body, Mapping) and isinstance(body.get("body"), str) and not body["body"].strip()
    return ["body.body: GitHub refuses a blank comment"] if blank else _markdown(body)


def _pull(body: Any) -> list[str]:
    named = isinstance(body, Mapping) and ("title" in body or "issue" in body)
    return _markdown(body) if named else ["body.title: needed unless an issue is named"]


def _labels(body: Any) -> list[str]:
    labels = body.get("labels") if isinstance(body, Mapping) else None
    if not isinstance(labels, list) or not all(isinstance(label, str) for label in labels):
        return ['body: labels go as {"labels": ["…"]}']
    return [f"body.labels: {label!r} has over 50 characters" for label in labels if len(label) > 50]


def _check_run(body: Any) -> list[str]:
    if not isinstance(body, Mapping):
        return []
    found = []
    if body.get("status") == "completed" and "conclusion" not in body:
        found.append("body.conclusion: needed by a completed check run")
    if "conclusion" in body and body.get("status", "completed") != "completed":
        found.append("body.status: a conclusion makes the check run completed")
    if body.get("conclusion") == "stale":
        found.append("body.conclusion: only GitHub sets stale")
    if len(body.get("actions") or ()) > 3:
        found.append("body.actions: at most 3")
    output = body.get("output")
    if not isinstance(output, Mapping):
        return found
    for part in ("summary", "text"):
        size = len(str(output.get(part) or "").encode())
        if size > _CHECK_BYTES:
            found.append(f"body.output.{part}: {size} bytes; GitHub takes {_CHECK_BYTES}")
    annotations = output.get("annotations")
    for index, annotation in enumerate(annotations if isinstance(annotations, list) else ()):
        if isinstance(annotation, Mapping):
            found += [f"body.output.annotations.{index}: {fault}" for fault in _annotation(annotation)]
    return found


def _annotation(annotation: Mapping[str, Any]) -> list[str]:
    found = []
    start, end = annotation.get("start_line"), annotation.get("end_line")
    if isinstance(start, int) and isinstance(end, int):
        if not 1 <= start <= end:
            found.append(f"lines {start} to {end} are no range from 1")
        if start != end and ("start_column" in annotation or "end_column" in annotation):
            found.append("columns are for a single line")
    path = annotation.get("path")
    if isinstance(path, str) and (not path or path.startswith("/") or ".." in path.split("/")):
        found.append(f"{path!r} is no path in the repository")
    for part in ("message", "raw_details"):
        if len(str(annotation.get(part) or "").encode()) > _MESSAGE_BYTES:
            found.append(f"{part} is over 64 KB")
    if len(str(annotation.get("title") or "")) > 255:
        found.append("title is over 255 characters")
    return found


_BEYOND_THE_DESCRIPTION: tuple[tuple[re.Pattern[str], Callable[[Any], list[str]]], ...] = (
    (re.compile(r"(POST|PATCH) /repos/{owner}/{repo}/check-runs(/{check_run_id})?"), _check_run),
    (re.compile(r"(POST|PUT) /repos/{owner}/{repo}/issues/{issue_number}/labels"), _labels),
    (re.compile(r"POST /repos/{owner}/{repo}/issues/{issue_number}/comments"), _comment),
    (re.compile(r"PATCH /repos/{owner}/{repo}/issues/comments/{comment_id}"), _comment),
    (re.compile(r"(POST|PATCH) /repos/{owner}/{repo}/issues(/{issue_number})?"), _markdown),
    (re.compile(r"POST /repos/{owner}/{repo}/pulls"), _pull),
    (re.compile(r"PATCH /repos/{owner}/{repo}/pulls/{pull_number}"), _markdown),
)
