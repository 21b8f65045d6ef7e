"""Reads YAML into plain values, with the line of each key and value, so that a problem can be shown at its place.

Reading is quick for every text, and builds no more than was written (T9, T33)."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

import yaml
from yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from bot.model.reasons import Reason, make_reason, quoted
from bot.repo_config.configuration_keys import PolicyProblem
from bot.repo_config.describe import TAG, brief, describe_node, in_quotes, is_another_base, is_null, yaml_mistake

MAX_DEPTH = 12
MAX_ALIASES = 20
MAX_VALUES = 5_000
"""A key or a value counts each time an alias repeats it."""

Path = tuple[str | int, ...]
"""Where a value stands: keys and, from 0, places in lists."""

_BREAK = re.compile(r"\r\n|\n|\r")
_FORBIDDEN = re.compile("[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""Characters that YAML 1.1 (5.1) wants escaped, and lone surrogates."""
_FORBIDDEN_IN_VALUE = re.compile("[\x00\ud800-\udfff]")


class _UnreadableError(Exception):
    """The text as a whole cannot be read, for that reason; `index` is the character where that shows."""

    def __init__(self, reason: Reason, index: int) -> None:
        super().__init__(reason.kind)
        self.reason = reason
        self.index = index


@dataclass(frozen=True, slots=True)
class SourcePosition:
    """A key (None in a list) and its value, as they were written."""

    key: Node | None
    value: Node


@dataclass(frozen=True, slots=True)
class Document:
    """The mapping that a text holds, and where each of its values stands."""

    values: Mapping[str, object]
    places: Mapping[Path, SourcePosition]
    lines: LineIndex
    problems: tuple[PolicyProblem, ...] = ()


@dataclass(frozen=True, slots=True)
class LineIndex:
    """The lines of a text as editors count them: YAML would end them at U+0085 and U+2028 as well."""

    starts: tuple[int, ...]

    @classmethod
    def of(cls, text: str) -> LineIndex:
        ends = [match.end() for match in _BREAK.finditer(text)]
        return cls((0, *(end for end in ends if end < len(text))))

    def at(self, index: int) -> tuple[int, int]:
        """The line and the column of a character, both from 1."""
        line = bisect_right(self.starts, index)
        return line, index - self.starts[line - 1] + 1

    def of_node(self, node: Node | None) -> tuple[int, int]:
        return (1, 1) if node is None else self.at(node.start_mark.index)

    def problem(self, reason: Reason, at: tuple[int, int], path: Path = ()) -> PolicyProblem:
        return PolicyProblem(key=dotted_key(path), reason=reason, line=at[0], column=at[1])


def parse_document(text: str) -> Document | PolicyProblem:
    """The document in a YAML text, or the problem for which it cannot be read at all; it never raises.

    A text without a value is an empty document. A repeated key is among the document's problems."""
    lines = LineIndex.of(text)
    try:
        if (match := _FORBIDDEN.search(text)) is not None:
            reason = make_reason("config.control_character", character=in_quotes(match[0]))
            raise _UnreadableError(reason, match.start())
        loader = _Loader(text)
        root = loader.get_single_node()
        if root is None or is_null(root):
            return Document(MappingProxyType({}), MappingProxyType({}), lines)
        if not isinstance(root, MappingNode):
            reason = make_reason("config.no_mapping", actual=describe_node(root))
            raise _UnreadableError(reason, root.start_mark.index)
        builder = _Builder(loader, lines)
        values = builder.mapping(root, ())
        return Document(values, builder.places, lines, tuple(builder.problems))
    except _UnreadableError as error:
        return lines.problem(error.reason, lines.at(error.index))
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        return lines.problem(yaml_mistake(error), lines.at(mark.index if mark else 0))
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        return PolicyProblem(key="", reason=make_reason("yaml.invalid", mistake=quoted(brief(str(error)))))


_TOO_DEEP = make_reason("config.too_deep", limit=MAX_DEPTH)
_TOO_MANY = make_reason("config.too_many_values", limit=f"{MAX_VALUES:,}")


