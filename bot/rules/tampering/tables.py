"""Finds the tables that give a test its cases: rows of `parametrize`, of `each`, of a loop, of a list that one of them
names, of a function that provides data."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

from bot.rules.tampering.languages import ARRAYS, Language
from bot.rules.tampering.scopes import Scopes

if TYPE_CHECKING:
    from tree_sitter import Node

_AROUND = frozenset(
    ("as_expression", "satisfies_expression", "reference_expression", "parenthesized_expression", "expression_list")
)
_WORD = re.compile(r"[A-Za-z_]\w*")
_NAME = re.compile(
    r"(?:(?:enumerate|sorted|list|tuple|Object\.\w+)\s*\(\s*)?\$?([A-Za-z_]\w*)(?:\.(?:items|values|entries|iter)\(\))?\)?$"
)
"""A table by its name, or its items."""
_MAX_WORDS = 200
"""The limit of characters that are searched for the names of tables."""
_KEYWORDS = ("params", "argvalues")
_ITERATING = re.compile(r"\.(?:forEach|each|each_with_index|map)$")


class Tables:
    """Collects the rows of one file while its nodes are passed in."""

    def __init__(self, language: Language, text: Callable[[Node], str], scopes: Scopes) -> None:
        self._language = language
        self._text = text
        self._scopes = scopes
        self._rows: list[str] = []
        self._named: list[tuple[str, int, Sequence[str]]] = []
        self._uses: set[tuple[str, int]] = set()
        """Names that are gone through, with the number of every scope where the name may be defined."""

    def rows(self) -> tuple[str, ...]:
        """The rows of every table that a test goes through, white space evened out."""
        named = [row for name, scope, rows in self._named if (name, scope) in self._uses for row in rows]
        return tuple(" ".join(row.split()).rstrip(",") for row in (*self._rows, *named) if row.strip())

    def add_call(self, node: Node, callee: str, args: Node | None) -> None:
        """A call, which may give a test its table, go through one, or make one in a function."""
        if _ITERATING.search(callee):
            target = node.child_by_field_name("receiver") or node.child_by_field_name("function")
            self._used(_inner(target.child(0) if target is not None and target.type == "member_expression" else target))
        if args is None or not self._language.table_call.search(callee):
            return
        given = [args] if args.type == "template_string" else args.named_children
        if callee.endswith(("of", "asList")):
            self._named.append((self._scopes.now.function, 0, [self._text(one) for one in given]))
            return
        for at, one in enumerate(given):
            if one.type == "keyword_argument":
                name = one.child_by_field_name("name")
                value = one.child_by_field_name("value")
                if name is not None and self._text(name) in _KEYWORDS:
                    self._used(_inner(value))
            elif at or not callee.endswith("parametrize"):
                self._used(_inner(one))

    def add_loop(self, node: Node) -> None:
        """A loop over a list, or over what a name stands for."""
        fields = (node.child_by_field_name(name) for name in ("right", "value"))
        self._used(_inner(next((one for one in fields if one is not None), node.named_child(0))))

    def add_named(self, name: str, value: Node | None) -> None:
        """A list under a name, which counts where something in the same scope goes through that name."""
        self._add_list(name, self._scopes.now.within[-1], value)

    def add_returned(self, value: Node | None) -> None:
        """A list that the function around returns, which counts where something goes through the function's name."""
        self._add_list(self._scopes.now.function, 0, value)

    def _add_list(self, name: str, scope: int, value: Node | None) -> None:
        inner = _inner(value)
        if inner is not None and inner.type in ARRAYS:
            self._named.append((name, scope, self._elements(inner)))

    def add_mark(self, node: Node, text: str) -> None:
        """A decorator, attribute or annotation: a row, a list of them, or the name of what provides them."""
        if self._language.table_mark.search(text):
            self._rows.append(text)
        self._use(*_words(text))
        arguments = node.child_by_field_name("arguments")
        for one in arguments.named_children if arguments is not None and node.type == "annotation" else ():
            value = one.child_by_field_name("value") or one
            if value.type in ARRAYS:
                self._rows += self._elements(value)
            elif self._text(value).startswith('"""'):
                self._rows += self._text(value).strip('"').split("\n")

    def _used(self, node: Node | None) -> None:
        if node is None:
            return
        if node.type in ARRAYS:
            self._rows += self._elements(node)
        elif node.type == "template_string":
            self._rows += self._text(node).strip("`").split("\n")[1:]
        elif named := _NAME.match(self._text(node)):
            self._use(named[1])

    def _use(self, *names: str) -> None:
        self._uses.update((name, scope) for name in names for scope in self._scopes.now.within)

    def _elements(self, node: Node) -> list[str]:
        return [self._text(one) for one in node.named_children if one.type != "comment"]


def _inner(node: Node | None) -> Node | None:
    """The list itself, without what stands around it."""
    for _ in range(5):
        if node is None:
            break
        if node.type == "composite_literal":
            node = node.child_by_field_name("body")
        elif node.type in _AROUND:
            node = node.named_child(0)
    return node


def _words(text: str) -> Iterable[str]:
    return _WORD.findall(text[:_MAX_WORDS])
