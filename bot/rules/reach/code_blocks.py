"""Finds the blocks of code that a change alters: the bodies of functions, and the file outside of them.

A block is what runs or does not run as a whole, as far as this evidence goes. Single lines would not do: an assignment
that never runs can make a name local for its whole function, and a deleted line is in no file any more."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from typing import TYPE_CHECKING

from bot.rules.syntax import OverLimit, grammar_of, parse

if TYPE_CHECKING:
    from tree_sitter import Node

LANGUAGES = {"python": "python", "javascript": "javascript", "typescript": "javascript", "tsx": "javascript"}
"""The grammars whose blocks are known, each with the language by which they are measured."""

_FUNCTIONS = frozenset(
    (
        *("function_definition", "function_declaration", "function_expression", "arrow_function", "method_definition"),
        *("generator_function", "generator_function_declaration"),
    )
)
_COMMENTS = frozenset({"comment", "html_comment"})


@dataclass(frozen=True, slots=True)
class Block:
    """The body of a function, or a file outside of its functions, whose `name` is "".

    `first_line` to `line` are the lines of its head, from the first decorator. `offset` is where the body begins, in
    units of UTF-16 as V8 counts them. `digest` is equal for the same code."""

    name: str
    first_line: int
    line: int
    offset: int
    digest: str

    @property
    def is_file(self) -> bool:
        return not self.name


def language_of(path: str) -> str:
    """The language by which a file is measured: `python`, `javascript`, or "" for any other file."""
    return LANGUAGES.get(grammar_of(path), "")


def changed_blocks(path: str, before: str | None, after: str) -> tuple[Block, ...] | None:
    """The blocks of the text after the change that the change alters; all of them where there was no file.

    None where a text cannot be parsed. White space and comments are no change. A block that the change deletes alters
    the block around it."""
    new = _blocks(path, after)
    old = _blocks(path, before) if before is not None else ()
    if new is None or old is None:
        return None
    known = Counter((block.name, block.digest) for block in old)
    changed = []
    for block in new:
        if known[block.name, block.digest] > 0:
            known[block.name, block.digest] -= 1
        else:
            changed.append(block)
    return tuple(changed)


@dataclass(slots=True)
class _Draft:
    """A block while its tree is read. `outer` is the block around it."""

    name: str
    first_line: int
    line: int
    start: int
    outer: _Draft | None
    code: list[bytes] = field(default_factory=list)


def _blocks(path: str, text: str) -> tuple[Block, ...] | None:
    source = text.encode("utf-8", "replace")
    try:
        tree = parse(grammar_of(path), source)
    except OverLimit:
        return None
    if tree.root_node.has_error:
        return None
    drafts = _read(tree.root_node)
    offsets = _utf16_offsets(source, [draft.start for draft in drafts])
    return tuple(
        Block(draft.name, draft.first_line, draft.line, offset, sha256(b"\0".join(draft.code)).hexdigest())
        for draft, offset in zip(drafts, offsets, strict=True)
    )


def _read(root: Node) -> list[_Draft]:
    """One pass over the nodes, without recursion, so that no nesting is too deep."""
    whole = _Draft("", 1, 1, 0, None)
    drafts = [whole]
    waiting: list[tuple[Node | None, _Draft]] = [(root, whole)]
    while waiting:
        node, draft = waiting.pop()
        if node is None:
            draft.code.append(b")")
            continue
        if node.type in _COMMENTS:
            continue
        draft.code.append(node.type.encode())
        children = node.children
        if not children:
            draft.code.append(node.text or b"")
            continue
        waiting.append((None, draft))
        body = node.child_by_field_name("body") if node.type in _FUNCTIONS else None
        documents = _docstring(node, draft)
        for child in reversed(children):
            if body is not None and child.id == body.id:
                drafts.append(_begun(node, body, draft))
                waiting.append((child, drafts[-1]))
            elif documents is not None and child.id == documents.id and draft.outer is not None:
                # the text is stored where the function is defined, not where it runs
                waiting.append((child, draft.outer))
            else:
                waiting.append((child, draft))
    return drafts


def _begun(function: Node, body: Node, outer: _Draft) -> _Draft:
    name = function.child_by_field_name("name")
    around = function.parent
    head = around if around is not None and around.type == "decorated_definition" else function
    text = (name.text or b"").decode("utf-8", "replace") if name is not None else ""
    return _Draft(text or "<anonymous>", head.start_point[0] + 1, function.start_point[0] + 1, body.start_byte, outer)


def _docstring(body: Node, draft: _Draft) -> Node | None:
    """The statement that documents a function of Python, where this node is its body."""
    if body.type != "block" or body.start_byte != draft.start:
        return None
    first = next((child for child in body.named_children if child.type not in _COMMENTS), None)
    inner = first.named_children if first is not None and first.type == "expression_statement" else ()
    return first if len(inner) == 1 and inner[0].type in ("string", "concatenated_string") else None


def _utf16_offsets(source: bytes, places: Sequence[int]) -> list[int]:
    """The offsets of places in UTF-8, in units of UTF-16."""
    offsets: dict[int, int] = {}
    at = units = 0
    for place in sorted(set(places)):
        units += len(source[at:place].decode("utf-8", "replace").encode("utf-16-le")) // 2
        at = place
        offsets[place] = units
    return [offsets[place] for place in places]
