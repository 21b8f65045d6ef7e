"""Makes the mutants of changed lines. Every mutant is a text that still parses and differs from all others."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Collection, Iterator
from hashlib import blake2b
from typing import TYPE_CHECKING

from bot.rules.mutants import javascript_edits, python_edits
from bot.rules.mutants.edits import Edit, text_of
from bot.rules.mutants.grammars import Grammar, grammar_of, parse_replaced
from bot.rules.mutants.mutant import KINDS, Mutant, encoded, sample
from bot.rules.syntax import OverLimit, parse
from bot.rules.tampering.test_source import is_test

if TYPE_CHECKING:
    from tree_sitter import Node, Tree

MAX_MUTANTS = 500
"""Of more in one file, an even sample is made: each costs a parse, and nobody can run so many."""
_COMMENTS = ("#", "//", "/*", "*")
_STATEMENTS = ("_statement", "_declaration", "_definition")


def can_mutate(path: str) -> bool:
    """Whether the file is in a language with mutants and is no test. Packed JavaScript (`.min.js`) has none."""
    return grammar_of(path) is not None and not is_test(path) and ".min." not in path


def mutants_of(path: str, text: str, lines: Collection[int]) -> tuple[Mutant, ...]:
    """The mutants of these lines of the file, in order of place; none for a file that cannot be mutated or parsed.

    A fault that spans several lines belongs to the first, or to another that no inner statement covers."""
    grammar, source = grammar_of(path), encoded(text)
    wanted = _lines_of_code(text, lines)
    if grammar is None or not can_mutate(path) or not wanted:
        return ()
    try:
        tree = parse(grammar, source)
    except OverLimit:  # generated, packed or hostile
        return ()
    root = tree.root_node
    if root.has_error:
        return ()
    statements = _inner_statements(root, wanted)
    found = [
        Mutant(path, line, edit.kind, text_of(edit.node), edit.after, edit.node.start_byte, edit.node.end_byte)
        for edit in _edits(grammar, root, wanted)
        if (line := _line_of(edit.node, wanted, statements)) is not None
    ]
    found.sort(key=lambda mutant: (mutant.start, mutant.end, KINDS.index(mutant.kind)))
    seen = {blake2b(source).digest()}
    return tuple(
        mutant
        for mutant in sample(found, MAX_MUTANTS)
        if _is_new(mutant, source, seen) and _is_sound(mutant, grammar, tree, source)
    )


def _lines_of_code(text: str, lines: Collection[int]) -> frozenset[int]:
    starts = [line.lstrip() for line in text.split("\n")]
    return frozenset(
        line
        for line in lines
        if 0 < line <= len(starts) and starts[line - 1] and not starts[line - 1].startswith(_COMMENTS)
    )


def _edits(grammar: Grammar, root: Node, lines: frozenset[int]) -> Iterator[Edit]:
    language = python_edits if grammar == "python" else javascript_edits
    first, last = min(lines), max(lines)
    waiting = [root]
    while waiting:
        node = waiting.pop()
        if _last(node) >= first and _first(node) <= last:
            yield from language.edits(node)
            waiting += language.children(node)


def _inner_statements(root: Node, lines: frozenset[int]) -> dict[int, Node]:
    """The innermost statement of each of the lines, or the whole file."""
    ordered = sorted(lines)
    statements = dict.fromkeys(ordered, root)
    waiting = [root]
    while waiting:
        node = waiting.pop()
        covered = ordered[bisect_left(ordered, _first(node)) : bisect_right(ordered, _last(node))]
        if covered and node.type.endswith(_STATEMENTS):
            statements.update(dict.fromkeys(covered, node))
        if covered:
            waiting += node.named_children
    return statements


def _first(node: Node) -> int:
    return node.start_point.row + 1


def _last(node: Node) -> int:
    return node.end_point.row + 1


def _line_of(node: Node, lines: frozenset[int], statements: dict[int, Node]) -> int | None:
    """The changed line that the fault belongs to; None where the change does not concern it."""
    first = _first(node)
    if first in lines:
        return first
    for line in range(first + 1, _last(node) + 1):
        if line in lines and _is_inside(node, statements[line]):
            return line
    return None


def _is_inside(node: Node, other: Node) -> bool:
    return other.start_byte <= node.start_byte and node.end_byte <= other.end_byte


def _is_sound(mutant: Mutant, grammar: Grammar, tree: Tree, source: bytes) -> bool:
    """Whether the text with the fault parses without an error."""
    span = (mutant.start, mutant.end)
    try:
        return not parse_replaced(grammar, tree, source, span, encoded(mutant.after)).root_node.has_error
    except OverLimit:
        return False


def _is_new(mutant: Mutant, source: bytes, seen: set[bytes]) -> bool:
    """Whether the text with the fault is none of those seen before, which it joins."""
    result = source[: mutant.start] + encoded(mutant.after) + source[mutant.end :]
    digest = blake2b(result).digest()
    if digest in seen:
        return False
    seen.add(digest)
    return True
