"""Reads a test file by its syntax tree: one pass over the nodes, without recursion, so that no nesting is too deep."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection
from typing import TYPE_CHECKING

from bot.rules.syntax import nodes, parse
from bot.rules.tampering.ignored_findings import ignored
from bot.rules.tampering.languages import ROLES, language_of
from bot.rules.tampering.node_text import can_fail, evened, is_trivial, normal, returns_early
from bot.rules.tampering.readings import Case, Reading
from bot.rules.tampering.scopes import DraftCase, Scopes, Span
from bot.rules.tampering.tables import Tables

if TYPE_CHECKING:
    from tree_sitter import Node

_MAX_CHARS = 300
"""The limit of what is searched of a call or a mark."""
_MAX_NAME = 80
_MAX_LINES = 20_000
"""The limit of what is compared of the lines of a test without assertions, as tests may hold each other."""
_FALSE = re.compile(r"\(?\s*(?:False|false|0|nil)\s*\)?")
_STRINGS = ("string", "template_string", "binary_expression", "interpreted_string_literal", "encapsed_string")
_BLOCKS = ("arrow_function", "function_expression", "func_literal", "anonymous_function", "identifier")
_OPTION = re.compile(r"\b(?:skip|only|todo|focus|pending)\b(?!\s*(?::|=>)\s*(?:false|undefined|nil|null)\b)")
_QUIET = re.compile(
    r"\.catch\(\s*(?:\(\w*\)|\w*)\s*=>\s*(?:\{\s*\}|null|undefined|void 0)\s*\)$"
    r"|^(?:(?:contextlib\.)?suppress\(.*\)|recover\(\)|(?:\w+::)*catch_unwind\(.*\))$",
    re.DOTALL,
)
_OWN = re.compile(r"\$?(?:\w+(?:\.|->|::))?(\w+)\Z")
"""The callee of a function of the file itself, or of a method beside."""
_COMMENT = re.compile(r"//[^\n]*|/\*[^*]*(?:\*(?!/)[^*]*)*\*/")
_FROM_ASSERT = re.compile(r"['\"](?:node:)?assert(?:/strict)?['\"]")
_IMPORTED = re.compile(r"(\w+)(?:\s*(?::|\bas\b)\s*(\w+))?")
_HOOKS = frozenset(("pytest_collection_modifyitems", "pytest_ignore_collect", "pytest_deselected"))
_FLAGS = re.compile(r"(?:__test__\s*=\s*False|collect_ignore\w*\s*=)")
_NO_CODE = frozenset(("php_tag", "package_clause", "pass_statement", "empty_statement"))


def read_tree(grammar: str, source: bytes, helpers: Collection[str] = ()) -> tuple[Reading, bool]:
    """(the reading of a text by its grammar, whether the text is broken). Raises OverLimit.

    `helpers` are functions of other files that assert."""
    if grammar == "rust":
        # what a macro holds has no tree of its own, and these hold tests
        source = re.sub(rb"\b(?:proptest|quickcheck)!(?=\s*\{)", lambda match: b"mod p".ljust(len(match[0])), source)
    return _Reader(grammar, source).read(helpers)


def _has_no_code(node: Node) -> bool:
    inner = node.named_child(0) if node.type == "expression_statement" and node.named_child_count == 1 else None
    return ROLES.get(node.type) == "comment" or node.type in _NO_CODE or (inner is not None and inner.type == "string")


class _Reader:
    def __init__(self, grammar: str, source: bytes) -> None:
        self.grammar, self.language, self.source = grammar, language_of(grammar), source
        self.plain = bytearray(source)
        """The source with blanks for its comments."""
        self.scopes = Scopes(len(source))
        self.tables = Tables(self.language, self.text, self.scopes)
        self.chains: dict[int, int] = {}
        self.borrowed: set[str] = set()
        self.function_names: dict[int, str] = {}
        self.marks: list[str] = []
        self.comments: list[str] = []
        self.lead = (0, 0)
        self.exits = 0

    def read(self, helpers: Collection[str]) -> tuple[Reading, bool]:
        root = parse(self.grammar, self.source).root_node
        visitors = {role: getattr(self, f"_{role}") for role in set(ROLES.values()) - {"loop"}}
        visitors["loop"] = self.tables.add_loop
        for node in nodes(root):
            role = ROLES.get(node.type)
            if role is not None:
                self.scopes.leave(node.start_byte)
                visitors[role](node)
        empty = all(map(_has_no_code, root.named_children))
        return self._reading(empty, helpers), root.has_error

    def text(self, node: Node, limit: int = 2_000) -> str:
        return self._between(node.start_byte, min(node.end_byte, node.start_byte + limit))

    def _between(self, start: int, end: int) -> str:
        return self.plain[start:end].decode(errors="replace")

    def _ends(self, start: int, end: int) -> str:
        """The text of a callee; of a long one its head and its end."""
        if end - start <= 2 * _MAX_NAME:
            return self._between(start, end)
        return self._between(start, start + _MAX_NAME) + self._between(end - _MAX_NAME, end)

    def _reading(self, empty: bool, helpers: Collection[str]) -> Reading:
        self.scopes.add_helper_calls(helpers)
        return Reading(
            cases=tuple(map(self._case, self.scopes.cases, self.scopes.case_skips())),
            loose=self._normal(self.scopes.loose),
            skips=self.scopes.skips,
            ignores=ignored("\n".join(self.comments), "\n".join(self.marks)),
            rows=self.tables.rows(),
            exits=self.exits,
            hidden=self.scopes.hidden,
            calls=Counter(self.scopes.calls_of_cases()),
            empty=empty,
            helpers=frozenset(self.scopes.helpers),
        )

    def _case(self, draft: DraftCase, skips: int) -> Case:
        assertions = self._normal(draft.assertions)
        start, end = draft.body
        lines = () if assertions else evened(self._between(start, min(end, start + _MAX_LINES)))
        return Case(draft.name, lines, assertions, draft.quits, draft.groups, skips)

    def _normal(self, spans: list[Span]) -> tuple[str, ...]:
        return tuple(normal(self._between(start, min(end, start + 8_000))) for start, end in sorted(spans))

    # a method for each role that a node may have

    def _function(self, node: Node) -> None:
        named = node.child_by_field_name("name")
        name = self.text(named) if named is not None else self.function_names.get(node.start_byte, "")
        marks = self._marks_of(node, named.start_byte if named is not None else node.start_byte)
        is_case = named is not None and bool(
            self.language.case_function.match(name) or self.language.case_mark.search(marks)
        )
        if self.grammar == "python":
            # a function within a function is not collected
            is_case = is_case and not self.scopes.now.functions and self.scopes.now.case < 0
            if name in _HOOKS:
                self.scopes.add_skip(node.start_byte)
        if is_case and named is not None:
            if self.language.case_skip.search(marks):
                self.scopes.add_skip(node.start_byte)
            self.scopes.add_case(name, self._lead_of(node)[0], (named.end_byte, node.end_byte), 0)
        else:
            self.scopes.add_function(node.end_byte, name)

    def _marks_of(self, node: Node, until: int) -> str:
        """The decorators, attributes and comments right before a function, and what it has before its name."""
        start, end = self._lead_of(node)
        marks = (self.source[start:end][-4_000:] + self.source[node.start_byte : until]).decode(errors="replace")
        return marks if self.grammar == "php" else _COMMENT.sub("", marks)

    def _lead_of(self, node: Node) -> Span:
        """Where the marks and comments right before a node are."""
        start, end = self.lead
        return (start, end) if not self.source[end : node.start_byte][:_MAX_CHARS].strip() else (node.start_byte,) * 2

    def _class(self, node: Node) -> None:
        named, bases = node.child_by_field_name("name"), node.child_by_field_name("superclasses")
        name = self.text(named) if named is not None else ""
        plain = bases is None or self.text(bases).strip("() ") in ("", "object")
        hidden = self.grammar == "python" and plain and not name.startswith("Test")
        self.scopes.add_group(node.end_byte, name, hidden=hidden)

    def _call(self, node: Node) -> None:
        parts = (node.child_by_field_name(name) for name in ("function", "method", "name", "macro"))
        target = next((one for one in parts if one is not None), None)
        if target is None:
            return
        end = self.chains.setdefault(node.start_byte, node.end_byte)
        args = node.child_by_field_name("arguments")
        callee = self._ends(node.start_byte, target.end_byte)
        self.tables.add_call(node, callee, args)
        whole = self.text(node, _MAX_CHARS)
        name = callee[-_MAX_NAME:]
        if self.language.skip_call.search(name):
            self.scopes.add_skip(node.start_byte)
        if self.language.exits.match(whole) and not self.scopes.now.dead:
            self.exits += 1
        if _QUIET.search(whole):
            self.scopes.add_quit()
        bare = callee == "expect" and end == node.end_byte and self.grammar != "python"
        if (self.language.asserts.search(name) or callee in self.borrowed) and not bare:
            self._asserts(callee, node.start_byte, end)
        own = _OWN.match(callee)
        if own:
            self.scopes.add_call(own[1], (node.start_byte, node.end_byte))
        self._titled(node, callee, args)

    def _titled(self, node: Node, callee: str, args: Node | None) -> None:
        """A call that is a test or a group of tests."""
        is_case = self.language.case_call.match(callee) is not None
        if not is_case and not self.language.group_call.match(callee):
            return
        given = [] if args is None or args.type == "template_string" else args.named_children
        given = [(one.named_child(0) or one) if one.type == "argument" else one for one in given]
        title = self.text(given[0]) if given and given[0].type in _STRINGS else ""
        block = node.child_by_field_name("block") or next((one for one in given if one.type in _BLOCKS), None)
        if self.grammar == "ruby" and block is not None:
            title = title or (self.text(given[0]) if given else normal(self.text(block)))
        needs_block = "." in callee.partition("(")[0].partition(".each")[0] or self.grammar in ("go", "ruby", "php")
        if not title or (needs_block and block is None):
            return
        options = (one for one in given[1:] if one.type in ("object", "pair", "hash", "simple_symbol"))
        if any(_OPTION.search(self.text(one, _MAX_CHARS)) for one in options):
            self.scopes.add_skip(node.start_byte)
        title = title[1:-1] if title[0] in "\"'`" and title[-1] == title[0] else title
        if is_case:
            body = (given[0].end_byte if given else node.start_byte, node.end_byte)
            self.scopes.add_case(title, node.start_byte, body, 1)
        else:
            self.scopes.add_group(node.end_byte, title)

    def _asserts(self, callee: str, start: int, end: int) -> None:
        if can_fail(callee, self._between(start, min(end, start + 2_000)), ("t",) if self.grammar == "go" else ()):
            self.scopes.add_assertion((start, end))

    def _member(self, node: Node) -> None:
        self.chains.setdefault(node.start_byte, node.end_byte)
        text = self.text(node, _MAX_CHARS)
        if self.language.skip_call.search(text):
            self.scopes.add_skip(node.start_byte)
        if ".should." in text and self.chains[node.start_byte] == node.end_byte:
            self._asserts("should", node.start_byte, node.end_byte)

    def _word(self, node: Node) -> None:
        if self.grammar == "ruby" and self.scopes.now.case >= 0 and self.text(node, 10) in ("skip", "pending"):
            self.scopes.add_skip(node.start_byte)

    def _comment(self, node: Node) -> None:
        self._mark(node)
        self.comments.append(self.marks.pop())
        self.plain[node.start_byte : node.end_byte] = re.sub(
            rb"[^\n]", b" ", self.source[node.start_byte : node.end_byte]
        )

    def _mark(self, node: Node) -> None:
        start, end = self.lead
        gap = self.source[end : node.start_byte]
        self.lead = (start if not gap.strip() else node.start_byte, node.end_byte)
        text = self.text(node)
        self.marks.append(text)
        self.tables.add_mark(node, text)
        if self.language.skip_mark.search(text):
            self.scopes.add_skip(node.start_byte)

    def _assert(self, node: Node) -> None:
        self._asserts("assert", node.start_byte, node.end_byte)

    def _return(self, node: Node) -> None:
        around = self.scopes.now
        if around.case >= 0 and around.functions <= self.scopes.cases[around.case].functions:
            if returns_early(self.text(node, 40)):
                self.scopes.add_quit()
        elif around.function and node.named_child_count:
            self.tables.add_returned(node.named_child(0))

    def _handler(self, node: Node) -> None:
        if node.type == "rescue_modifier":
            self.scopes.add_quit()
            return
        block = next((one for one in reversed(node.named_children) if one.type == "block"), None)
        body = node.child_by_field_name("body") or block
        statements = body.named_children if body is not None else []
        if is_trivial(self.text(one) for one in statements if ROLES.get(one.type) != "comment"):
            self.scopes.add_quit()

    def _named(self, node: Node) -> None:
        left, right = (
            next((one for one in map(node.child_by_field_name, names) if one is not None), None)
            for names in (("left", "name", "pattern"), ("right", "value"))
        )
        if left is None:
            return
        name = self.text(left, 100).lstrip("$@")
        if right is not None:
            self.function_names[right.start_byte] = name
            self.tables.add_named(name, right)
        text = self.text(node, _MAX_CHARS)
        if _FLAGS.match(text):
            self.scopes.add_skip(node.start_byte)
        if self.language.exits.match(text):
            self.exits += 1
        if _FROM_ASSERT.search(text):
            self._borrow(text)

    def _if(self, node: Node) -> None:
        condition = node.child_by_field_name("condition")
        dead = node.child_by_field_name("consequence") or node.child_by_field_name("body")
        if condition is not None and dead is not None and _FALSE.fullmatch(self.text(condition, 20)):
            self.scopes.add_dead(dead.end_byte)

    def _import(self, node: Node) -> None:
        text = self.text(node, _MAX_CHARS)
        if _FROM_ASSERT.search(text):
            self._borrow(text)

    def _borrow(self, text: str) -> None:
        """Remembers functions of node's `assert` that are called by their own names."""
        inside = text.partition("{")[2].partition("}")[0]
        self.borrowed.update(other or name for name, other in _IMPORTED.findall(inside))
