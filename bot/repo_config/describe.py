"""What stands in a YAML text, in plain words: a value as it was written, and what PyYAML calls a mistake. Texts of
anybody's are made fit for a sentence: one line, nothing invisible, and short."""

from __future__ import annotations

import re

import yaml
from yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

MAX_SHOWN = 60


def brief(text: str) -> str:
    """The text in at most 60 characters, what does not print as an escape, its end marked where it was cut."""
    escaped = repr(text[: MAX_SHOWN + 1])[1:-1]
    return escaped if len(escaped) <= MAX_SHOWN else escaped[: MAX_SHOWN - 1] + "…"


def shown(text: str) -> str:
    """The same in quotes, as a value is shown."""
    return f"'{brief(text)}'"


TAG = "tag:yaml.org,2002:"
_NUMBER = re.compile(r"[-+]?[0-9][0-9_]*(?:\.[0-9_]*)?")
_ANOTHER_BASE = re.compile(r"[-+]?(?:0[0-7_]+|[0-9][0-9_]*(?::[0-5]?[0-9])+(?:\.[0-9_]*)?)")
"""Numbers of YAML 1.1 that nobody means any more, and YAML 1.2 reads otherwise: 010 is eight, 1:30 is ninety."""

_BOOLS = yaml.SafeLoader.bool_values


def got(node: Node) -> str:
    """What stands there, for a sentence; and what YAML makes of it where that surprises."""
    if isinstance(node, MappingNode | SequenceNode):
        kind = "a mapping" if isinstance(node, MappingNode) else "a list"
        plain = node.tag in (f"{TAG}map", f"{TAG}seq")
        return kind if plain else f"{kind} with the tag {brief(_as_written(node.tag))}"
    kind = node.tag.removeprefix(TAG)
    if is_null(node):
        return "nothing"
    if kind.startswith("!"):
        return f"{brief(f'{kind} {node.value}'.strip())}, which YAML takes for a tag"
    if kind == "bool" and node.value.lower() in ("yes", "no", "on", "off"):
        return f"{brief(node.value)}, which YAML takes for {str(_BOOLS[node.value.lower()]).lower()}"
    if is_another_base(node):
        value = yaml.SafeLoader("").construct_object(node)
        return f"{brief(node.value)}, which YAML takes for {brief(f'{value:g}')}"
    return shown(node.value) if kind == "str" else brief(node.value)


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


_IN_PLAIN_WORDS = (
    ("'\\t'", "a tab stands where YAML wants spaces"),
    ("another document", "a second document begins: keep what stands before its `---`"),
    (
        "mapping values are not allowed",
        "a `:` stands where no key can be: put the text in quotes or fix its indentation",
    ),
    (
        "expected <block end>, but found '<scalar>'",
        "a quote ends too early, or the indentation does not fit the lines above",
    ),
    ("expected <block end>", "the indentation does not fit the lines above"),
    ("could not find expected ':'", "a key stands without its `:`"),
    ("unexpected end of stream", "a quote is not closed"),
    ("expected ',' or", "a bracket is not closed, a comma is missing, or a text that begins with `!` needs quotes"),
    ("expected alphabetic or numeric", "a text that begins with `*` or `&` needs quotes"),
    ("undefined alias", "an alias (`*name`) stands for what no `&name` above it names: put it in quotes if it is text"),
    ("cannot start any token", "a text that begins with `%`, `@` or a backtick needs quotes"),
    ("expected ' ', but found", "a text that begins with `!` needs quotes"),
    ("unknown escape character", "a `\\` in double quotes begins an escape: write it twice, or use single quotes"),
)
"""What PyYAML calls the mistakes that people make, and what that means."""


def in_plain_words(error: yaml.MarkedYAMLError) -> str:
    problem = str(error.problem or error.context or "")
    return "not valid YAML: " + next((meaning for part, meaning in _IN_PLAIN_WORDS if part in problem), brief(problem))
