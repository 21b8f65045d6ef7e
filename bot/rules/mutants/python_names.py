"""Which assignments of Python define a name. Without one of these, the next use of the name fails, which shows little
about the checks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from bot.rules.mutants.edits import names_in, text_of

if TYPE_CHECKING:
    from tree_sitter import Node

_MAKERS = frozenset({"__init__", "__new__", "__post_init__", "__init_subclass__", "__set_name__", "__enter__"})


def defines_a_name(assignment: Node) -> bool:
    """Whether a name may have no value without the assignment: nothing that surely runs before it gives one. An
    annotation without a value counts too, and an attribute that a constructor sets first."""
    if assignment.child_by_field_name("right") is None:
        return True
    return any(_is_first(target, assignment) for target in _targets(assignment))


def _targets(assignment: Node) -> Iterator[Node]:
    """The names and attributes that are assigned, also those of `a = b = …` and `a, b = …`."""
    left, right = (assignment.child_by_field_name(field) for field in ("left", "right"))
    waiting = [left] if left is not None else []
    while waiting:
        target = waiting.pop()
        if target.type in ("identifier", "attribute"):
            yield target
        elif target.type != "subscript":
            waiting += target.named_children
    if right is not None and right.type == "assignment":
        yield from _targets(right)


def _is_first(target: Node, assignment: Node) -> bool:
    name, node = text_of(target), assignment
    while (above := node.parent) is not None:
        for sibling in above.named_children:
            if sibling.start_byte < node.start_byte and _binds(sibling, name):
                return False
        if above.type == "function_definition":
            if target.type == "attribute":
                return text_of(above.child_by_field_name("name")) in _MAKERS
            return name not in names_in(above.child_by_field_name("parameters"))
        if above.type == "for_statement" and name in names_in(above.child_by_field_name("left")):
            return False
        if above.type == "class_definition":
            return True
        node = above
    return target.type == "identifier"


def _binds(statement: Node, name: str) -> bool:
    """Whether the statement, which runs before, gives the name a value or names it as one of an outer scope."""
    if statement.type in ("global_statement", "nonlocal_statement", "import_statement", "import_from_statement"):
        return name in names_in(statement)
    if statement.type in ("function_definition", "class_definition"):
        return name == text_of(statement.child_by_field_name("name"))
    if statement.type != "expression_statement" or not statement.named_children:
        return False
    first = statement.named_children[0]
    has_value = first.type == "assignment" and first.child_by_field_name("right") is not None
    return has_value and any(text_of(target) == name for target in _targets(first))
