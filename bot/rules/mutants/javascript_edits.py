"""Operators for JavaScript and TypeScript: which small faults a node can have, and what is never changed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING

from bot.rules.mutants.edits import (
    Edit,
    ancestors,
    first_value,
    in_message,
    increased,
    is_logging,
    may_loop_forever,
    spaced,
    text_of,
    unwrapped,
)

if TYPE_CHECKING:
    from tree_sitter import Node

_OPPOSITES = {"==": "!=", "!=": "==", "===": "!==", "!==": "==="}
_COMPARISONS = {**_OPPOSITES, "<": "<=", "<=": "<", ">": ">=", ">=": ">"}
_LOGICAL = {"&&": "||", "||": "&&", "??": "&&"}
_ARITHMETIC = {"+": "-", "-": "+", "*": "/", "/": "*", "%": "*", "**": "*"}
_ARITHMETIC |= {"&": "|", "|": "&", "^": "&", "<<": ">>", ">>": "<<", ">>>": "<<"}
_TEXTS = frozenset({"string", "template_string", "array"})
_FUNCTIONS = frozenset({"function_expression", "arrow_function", "class", "generator_function"})
_SKIPPED = frozenset(
    {"comment", "html_comment", "import_statement", "decorator", "regex", "ambient_declaration", "function_signature"}
    | {"interface_declaration", "type_alias_declaration", "type_annotation", "type_arguments", "type_parameters"}
    | {"type_predicate_annotation", "asserts_annotation", "method_signature", "abstract_method_signature"}
    | {"index_signature", "type_query", "import_alias", "empty_statement", "hash_bang_line"}
)
_CONSOLE_OUTPUT = frozenset({"log", "table", "dir"})
_ASSERTIONS = frozenset({"require", "import", "assert", "invariant"})


def children(node: Node) -> list[Node]:
    """The children of the node in which something may be changed."""
    if node.type in _SKIPPED or node.type.endswith("_type") or _is_directive(node):
        return []
    if node.type == "call_expression" and _is_unseen_call(node):
        return []
    if node.type == "template_string" and in_message(node, "constructor"):
        return []
    return node.children


def edits(node: Node) -> Iterator[Edit]:
    """The faults that the node itself can have, without those of its children."""
    operator = _OPERATORS.get(node.type)
    if operator is not None and node.is_named and not _is_directive(node):
        yield from operator(node)


def _is_directive(node: Node) -> bool:
    """Whether it is `"use strict"` or another text that stands alone."""
    value = first_value(node) if node.type == "expression_statement" else None
    return value is not None and value.type == "string"


def _is_unseen_call(call: Node) -> bool:
    """Whether the call writes a log, loads a module, or states what holds anyway."""
    called = call.child_by_field_name("function")
    if called is None:
        return False
    if called.type != "member_expression":
        return text_of(called) in _ASSERTIONS
    receiver = text_of(called.child_by_field_name("object"))
    method = text_of(called.child_by_field_name("property"))
    if receiver == "console":
        return method not in _CONSOLE_OUTPUT
    return is_logging(receiver, method)


def _binary(node: Node) -> Iterator[Edit]:
    operator, left, right = (node.child_by_field_name(field) for field in ("operator", "left", "right"))
    if operator is None:
        return
    sign = operator.type
    if sign in _COMPARISONS:
        yield Edit("comparison", operator, _COMPARISONS[sign])
    elif sign in _LOGICAL:
        # without parentheses, `??` may not stand beside `&&`
        if sign != "??" or not any(_is_nullish(other) for other in (node.parent, left, right)):
            yield Edit("boolean", operator, _LOGICAL[sign])
    elif sign in _ARITHMETIC and not (sign == "+" and (_is_text(left) or _is_text(right))):
        yield Edit("arithmetic", operator, _ARITHMETIC[sign])


def _is_nullish(node: Node | None) -> bool:
    return node is not None and text_of(node.child_by_field_name("operator")) == "??"


def _is_text(node: Node | None) -> bool:
    """Whether the value is a text for sure, where `-` would give no number."""
    bare = unwrapped(node)
    if bare is not None and bare.type == "binary_expression" and text_of(bare.child_by_field_name("operator")) == "+":
        return _is_text(bare.child_by_field_name("left")) or _is_text(bare.child_by_field_name("right"))
    return bare is not None and bare.type in _TEXTS


def _augmented(node: Node) -> Iterator[Edit]:
    operator, right = node.child_by_field_name("operator"), node.child_by_field_name("right")
    if operator is None:
        return
    sign = operator.type.removesuffix("=")
    if sign in _LOGICAL:
        yield Edit("boolean", operator, f"{_LOGICAL[sign]}=")
    elif sign in _ARITHMETIC and not (sign == "+" and _is_text(right)) and not may_loop_forever(node):
        yield Edit("arithmetic", operator, f"{_ARITHMETIC[sign]}=")


def _update(node: Node) -> Iterator[Edit]:
    operator = node.child_by_field_name("operator")
    if operator is not None and not may_loop_forever(node):
        yield Edit("arithmetic", operator, "--" if operator.type == "++" else "++")


def _unary(node: Node) -> Iterator[Edit]:
    operator, argument = node.child_by_field_name("operator"), node.child_by_field_name("argument")
    if operator is None or operator.type not in ("!", "-", "~"):
        return
    wrapper = next((above.type for above in ancestors(node) if above.type != "parenthesized_expression"), "")
    if operator.type != "!":
        yield Edit("arithmetic", node, spaced(node, text_of(argument)))
    elif wrapper not in ("while_statement", "do_statement") and not text_of(argument).startswith("!"):
        yield Edit("boolean", node, spaced(node, text_of(argument)))


def _truth(node: Node) -> Iterator[Edit]:
    yield Edit("boolean", node, "false" if node.type == "true" else "true")


def _number(node: Node) -> Iterator[Edit]:
    after = increased(text_of(node))
    if after is not None and not _is_key(node):
        yield Edit("constant", node, spaced(node, after))


def _text(node: Node) -> Iterator[Edit]:
    above = node.parent
    outside = above is None or above.type == "jsx_attribute" or node == above.child_by_field_name("source")
    if outside or not node.named_children or _is_key(node) or in_message(node, "constructor"):
        return
    yield Edit("constant", node, text_of(node.children[0]) + text_of(node.children[-1]))


def _is_key(node: Node) -> bool:
    """Whether it names a property."""
    above = node.parent
    return above is not None and node in (above.child_by_field_name("key"), above.child_by_field_name("name"))


def _condition(node: Node) -> Iterator[Edit]:
    condition = next((child for child in node.children_by_field_name("condition") if child.is_named), None)
    condition = unwrapped(condition)
    if condition is None or condition.type == "empty_statement":
        return
    if node.type in ("while_statement", "do_statement", "for_statement"):
        yield Edit("boolean", condition, "false")
    elif _is_worth_negating(condition):
        yield Edit("boolean", condition, _negated(condition))


def _negated(value: Node) -> str:
    text = text_of(value)
    return f"!{text}" if value.type == "parenthesized_expression" else f"!({text})"


def _is_worth_negating(condition: Node) -> bool:
    """Whether no other operator has the same effect as a negation."""
    bare = unwrapped(condition)
    if bare is None or bare.type in ("true", "false"):
        return False
    sign = text_of(bare.child_by_field_name("operator"))
    return not (bare.type == "unary_expression" and sign == "!") and sign not in _OPPOSITES


def _return(node: Node) -> Iterator[Edit]:
    value = node.child_by_field_name("body") if node.type == "arrow_function" else first_value(node)
    bare = unwrapped(value)
    if value is None or bare is None or bare.type in ("statement_block", "undefined", "null"):
        return
    if bare.type == "call_expression" and _is_unseen_call(bare):
        return
    if not _is_boolean(bare):
        yield Edit("return", value, "undefined")
    elif _is_worth_negating(bare):
        yield Edit("return", value, _negated(value))


def _is_boolean(value: Node | None) -> bool:
    bare = unwrapped(value)
    if bare is None or bare.type in ("true", "false"):
        return bare is not None
    sign = text_of(bare.child_by_field_name("operator"))
    if bare.type == "binary_expression" and sign in ("&&", "||"):
        return all(_is_boolean(bare.child_by_field_name(side)) for side in ("left", "right"))
    negated = bare.type == "unary_expression" and sign == "!"
    return negated or (bare.type == "binary_expression" and sign in {*_COMPARISONS, "in", "instanceof"})


def _removed(node: Node) -> Iterator[Edit]:
    expression = first_value(node)
    if node.type == "expression_statement":
        if expression is not None and expression.type == "await_expression":
            expression = first_value(expression)
        if expression is None or not _is_removable(expression):
            return
    if node.type == "throw_statement" or not may_loop_forever(node):
        yield Edit("statement", node, ";")


def _is_removable(expression: Node) -> bool:
    """Whether the program still has all of its parts without the expression, as a statement."""
    if expression.type == "call_expression":
        called, arguments = (unwrapped(expression.child_by_field_name(field)) for field in ("function", "arguments"))
        first = first_value(arguments) if arguments is not None else None
        needed = called is None or called.type in {"super", *_FUNCTIONS} or _is_export(first)
        return not needed and not _is_unseen_call(expression)
    if expression.type == "assignment_expression":
        value = unwrapped(expression.child_by_field_name("right"))
        defines = value is not None and value.type in _FUNCTIONS
        return not defines and not _is_first_value(expression.child_by_field_name("left"))
    if expression.type == "unary_expression":
        return text_of(expression.child_by_field_name("operator")) == "delete"
    return expression.type in ("augmented_assignment_expression", "update_expression")


def _is_first_value(target: Node | None) -> bool:
    """Whether it is exported, or a property of the object that a constructor makes."""
    if target is None or not text_of(target).startswith("this."):
        return _is_export(target)
    method = next((above for above in ancestors(target) if above.type == "method_definition"), None)
    return method is not None and text_of(method.child_by_field_name("name")) == "constructor"


def _is_export(node: Node | None) -> bool:
    """Whether it is what a module exports, or a part of that."""
    return text_of(node).startswith(("module.exports", "exports")) and node is not None and node.type != "string"


_OPERATORS: Mapping[str, Callable[[Node], Iterator[Edit]]] = {
    "binary_expression": _binary,
    "augmented_assignment_expression": _augmented,
    "update_expression": _update,
    "unary_expression": _unary,
    "true": _truth,
    "false": _truth,
    "number": _number,
    "string": _text,
    "template_string": _text,
    **dict.fromkeys(
        ("if_statement", "while_statement", "do_statement", "for_statement", "ternary_expression"), _condition
    ),
    "return_statement": _return,
    "arrow_function": _return,
    **dict.fromkeys(("expression_statement", "throw_statement", "continue_statement"), _removed),
}
