"""Describes the parts of a YAML text for messages: a value as it was written, and a mistake that PyYAML reports. Every
text from the file becomes one short line without invisible characters."""

from __future__ import annotations

import re

import yaml
from yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from bot.model.reasons import Reason, make_reason, quoted

MAX_SHOWN = 60


def brief(text: str) -> str:
    """The text in at most 60 characters, with an escape for each character that does not print and `…` where cut."""
    escaped = repr(text[: MAX_SHOWN + 1])[1:-1]
    return escaped if len(escaped) <= MAX_SHOWN else escaped[: MAX_SHOWN - 1] + "…"


def in_quotes(text: str) -> str:
    """The brief text in quotes, as messages show a value."""
    return f"'{brief(text)}'"


TAG = "tag:yaml.org,2002:"
_NUMBER = re.compile(r"[-+]?[0-9][0-9_]*(?:\.[0-9_]*)?")
_ANOTHER_BASE = re.compile(r"[-+]?(?:0[0-7_]+|[0-9][0-9_]*(?::[0-5]?[0-9])+(?:\.[0-9_]*)?)")
"""Numbers of YAML 1.1 that nobody means any more, and YAML 1.2 reads otherwise: 010 is eight, 1:30 is ninety."""

_BOOLS = yaml.SafeLoader.bool_values


def describe_node(node: Node) -> Reason:
    """The value as it was written, with the value that YAML reads instead where the two differ unexpectedly."""
    if isinstance(node, MappingNode | SequenceNode):
        kind = "mapping" if isinstance(node, MappingNode) else "list"
        plain = node.tag in (f"{TAG}map", f"{TAG}seq")
        if plain:
            return make_reason(f"config.{kind}")
        return make_reason(f"config.{kind}.tagged", tag=brief(_as_written(node.tag)))
    kind = node.tag.removeprefix(TAG)
    if is_null(node):
        return make_reason("config.nothing")
    if kind.startswith("!"):
        return make_reason("config.taken_for_tag", value=brief(f"{kind} {node.value}".strip()))
    if kind == "bool" and node.value.lower() in ("yes", "no", "on", "off"):
        return _taken_for(node, str(_BOOLS[node.value.lower()]).lower())
    if is_another_base(node):
        return _taken_for(node, brief(f"{yaml.SafeLoader('').construct_object(node):g}"))
    return quoted(in_quotes(node.value) if kind == "str" else brief(node.value))


def _taken_for(node: Node, meaning: str) -> Reason:
    return make_reason("config.taken_for", value=brief(node.value), meaning=meaning)


def _as_written(tag: str) -> str:
    return f"!!{tag.removeprefix(TAG)}" if tag.startswith(TAG) else tag


def is_null(node: Node) -> bool:
    return isinstance(node, ScalarNode) and node.tag == f"{TAG}null"


def is_text(node: Node) -> bool:
    return isinstance(node, ScalarNode) and node.tag == f"{TAG}str"


def is_plain(node: Node) -> bool:
    """Whether it is a word without quotes that YAML takes for something else than text, such as 5 or off."""
    return isinstance(node, ScalarNode) and not node.style and not is_text(node) and not is_null(node)


def is_another_base(node: Node) -> bool:
    kind = node.tag.removeprefix(TAG)
    return kind in ("int", "float") and len(node.value) < 30 and _ANOTHER_BASE.fullmatch(node.value) is not None


def is_quoted_number(node: Node) -> bool:
    return isinstance(node, ScalarNode) and node.style in ("'", '"') and _NUMBER.fullmatch(node.value) is not None


def is_quoted_truth(node: Node) -> bool:
    return isinstance(node, ScalarNode) and node.style in ("'", '"') and node.value in ("true", "false")


_MISTAKES = (
    ("'\\t'", "yaml.tab"),
    ("another document", "yaml.second_document"),
    ("mapping values are not allowed", "yaml.colon"),
    ("expected <block end>, but found '<scalar>'", "yaml.early_quote"),
    ("expected <block end>", "yaml.indentation"),
    ("could not find expected ':'", "yaml.no_colon"),
    ("unexpected end of stream", "yaml.open_quote"),
    ("expected ',' or", "yaml.open_bracket"),
    ("expected alphabetic or numeric", "yaml.star"),
    ("undefined alias", "yaml.no_anchor"),
    ("cannot start any token", "yaml.reserved"),
    ("expected ' ', but found", "yaml.exclamation"),
    ("unknown escape character", "yaml.escape"),
)
"""Parts of PyYAML's messages, each with the reason that explains the mistake that people make there."""


def yaml_mistake(error: yaml.MarkedYAMLError) -> Reason:
    """The reason for PyYAML's error: one that explains it, or else PyYAML's own words."""
    problem = str(error.problem or error.context or "")
    kind = next((kind for part, kind in _MISTAKES if part in problem), None)
    return make_reason("yaml.invalid", mistake=quoted(brief(problem)) if kind is None else make_reason(kind))
