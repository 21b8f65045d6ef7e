"""Operators for Python: which small faults a node of the syntax tree can have, and what is never changed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING

from bot.rules.mutants.edits import (
    Edit,
    first_value,
    in_message,
    increased,
    is_logging,
    may_loop_forever,
    spaced,
    text_of,
    unwrapped,
)
from bot.rules.mutants.python_names import defines_a_name

if TYPE_CHECKING:
    from tree_sitter import Node

_OPPOSITES = {"==": "!=", "!=": "==", "in": "not in", "not in": "in", "is": "is not", "is not": "is"}
_COMPARISONS = {**_OPPOSITES, "<": "<=", "<=": "<", ">": ">=", ">=": ">"}
_ARITHMETIC = {"+": "-", "-": "+", "*": "/", "/": "*", "//": "%", "%": "//", "**": "*"}
_ARITHMETIC |= {"&": "|", "|": "&", "^": "&", "<<": ">>", ">>": "<<"}
_TEXTS = frozenset({"string", "concatenated_string", "list", "tuple", "list_comprehension"})
_SKIPPED = frozenset(
    {"comment", "import_statement", "import_from_statement", "future_import_statement", "type", "type_parameter"}
    | {"type_alias_statement", "decorator", "assert_statement", "global_statement", "nonlocal_statement"}
    | {"format_specifier", "pass_statement"}
)
_TYPE_MAKERS = frozenset({"TypeVar", "ParamSpec", "TypeVarTuple", "NewType", "namedtuple", "NamedTuple", "cast"})
_TYPE_FORMS = frozenset({"Literal", "Annotated", "Optional", "Union", "Callable", "ClassVar"})
_ENVIRONMENT = ("TYPE_CHECKING", "typing.TYPE_CHECKING", "sys.version_info", "sys.platform", "__name__", "os.name")


def children(node: Node) -> list[Node]:
    """The children of the node in which something may be changed."""
    if node.type == "if_statement" and text_of(node.child_by_field_name("condition")).startswith(_ENVIRONMENT):
        skipped = {"condition"} | ({"consequence"} if "TYPE_CHECKING" in text_of(node.children[1]) else set())
        return [child for at, child in enumerate(node.children) if node.field_name_for_child(at) not in skipped]
    if node.type == "expression_statement":
        return [] if _is_bare_text(node) or _is_special(node.named_children[0]) else node.children
    if node.type in ("string", "concatenated_string") and in_message(node, "function"):
        return []
    if node.type == "subscript" and text_of(node.child_by_field_name("value")).rpartition(".")[2] in _TYPE_FORMS:
        return []
    return [] if node.type in _SKIPPED or (node.type == "call" and _is_unseen_call(node)) else node.children


def edits(node: Node) -> Iterator[Edit]:
    """The faults that the node itself can have, without those of its children."""
    operator = _OPERATORS.get(node.type)
    if operator is not None and node.type not in _SKIPPED:
        yield from operator(node)


def _is_bare_text(statement: Node) -> bool:
    """Whether it is a docstring, or another text that nothing reads."""
    return all(child.type in ("string", "concatenated_string", "comment", "ellipsis") for child in statement.children)


def _is_special(expression: Node) -> bool:
    """Whether it sets or changes `__all__`, `__slots__` or the like."""
    target = expression.child_by_field_name("left") or expression.child_by_field_name("function")
    name = text_of(target).partition(".")[0].strip()
    return name.startswith("__") and name.endswith("__") and name != "__import__"


def _is_unseen_call(call: Node) -> bool:
    """Whether the call writes a log, or names a type for the type checker."""
    called = call.child_by_field_name("function")
    if called is None:
        return False
    receiver, _, name = text_of(called).rpartition(".")
    return name in _TYPE_MAKERS or is_logging(receiver, name)


def _comparison(node: Node) -> Iterator[Edit]:
    for operator in node.children_by_field_name("operators"):
        after = _COMPARISONS.get(operator.type)
        if after is not None:
            yield Edit("comparison", operator, after)


def _boolean(node: Node) -> Iterator[Edit]:
    operator = node.child_by_field_name("operator")
    if operator is not None:
        yield Edit("boolean", operator, "or" if operator.type == "and" else "and")


def _not(node: Node) -> Iterator[Edit]:
    above = node.parent
    if above is None or above.type != "while_statement":
        yield Edit("boolean", node, spaced(node, text_of(node.child_by_field_name("argument"))))


def _truth(node: Node) -> Iterator[Edit]:
    yield Edit("boolean", node, "False" if node.type == "true" else "True")


def _arithmetic(node: Node) -> Iterator[Edit]:
    operator, left, right = (node.child_by_field_name(field) for field in ("operator", "left", "right"))
    while left is not None and left.type == "binary_operator" and text_of(left.child_by_field_name("operator")) == "+":
        left = left.child_by_field_name("left")
    # a text or a list knows no other operator: such a mutant fails wherever it runs
    if operator is None or any(side is not None and side.type in _TEXTS for side in (left, right)):
        return
    sign = operator.type.removesuffix("=")
    if sign in _ARITHMETIC and not (node.type == "augmented_assignment" and may_loop_forever(node)):
        yield Edit("arithmetic", operator, _ARITHMETIC[sign] + operator.type[len(sign) :])


def _sign(node: Node) -> Iterator[Edit]:
    operator = node.child_by_field_name("operator")
    if operator is not None and operator.type in ("-", "~"):
        yield Edit("arithmetic", node, spaced(node, text_of(node.child_by_field_name("argument"))))


def _number(node: Node) -> Iterator[Edit]:
    after = increased(text_of(node))
    if after is not None:
        yield Edit("constant", node, spaced(node, after))


def _text(node: Node) -> Iterator[Edit]:
    above = node.parent
    parts = node.named_children if node.type == "concatenated_string" else [node]
    is_part = above is not None and above.type == "concatenated_string"
    if is_part or all(len(part.named_children) == 2 for part in parts) or in_message(node, "function"):
        return
    opening, closing = parts[0].children[0], parts[0].children[-1]
    yield Edit("constant", node, text_of(opening) + text_of(closing))


def _condition(node: Node) -> Iterator[Edit]:
    values = [child for child in node.named_children if child.type != "comment"]
    at = 1 if node.type == "conditional_expression" else 0
    condition = node.child_by_field_name("condition") or (values[at] if len(values) > at else None)
    if condition is None or text_of(condition).startswith(_ENVIRONMENT):
        return
    if node.type == "while_statement":
        yield Edit("boolean", condition, "False")
    elif _is_worth_negating(condition):
        yield Edit("boolean", condition, _negated(condition))


def _negated(value: Node) -> str:
    text = text_of(value)
    return f"not {text}" if value.type == "parenthesized_expression" else f"not ({text})"


def _is_worth_negating(condition: Node) -> bool:
    """Whether no other operator has the same effect as a negation."""
    bare = unwrapped(condition)
    if bare is None or bare.type in ("not_operator", "true", "false"):
        return False
    operators = bare.children_by_field_name("operators")
    return not (bare.type == "comparison_operator" and len(operators) == 1 and operators[0].type in _OPPOSITES)


def _return(node: Node) -> Iterator[Edit]:
    value = node.child_by_field_name("body") if node.type == "lambda" else first_value(node)
    if value is None or value.type == "none" or (value.type == "call" and _is_unseen_call(value)):
        return
    if not _is_boolean(value):
        yield Edit("return", value, "None")
    elif _is_worth_negating(value):
        yield Edit("return", value, _negated(value))


def _is_boolean(value: Node) -> bool:
    bare = unwrapped(value)
    if bare is not None and bare.type == "boolean_operator":
        sides = (bare.child_by_field_name("left"), bare.child_by_field_name("right"))
        return all(side is not None and _is_boolean(side) for side in sides)
    return bare is not None and bare.type in ("comparison_operator", "not_operator", "true", "false")


def _removed(node: Node) -> Iterator[Edit]:
    expression = first_value(node) or node
    if expression.type == "await":
        expression = first_value(expression) or expression
    removable = node.type != "expression_statement" or expression.type in ("call", "assignment", "augmented_assignment")
    text = text_of(expression)
    needed = (
        (expression.type == "call" and (_is_unseen_call(expression) or text.startswith("super().__init__(")))
        or (expression.type == "assignment" and defines_a_name(expression))
        or _is_special(expression)
        or (node.type == "raise_statement" and "NotImplemented" in text)
        or (node.type != "raise_statement" and may_loop_forever(node))
    )
    if removable and not needed:
        yield Edit("statement", node, "pass")


_OPERATORS: Mapping[str, Callable[[Node], Iterator[Edit]]] = {
    "comparison_operator": _comparison,
    "boolean_operator": _boolean,
    "not_operator": _not,
    "true": _truth,
    "false": _truth,
    "binary_operator": _arithmetic,
    "augmented_assignment": _arithmetic,
    "unary_operator": _sign,
    "integer": _number,
    "float": _number,
    "string": _text,
    "concatenated_string": _text,
    **dict.fromkeys(
        ("if_statement", "elif_clause", "while_statement", "if_clause", "conditional_expression"), _condition
    ),
    "return_statement": _return,
    "lambda": _return,
    **dict.fromkeys(("expression_statement", "delete_statement", "raise_statement", "continue_statement"), _removed),
}
