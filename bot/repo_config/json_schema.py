"""The published JSON Schema of `.github/mendbot.yml`, and its parts for single keys. Messages about a wrong value and
docs/configuration.md are made from it, so that the three never differ."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any

from bot.model.reasons import Reason, listed, make_reason, quoted
from bot.repo_config.configuration_keys import POLICY_PATH, Policy

Schema = Mapping[str, Any]
_DRAFT = "https://json-schema.org/draft/2020-12/schema"


@cache
def policy_schema() -> Schema:
    """The schema, draft 2020-12; a fresh one would be equal, so do not change it."""
    about = "How Mendbot works in this repository; read from the default branch alone. Every key is optional."
    schema = _plain(Policy.model_json_schema())
    return {"$schema": _DRAFT, **schema, "title": f"Mendbot: {POLICY_PATH}", "description": about}


def _plain(schema: Any, *, names: bool = False) -> Any:
    """The schema without titles, which repeat the keys, and without the defaults of whole sections."""
    if isinstance(schema, list):
        return [_plain(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    noise = () if names else ("title", "default") if "$ref" in schema else ("title",)
    inner = ("properties", "$defs")
    return {key: _plain(value, names=key in inner) for key, value in schema.items() if key not in noise}


def alternatives(schema: Schema) -> tuple[Schema, ...]:
    """The kinds of value that are allowed, without null: one, or several where a key takes text or a list."""
    if "$ref" in schema:
        return (policy_schema()["$defs"][schema["$ref"].rpartition("/")[2]],)
    kinds = [kind for option in schema.get("anyOf", ()) for kind in alternatives(option)]
    return tuple(kind for kind in kinds or [schema] if kind.get("type") != "null")


def schema_of(schema: Schema, part: str | int) -> Schema | None:
    """The schema of a key of the mapping or of an item of the list; None where there is none."""
    for kind in alternatives(schema):
        if isinstance(part, int) and "items" in kind:
            return dict(kind["items"])
        if isinstance(part, str) and part in kind.get("properties", {}):
            return dict(kind["properties"][part])
        if isinstance(part, str) and isinstance(kind.get("additionalProperties"), Mapping):
            return dict(kind["additionalProperties"])
    return None


def keys_of(schema: Schema) -> tuple[str, ...]:
    """The keys of a section, in the order of the documentation; none for anything else."""
    return tuple(key for kind in alternatives(schema) for key in kind.get("properties", {}))


def sections() -> Iterator[tuple[tuple[str, ...], Schema]]:
    """Each section of the file with its path, the file itself first."""

    def walk(path: tuple[str, ...], schema: Schema) -> Iterator[tuple[tuple[str, ...], Schema]]:
        yield path, schema
        for key in keys_of(schema):
            inner = schema_of(schema, key)
            if inner is not None and keys_of(inner):
                yield from walk((*path, key), inner)

    return walk((), policy_schema())


def describe_schema(schema: Schema) -> Reason:
    """The values that are allowed: `a whole number from 1 to 50`."""
    return any_of([value for kind in alternatives(schema) for value in _describe(kind)])


def any_of(items: Sequence[Reason]) -> Reason:
    """`a`, `a or b`, `a, b or c`; each once."""
    *others, last = dict.fromkeys(items)
    if not others:
        return last
    return make_reason("config.or", first=listed(others), last=last)


def _describe(kind: Schema) -> Sequence[Reason]:
    if "enum" in kind:
        return [quoted(value) for value in kind["enum"]]
    match kind.get("type"):
        case "integer":
            return [make_reason("config.whole_number", **_bounds(kind))]
        case "number" if "exclusiveMinimum" in kind:
            above = f"{kind['exclusiveMinimum']:g}"
            return [make_reason("config.number_above", above=above, high=f"{kind['maximum']:g}")]
        case "number":
            return [make_reason("config.number", **_bounds(kind))]
        case "boolean":
            return [quoted("true"), quoted("false")]
        case "array":
            return [make_reason("config.list")]
        case "object":
            return [make_reason("config.key_values")]
        case _:
            return [make_reason("config.text")]


def _bounds(kind: Schema) -> dict[str, str]:
    return {"low": f"{kind['minimum']:.0f}", "high": f"{kind['maximum']:.0f}"}
