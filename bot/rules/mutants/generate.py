"""Makes the mutants of changed lines. Every mutant is a text that still parses and differs from all others."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Collection, Iterator, Mapping, Sequence
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

MAX_MUTANTS = 100
"""Of more in one file, an even sample is made: each costs a parse, and nobody can run so many."""
MAX_LINE = 1_000
"""Characters of a line; a longer one is generated or packed, and has no mutants."""
MAX_DEPTH = 200
"""The depth of the syntax tree around a changed line. What looks up and down the tree takes time by its square."""
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
        root = tree.root_node
        if root.has_error:
            return ()
        statements = _inner_statements(root, wanted)
    except OverLimit:  # generated, packed or hostile
        return ()
    found = [
        Mutant(path, line, edit.kind, text_of(edit.node), edit.after, edit.node.start_byte, edit.node.end_byte)
        for edit in _edits(grammar, root, wanted)
        if (line := _line_of(edit.node, statements)) is not None
    ]
    found.sort(key=lambda mutant: (mutant.start, mutant.end, KINDS.index(mutant.kind)))
    seen = {blake2b(source).digest()}
    parts = _Parts(grammar, source, root.children)
    return tuple(
        mutant for mutant in sample(found, MAX_MUTANTS) if _is_new(mutant, source, seen) and parts.parses_with(mutant)
    )


def _lines_of_code(text: str, lines: Collection[int]) -> list[int]:
    """Those of the lines that hold code, in order; of more than can have a mutant each, as many at equal distances."""
    texts = text.split("\n")
    found = [line for line in sorted(lines) if 0 < line <= len(texts) and _is_code(texts[line - 1])]
    return found if len(found) <= MAX_MUTANTS else [found[at * len(found) // MAX_MUTANTS] for at in range(MAX_MUTANTS)]


def _is_code(line: str) -> bool:
    return bool(line.strip()) and len(line) <= MAX_LINE and not line.lstrip().startswith(_COMMENTS)


def _edits(grammar: Grammar, root: Node, lines: Sequence[int]) -> Iterator[Edit]:
    language = python_edits if grammar == "python" else javascript_edits
    waiting = [root]
    while waiting:
        node = waiting.pop()
        if _covered(node, lines):
            yield from language.edits(node)
            waiting += language.children(node)


def _inner_statements(root: Node, lines: Sequence[int]) -> dict[int, Node]:
    """The innermost statement of each of the lines, or the whole file. Raises OverLimit for a tree that is too deep."""
    statements = dict.fromkeys(lines, root)
    waiting = [(root, 0)]
    while waiting:
        node, depth = waiting.pop()
        covered = _covered(node, lines)
        if covered and depth > MAX_DEPTH:
            raise OverLimit
        if covered and node.type.endswith(_STATEMENTS):
            statements.update(dict.fromkeys(covered, node))
        if covered:
            waiting += [(child, depth + 1) for child in node.named_children]
    return statements


def _covered(node: Node, lines: Sequence[int]) -> Sequence[int]:
    """Those of the lines that the node lies on."""
    return lines[bisect_left(lines, _first(node)) : bisect_right(lines, _last(node))]


def _first(node: Node) -> int:
    return node.start_point.row + 1


def _last(node: Node) -> int:
    return node.end_point.row + 1


def _line_of(node: Node, statements: Mapping[int, Node]) -> int | None:
    """The changed line that the fault belongs to; None where the change does not concern it."""
    first = _first(node)
    if first in statements:
        return first
    later = range(first + 1, _last(node) + 1)
    return next((line for line in later if line in statements and _is_inside(node, statements[line])), None)


def _is_inside(node: Node, other: Node) -> bool:
    return other.start_byte <= node.start_byte and node.end_byte <= other.end_byte


class _Parts:
    """The outermost statements of a file. A fault is tried in its own, as a long file takes long to parse again."""

    def __init__(self, grammar: Grammar, source: bytes, statements: Sequence[Node]) -> None:
        self._grammar, self._source = grammar, source
        self._starts = [statement.start_byte for statement in statements]
        self._ends = [statement.end_byte for statement in statements]
        self._parsed: dict[int, Tree] = {}

    def parses_with(self, mutant: Mutant) -> bool:
        """Whether the statement with the fault parses without an error."""
        at = bisect_right(self._starts, mutant.start) - 1
        start, end = self._starts[at], self._ends[at]
        part, span = self._source[start:end], (mutant.start - start, mutant.end - start)
        try:
            if at not in self._parsed:
                self._parsed[at] = parse(self._grammar, part)
            tree = parse_replaced(self._grammar, self._parsed[at], part, span, encoded(mutant.after))
        except OverLimit:
            return False
        return not tree.root_node.has_error


def _is_new(mutant: Mutant, source: bytes, seen: set[bytes]) -> bool:
    """Whether the text with the fault is none of those seen before, which it joins."""
    result = source[: mutant.start] + encoded(mutant.after) + source[mutant.end :]
    digest = blake2b(result).digest()
    if digest in seen:
        return False
    seen.add(digest)
    return True
