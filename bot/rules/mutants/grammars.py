"""Parses source files with tree-sitter. A grammar is loaded when its first file is parsed, as the idle process needs
none of them."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from tree_sitter import Parser, Tree

Grammar = Literal["python", "javascript", "typescript", "tsx"]

_GRAMMARS: dict[str, Grammar] = {
    ".py": "python",
    **dict.fromkeys((".js", ".mjs", ".cjs", ".jsx"), "javascript"),
    **dict.fromkeys((".ts", ".mts", ".cts"), "typescript"),
    ".tsx": "tsx",
}
_LANGUAGES: dict[Grammar, tuple[str, str]] = {
    "python": ("tree_sitter_python", "language"),
    "javascript": ("tree_sitter_javascript", "language"),
    "typescript": ("tree_sitter_typescript", "language_typescript"),
    "tsx": ("tree_sitter_typescript", "language_tsx"),
}


def grammar_of(path: str) -> Grammar | None:
    """The grammar for the file's name; None for a language without mutants."""
    return _GRAMMARS.get(PurePosixPath(path).suffix.lower())


def parse(grammar: Grammar, source: bytes) -> Tree:
    """The syntax tree; its `root_node.has_error` shows that the text does not fit the grammar."""
    return _parser(grammar).parse(source)


def parse_replaced(grammar: Grammar, tree: Tree, source: bytes, span: tuple[int, int], after: bytes) -> Tree:
    """The syntax tree of `source` with `after` in place of the bytes of the span; `tree` is that of `source`. Only
    what the replacement affects is parsed again."""
    start, end = span
    result = source[:start] + after + source[end:]
    new_end = start + len(after)
    edited = tree.copy()
    edited.edit(start, end, new_end, _point(source, start), _point(source, end), _point(result, new_end))
    return _parser(grammar).parse(result, edited)


def _point(source: bytes, offset: int) -> tuple[int, int]:
    return source.count(b"\n", 0, offset), offset - source.rfind(b"\n", 0, offset) - 1


@cache
def _parser(grammar: Grammar) -> Parser:
    from tree_sitter import Language, Parser

    module, function = _LANGUAGES[grammar]
    return Parser(Language(getattr(import_module(module), function)()))
