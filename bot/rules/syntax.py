"""Parses source text by tree-sitter, within limits of size, time and memory. The text is untrusted: a few kilobytes
that are made for it let a parser take time and memory by the square of their length."""

from __future__ import annotations

import re
import resource
from collections.abc import Callable, Iterator, Mapping
from functools import cache, partial
from importlib import import_module
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tree_sitter import Language, Node, Tree

MAX_BYTES = 1_000_000
MAX_PARSE_S = 0.5
"""The limit of the thread's own processor time for one text. A test file of 5,000 lines takes 0.03 s."""
MAX_PARSE_KB = 150_000
"""The limit by which the process may grow for one text."""

_IN_PARTS = ("java",)
"""Grammars that take their memory at the end of a broken text, where no callback stops them any more."""
_DEEP_TYPES = re.compile(rb"(?:<[^<>;{}()]{0,99}){40}")
_PART = 600
_MAX_ERRORS = 30
"""The limit of errors in 600 bytes. Code that is cut off there has 6."""

_GRAMMARS: Mapping[str, tuple[str, str]] = {
    "python": ("tree_sitter_python", "language"),
    "javascript": ("tree_sitter_javascript", "language"),
    "typescript": ("tree_sitter_typescript", "language_typescript"),
    "tsx": ("tree_sitter_typescript", "language_tsx"),
    "go": ("tree_sitter_go", "language"),
    "rust": ("tree_sitter_rust", "language"),
    "java": ("tree_sitter_java", "language"),
    "ruby": ("tree_sitter_ruby", "language"),
    "php": ("tree_sitter_php", "language_php"),
}
_SUFFIXES: Mapping[str, str] = {
    **dict.fromkeys(("py", "pyi"), "python"),
    **dict.fromkeys(("js", "jsx", "mjs", "cjs"), "javascript"),
    **dict.fromkeys(("ts", "mts", "cts"), "typescript"),
    "tsx": "tsx",
    "go": "go",
    "rs": "rust",
    "java": "java",
    "rb": "ruby",
    "php": "php",
}


class OverLimit(Exception):
    """A text is too large to be parsed, or takes too much time or memory."""


def grammar_of(path: str) -> str:
    """The name of the grammar for files of that name; empty where there is none."""
    return _SUFFIXES.get(PurePosixPath(path).suffix[1:].lower(), "")


def parse(grammar: str, source: bytes, edited: Tree | None = None) -> Tree:
    """The syntax tree of a text in UTF-8, which has error nodes where the text is broken. Raises OverLimit.

    `edited` is the tree of an earlier text, told of the edits since (`Tree.edit`): only these are parsed again."""
    from tree_sitter import Parser

    if len(source) > MAX_BYTES:
        raise OverLimit
    if grammar in _IN_PARTS and _is_no_code(grammar, source):
        raise OverLimit
    over = _limit()
    begin = partial(Parser(_language(grammar)).parse, lambda start, _: source[start : start + 4096])
    try:
        if edited is not None:
            return begin(edited, progress_callback=lambda _, __: over())
        return begin(progress_callback=lambda _, __: over())
    except ValueError:  # what the parser raises once the callback has stopped it
        raise OverLimit from None


def _is_no_code(grammar: str, source: bytes) -> bool:
    """Whether the parts of a text, each parsed alone, have far more errors than parts of code, which are only cut off
    at both ends; or whether it nests types too deeply."""
    from tree_sitter import Parser

    if _DEEP_TYPES.search(source):
        return True
    total = 0
    for start in range(0, len(source), _PART):
        root = Parser(_language(grammar)).parse(source[start : start + _PART]).root_node
        errors = sum(node.is_error or node.is_missing for node in nodes(root)) if root.has_error else 0
        total += errors
        if errors > _MAX_ERRORS or total > _MAX_ERRORS + 5 * (start // _PART + 1):
            return True
    return False


def nodes(root: Node) -> Iterator[Node]:
    """The named nodes of a tree, a node before its children."""
    cursor = root.walk()
    while True:
        node = cursor.node
        if node is not None and node.is_named:
            yield node
        if cursor.goto_first_child():
            continue
        while not cursor.goto_next_sibling():
            if not cursor.goto_parent():
                return


def _limit() -> Callable[[], bool]:
    """A function that returns whether the thread has taken too much since now."""
    until = _seconds() + MAX_PARSE_S
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss + MAX_PARSE_KB
    return lambda: _seconds() > until or resource.getrusage(resource.RUSAGE_SELF).ru_maxrss > peak


def _seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_THREAD)
    return used.ru_utime + used.ru_stime


@cache
def _language(grammar: str) -> Language:
    from tree_sitter import Language

    module, function = _GRAMMARS[grammar]
    return Language(getattr(import_module(module), function)())
