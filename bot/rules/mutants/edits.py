"""What the operators of all languages share: an edit of a syntax tree, and questions about places in a tree."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from bot.rules.mutants.mutant import MutantKind

if TYPE_CHECKING:
    from tree_sitter import Node


class Edit(NamedTuple):
    """The node's text is to be replaced by `after`."""

    kind: MutantKind
    node: Node
    after: str


_LOGGERS = re.compile(r"_*(?:\w+_)?(?:log|logger|logging|warnings|get_?logger)_*", re.IGNORECASE)
_LOG_METHODS = frozenset(
    {
        "debug",
        "info",
        "warning",
        "warn",
        "error",
        "exception",
        "critical",
        "fatal",
        "log",
        "trace",
        "verbose",
        "silly",
        "notice",
    }
)
_ERROR_NAMES = re.compile(r"\w*(?:Error|Exception|Warning|Failure)")
_LOOPS = frozenset({"while_statement", "do_statement", "for_statement"})
_SCOPES = frozenset(
    {"function_definition", "lambda", "class_definition", "arrow_function", "function_declaration", "method_definition"}
    | {"function_expression", "generator_function", "generator_function_declaration", "class_declaration", "class"}
)
_ALWAYS = frozenset({"", ";", "True", "true", "1"})


def text_of(node: Node | None) -> str:
    """The node's text; empty where there is no node."""
    return node.text.decode("utf-8", "surrogatepass") if node and node.text else ""


def first_value(node: Node) -> Node | None:
    """The first child that is neither a token nor a comment."""
    return next((child for child in node.named_children if child.type != "comment"), None)


def unwrapped(node: Node | None) -> Node | None:
    """The node without parentheses around it."""
    while node is not None and node.type == "parenthesized_expression":
        node = first_value(node)
    return node


def ancestors(node: Node) -> Iterator[Node]:
    """The nodes around it, from the nearest."""
    above = node.parent
    while above is not None:
        yield above
        above = above.parent


def names_in(node: Node | None) -> set[str]:
    """The identifiers in it, without `self`."""
    names: set[str] = set()
    left = [node] if node else []
    while left:
        current = left.pop()
        if current.type in ("identifier", "property_identifier", "private_property_identifier"):
            names.add(text_of(current))
        left += current.named_children
    return names - {"self"}


def is_logging(receiver: str, method: str) -> bool:
    """Whether a call of the method on this receiver, as written, writes a log."""
    name = re.sub(r"\(.*\)$", "", receiver, flags=re.DOTALL).rpartition(".")[2].lstrip("#")
    return method in _LOG_METHODS and _LOGGERS.fullmatch(name) is not None


def in_message(node: Node, callee: str) -> bool:
    """Whether the text is the message of an error: in a statement that raises one, or in the call that makes one.
    `callee` is the field of a call that names what is called."""
    for above in ancestors(node):
        if above.type in ("raise_statement", "throw_statement"):
            return True
        called = above.child_by_field_name(callee)
        if called is not None and _ERROR_NAMES.fullmatch(text_of(called).rpartition(".")[2]):
            return True
        if above.type.endswith(("_statement", "block", "_declaration")) or above.type in _SCOPES:
            return False
    return False


def may_loop_forever(node: Node) -> bool:
    """Whether a loop's condition may depend on the node, or the loop has none. Without the node's effect the loop
    might never end, and each such mutant would cost the whole time limit of the check."""
    names = names_in(node)
    for above in ancestors(node):
        if above.type in _SCOPES:
            return False
        if above.type in _LOOPS and above.child_by_field_name("right") is None:
            condition = unwrapped(above.child_by_field_name("condition"))
            if text_of(condition) in _ALWAYS or names & names_in(condition):
                return True
    return False


def increased(literal: str) -> str | None:
    """The number plus one, written in decimal; None where that is no other number, or cannot be computed."""
    digits, suffix = (literal[:-1], "n") if literal.endswith("n") else (literal, "")
    digits = digits.replace("_", "").lower()
    try:
        if re.fullmatch(r"0[xob][0-9a-f]+|0|[1-9][0-9]*", digits):
            return f"{int(digits, 0) + 1}{suffix}"
        value = float(digits)
    except ValueError:
        return None
    return None if suffix or digits.isdigit() or value + 1 == value else repr(value + 1)


def spaced(node: Node, after: str) -> str:
    """`after`, with a space before it where it would else join the word that stands before the node."""
    before = node.prev_sibling
    joins = before is not None and before.end_byte == node.start_byte and text_of(before)[-1:].isidentifier()
    return f" {after}" if joins and (after[:1].isidentifier() or after[:1].isdigit()) else after
