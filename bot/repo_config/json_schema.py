"""The published JSON Schema of `.github/mendbot.yml`, and its parts for single keys: messages about a wrong value and
docs/configuration.md are made from it, so that the three never differ."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any

from bot.repo_config.policy import POLICY_PATH, Policy

Schema = Mapping[str, Any]
_DRAFT = "https://json-schema.org/draft/2020-12/schema"


@cache
def policy_schema() -> Schema:
    """The schema, draft 2020-12; a fresh one would be equal, so do not change it."""
    about = "How Mendbot works in this repository; read from the default branch alone. Every key is optional."
    schema = _plain(Policy.model_json_schema())
    return {"$schema": _DRAFT, **schema, "title": f"Mendbot: {POLICY_PATH}", "description": about}


def _plain(schema: Any, *, names: bool = False) -> Any:
    """Without what helps nobody: titles made of the keys' names, and the defaults of whole sections."""
    if isinstance(schema, list):
        return [_plain(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    noise = () if names else ("title", "default") if "$ref" in schema else ("title",)
    inner = ("properties", "$defs")
    return {key: _plain(value, names=key in inner) for key, value in schema.items() if key not in noise}


def choices(schema: Schema) -> tuple[Schema, ...]:
    """The kinds of value that there may be, but for null: one, or several where a key takes text or a list."""
    if "$ref" in schema:
        return (policy_schema()["$defs"][schema["$ref"].rpartition("/")[2]],)
    kinds = [kind for option in schema.get("anyOf", ()) for kind in choices(option)]
    return tuple(kind for kind in kinds or [schema] if kind.get("type") != "null")


def below(schema: Schema, part: str | int) -> Schema | None:
    """What a key of the mapping, or an item of the list, may be; None where there is none."""
    for kind in choices(schema):
        if isinstance(part, int) and "items" in kind:
            return dict(kind["items"])
        if isinstance(part, str) and part in kind.get("properties", {}):
            return dict(kind["properties"][part])
        if isinstance(part, str) and isinstance(kind.get("additionalProperties"), Mapping):
            return dict(kind["additionalProperties"])
    return None


def keys_of(schema: Schema) -> tuple[str, ...]:
    """The keys of a section, in the order of the documentation; none for anything else."""
    return tuple(key for kind in choices(schema) for key in kind.get("properties", {}))


def sections() -> Iterator[tuple[tuple[str, ...], Schema]]:
    """Each section of the file with where it stands, the file itself first."""

    def walk(path: tuple[str, ...], schema: Schema) -> Iterator[tuple[tuple[str, ...], Schema]]:
        yield path, schema
        for key in keys_of(schema):
            inner = below(schema, key)
            if inner is not None and keys_of(inner):
                yield from walk((*path, key), inner)

    return walk((), policy_schema())


def phrase(schema: Schema) -> str:
    """What a value must be, in plain words: `a whole number from 1 to 50`."""
    return either([words for kind in choices(schema) for words in _words(kind)])


def either(words: Sequence[str]) -> str:
    """`a`, `a or b`, `a, b or c`; each once."""
    each = list(dict.fromkeys(words))
    return " or ".join([", ".join(each[:-1]), each[-1]] if len(each) > 1 else each)


def _words(kind: Schema) -> Sequence[str]:
    if "enum" in kind:
        return list(kind["enum"])
    match kind.get("type"):
        case "integer":
            return [f"a whole number{_bounds(kind)}"]
        case "number":
            return [f"a number{_bounds(kind)}"]
        case "boolean":
            return ["true", "false"]
        case "array":
            return ["a list"]
        case "object":
            return ["a mapping of keys to values"]
        case _:
            return ["text"]


def _bounds(kind: Schema) -> str:
    if "exclusiveMinimum" in kind:
        return f" above {kind['exclusiveMinimum']:g} and at most {kind['maximum']:g}"
    return f" from {kind['minimum']:.0f} to {kind['maximum']:.0f}"