class _Loader(yaml.SafeLoader):
    """Composes nodes, and stops early at what only an attack nests or repeats so often.

    The loader in Python, not that of libyaml: its marks count characters, and its depth is ours to limit."""

    depth = 0
    repeats = 0
    nodes = 0

    def compose_node(self, parent: Node | None, index: Any) -> Node | None:
        at = self.peek_event().start_mark.index  # type: ignore[no-untyped-call]
        self.repeats += self.check_event(yaml.AliasEvent)
        if self.repeats > MAX_ALIASES:
            raise _UnreadableError(make_reason("config.too_many_aliases", limit=MAX_ALIASES), at)
        self.nodes += 1
        if self.nodes > MAX_VALUES:
            raise _UnreadableError(_TOO_MANY, at)
        if self.depth > MAX_DEPTH:
            raise _UnreadableError(_TOO_DEEP, at)
        self.depth += 1
        node = super().compose_node(parent, index)
        self.depth -= 1
        return node


@dataclass(slots=True)
class _Builder:
    """Makes values of nodes. A date, a set or an object of YAML becomes an `object()`, which no key accepts."""

    loader: _Loader
    lines: LineIndex
    places: dict[Path, SourcePosition] = field(default_factory=dict)
    problems: list[PolicyProblem] = field(default_factory=list)
    values_left: int = MAX_VALUES

    def mapping(self, node: MappingNode, path: Path) -> dict[str, object]:
        values: dict[str, object] = {}
        for name, place in self._entries(node, path).items():
            self.places[(*path, name)] = place
            values[name] = self._value(place.value, (*path, name))
        return values

    def _value(self, node: Node, path: Path) -> object:
        self._count(node, len(path))
        if isinstance(node, MappingNode) and node.tag == f"{TAG}map":
            return self.mapping(node, path)
        if isinstance(node, SequenceNode) and node.tag == f"{TAG}seq":
            items = []
            for index, item in enumerate(node.value):
                self.places[(*path, index)] = SourcePosition(None, item)
                items.append(self._value(item, (*path, index)))
            return items
        if isinstance(node, ScalarNode):
            return self._scalar(node)
        return object()

    def _scalar(self, node: ScalarNode) -> object:
        kind = node.tag.removeprefix(TAG)
        if kind == "str":
            if (match := _FORBIDDEN_IN_VALUE.search(node.value)) is not None:
                reason = make_reason("config.forbidden_character", character=in_quotes(match[0]))
                raise _UnreadableError(reason, node.start_mark.index)
            return node.value
        if kind not in ("null", "bool", "int", "float") or is_another_base(node):
            return object()
        try:
            return self.loader.construct_object(node)
        except (ValueError, LookupError, ArithmeticError):
            return object()  # `!!int three`, or more digits than Python reads

    def _entries(self, node: MappingNode, path: Path) -> dict[str, SourcePosition]:
        """Each key once with its position; the mapping's own keys have precedence over those that `<<` merges in."""
        merged: dict[str, SourcePosition] = {}
        own: dict[str, SourcePosition] = {}
        for key, value in node.value:
            self._count(key, len(path))
            if key.tag == f"{TAG}merge":
                for base in self._bases(value):
                    merged = {**self._entries(base, (*path, "<<")), **merged}
                continue
            if not isinstance(key, ScalarNode):
                reason = make_reason("config.odd_key", actual=describe_node(key))
                raise _UnreadableError(reason, key.start_mark.index)
            if key.value in own:
                self._report_repeated(key, own[key.value], path)
            own[key.value] = SourcePosition(key, value)
        return {**merged, **own}

    def _bases(self, value: Node) -> Iterator[MappingNode]:
        for base in value.value if isinstance(value, SequenceNode) else (value,):
            if not isinstance(base, MappingNode):
                reason = make_reason("config.odd_merge", actual=describe_node(base))
                raise _UnreadableError(reason, value.start_mark.index)
            yield base

    def _report_repeated(self, key: ScalarNode, first: SourcePosition, path: Path) -> None:
        line, _ = self.lines.of_node(first.key)
        reason = make_reason("config.repeated_key", line=line)
        self.problems.append(self.lines.problem(reason, self.lines.of_node(key), (*path, key.value)))

    def _count(self, node: Node, depth: int) -> None:
        """Raises for too many or too deep values: an alias within its own anchor would never end."""
        self.values_left -= 1
        if self.values_left < 0:
            raise _UnreadableError(_TOO_MANY, node.start_mark.index)
        if depth > MAX_DEPTH:
            raise _UnreadableError(_TOO_DEEP, node.start_mark.index)


def dotted_key(path: Path) -> str:
    """The dotted key: `checks.test.command`, `fixers[0]`; a key that is no plain word is quoted and short."""
    text = ""
    for part in path:
        if isinstance(part, int):
            text += f"[{part}]"
        else:
            word = part if re.fullmatch(r"[\w/-]{1,60}", part) else in_quotes(part)
            text += f".{word}" if text else word
    return text
