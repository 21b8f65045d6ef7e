"""From a schema of GitHub's descriptions to a validator: self-contained with only the components it reaches, and, for
what we send, closed, so that a misspelt member shows. The two descriptions speak OpenAPI 3.0 and 3.1; both come in."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import jsonschema_rs

_REF = "#/components/schemas/"
_NESTED = ("items", "additionalProperties", "not")
_NAMED = ("properties", "patternProperties")
_COMPOSED = ("allOf", "anyOf", "oneOf")
_JUDGING = """type enum const format pattern required minimum maximum exclusiveMinimum exclusiveMaximum multipleOf
minLength maxLength minItems maxItems uniqueItems minProperties maxProperties"""
_KEPT = frozenset(_JUDGING.split())


def validator(
    schema: Mapping[str, Any], components: Mapping[str, Any], *, close: bool
) -> jsonschema_rs.Draft202012Validator:
    """A validator of `schema`, whose references are among `components`. `close` refuses members that no schema names,
    except where the schema says in so many words that they may be."""
    self_contained = _Conversion(components, close).run(schema)
    return jsonschema_rs.Draft202012Validator(self_contained, validate_formats=True, formats={"email": _is_address})


def _is_address(value: str) -> bool:
    # GitHub's own Apps commit as `1+slug[bot]@users.noreply.github.com`, which RFC 5321 would want quoted
    return value.count("@") == 1


def complaints(judge: jsonschema_rs.Draft202012Validator, value: object, where: str) -> list[str]:
    """What is wrong with `value`, one line each, with its place in it."""
    return [_line(error, where) for error in judge.iter_errors(value)]


def _line(error: jsonschema_rs.ValidationError, where: str) -> str:
    place = ".".join([where, *map(str, error.instance_path)])
    return f"{place}: {error.message[:400]}"


class _Conversion:
    """One schema's; `open` variants of components are those that stand in a composition, whose whole is closed."""

    def __init__(self, components: Mapping[str, Any], close: bool) -> None:
        self._components = components
        self._close = close
        self._defs: dict[str, Any] = {}

    def run(self, schema: Mapping[str, Any]) -> dict[str, Any]:
        return {**self._convert(schema, part=False), "$defs": self._defs}

    def _convert(self, schema: Any, *, part: bool) -> dict[str, Any]:
        """`part`: this is one branch of a composition, and only the whole of it may be closed."""
        if "$ref" in schema:
            reference = {"$ref": self._component(schema["$ref"], part=part)}
            return {"anyOf": [reference, {"type": "null"}]} if schema.get("nullable") else reference
        converted: dict[str, Any] = {key: value for key, value in schema.items() if key in _KEPT}
        for key in _NAMED:
            if key in schema:
                converted[key] = {name: self._convert(value, part=False) for name, value in schema[key].items()}
        for key in _NESTED:
            if isinstance(schema.get(key), Mapping):
                converted[key] = self._convert(schema[key], part=False)
            elif key in schema and not (part and self._close):
                converted[key] = schema[key]
        whole = "properties" in schema or "allOf" in schema
        for key in _COMPOSED:
            if key in schema:
                converted[key] = [self._convert(value, part=part or whole) for value in schema[key]]
        if self._close and whole and not part and "additionalProperties" not in schema:
            converted["unevaluatedProperties"] = False
        return _nullable(converted) if schema.get("nullable") else converted

    def _component(self, reference: str, *, part: bool) -> str:
        name = reference.removeprefix(_REF)
        key = f"{name}~part" if part and self._close else name
        if key not in self._defs:
            self._defs[key] = {}  # it may refer to itself
            self._defs[key] = self._convert(self._components[name], part=part and self._close)
        return "#/$defs/" + key.replace("~", "~0")


def _nullable(converted: dict[str, Any]) -> dict[str, Any]:
    if isinstance(converted.get("type"), str) and not any(key in converted for key in _COMPOSED):
        converted["type"] = [converted["type"], "null"]
        if "enum" in converted:
            converted["enum"] = [*converted["enum"], None]
        return converted
    return {"anyOf": [converted, {"type": "null"}]}
