"""Which files have mutants, and how a text with a mutant is parsed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, cast, get_args

from bot.rules import syntax

if TYPE_CHECKING:
    from tree_sitter import Tree

Grammar = Literal["python", "javascript", "typescript", "tsx"]


def grammar_of(path: str) -> Grammar | None:
    """The grammar for the file's name; None for a language without mutants. A stub (`.pyi`) never runs."""
    grammar = syntax.grammar_of(path)
    return cast(Grammar, grammar) if grammar in get_args(Grammar) and not path.endswith(".pyi") else None


def parse_replaced(grammar: Grammar, tree: Tree, source: bytes, span: tuple[int, int], after: bytes) -> Tree:
    """The syntax tree of `source` with `after` in place of the bytes of the span; `tree` is that of `source`. Only
    what the replacement affects is parsed again. Raises OverLimit."""
    start, end = span
    result = source[:start] + after + source[end:]
    new_end = start + len(after)
    edited = tree.copy()
    edited.edit(start, end, new_end, _point(source, start), _point(source, end), _point(result, new_end))
    return syntax.parse(grammar, result, edited)


def _point(source: bytes, offset: int) -> tuple[int, int]:
    return source.count(b"\n", 0, offset), offset - source.rfind(b"\n", 0, offset) - 1
