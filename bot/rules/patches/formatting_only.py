"""Decides whether a change only reformats a file, as a formatter does, which fixes no failing test.

In doubt it is no such change: refusing a fix is worse than an attempt without effect."""

from __future__ import annotations

import ast
import inspect
import io
import json
import re
import tokenize
from collections.abc import Callable, Collection, Iterator, Mapping
from pathlib import PurePosixPath

from bot.model import Validation
from bot.rules.patches.style_findings import is_style

_QUOTES_ALIKE = frozenset({".js", ".jsx", ".mjs", ".cjs", ".ts", ".tsx", ".mts", ".cts", ".vue", ".svelte"})
_BRACES = _QUOTES_ALIKE | {".go", ".rs", ".java", ".kt", ".c", ".h", ".cc", ".cpp", ".hpp", ".cs", ".swift", ".scala"}
_DOCUMENTS = frozenset({".md", ".mdx", ".markdown", ".rst", ".adoc"})
_TOKEN = re.compile(
    r"(?P<space>\s+)|//[^\n]*|/\*[\s\S]*?(?:\*/|\Z)|(?P<plain>\"[^\"'`\\\n]*\"|'[^\"'`\\\n]*')"
    r"|\"(?:[^\"\\\n]|\\.)*\"?|'(?:[^'\\\n]|\\.)*'?|`(?:[^`\\]|\\[\s\S])*`?|/[^/\n]*/|[\w$]+|[-+*&|<>=!?.%^~:]+|[\s\S]"
)
"""What stands in quotes or between slashes is one token with its spaces; `plain` text may stand in either quotes."""
_LINE_COUNTS_AFTER = frozenset({"return", "throw", "break", "continue", "yield", "async"})
"""JavaScript ends the statement where a line ends behind one of these."""
_CLOSING = frozenset({")", "]", "}"})


def style_is_no_matter(standing: Validation | None) -> bool:
    """Whether a check of the code's behavior fails, and no check of its style does."""
    failed = [step for step in standing.steps if not step.passed and not step.skipped] if standing else []
    return bool(failed) and not any(map(is_style, failed))


def task_paths(focus: Collection[str], standing: Validation | None) -> frozenset[str]:
    """The files that the task or a finding of a failing check names."""
    steps = standing.steps if standing else ()
    return frozenset((*focus, *(one.path for step in steps if not step.passed for one in step.annotations)))


def is_restyled(path: str, before: str, after: str) -> bool:
    """Whether the two texts of the file differ only in white space, line breaks and the like; False for a kind of
    file for which this cannot be decided."""
    kind = PurePosixPath(path).suffix.lower()
    if kind in _BRACES:
        alike = kind in _QUOTES_ALIKE
        return tuple(_tokens(before, quotes_alike=alike)) == tuple(_tokens(after, quotes_alike=alike))
    layout_free = _LAYOUT_FREE.get(kind)
    if layout_free is None:
        return False
    try:
        return layout_free(before) == layout_free(after)
    except (SyntaxError, tokenize.TokenError, ValueError, RecursionError, MemoryError):
        return False  # what can't be read may be what the change repairs


def _tokens(text: str, *, quotes_alike: bool) -> Iterator[str]:
    """The words and signs of a text, without commas before a closing bracket and, where a line's end serves as well,
    without semicolons."""
    last, comma = "", False
    for found in _TOKEN.finditer(text):
        word = found[0]
        if found["space"]:
            if quotes_alike and "\n" in word and last in _LINE_COUNTS_AFTER:
                yield "\n"
            continue
        last = word
        if comma and word not in _CLOSING:
            yield ","
        comma = word == ","
        if comma or (quotes_alike and word == ";"):
            continue
        if quotes_alike and found["plain"]:
            word = f'"{word[1:-1]}"'
        yield " ".join(word.split()) if word.startswith(("//", "/*")) else word
    if comma:
        yield ","


def _python(text: str) -> tuple[str, tuple[str, ...]]:
    """The syntax tree of a module, and its comments, which may address a checker."""
    module = ast.parse(text)
    for node in ast.walk(module):
        if isinstance(node, ast.Constant):
            node.kind = None  # `u"…"`
        elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            node.value.value = inspect.cleandoc(node.value.value)
    marks = tokenize.generate_tokens(io.StringIO(text).readline)
    comments = tuple(one.string.lstrip("#").strip() for one in marks if one.type == tokenize.COMMENT)
    return ast.dump(module), comments


def _letters(text: str) -> str:
    return "".join(filter(str.isalnum, text))


_LAYOUT_FREE: Mapping[str, Callable[[str], object]] = {
    ".py": _python,
    ".pyi": _python,
    ".json": lambda text: json.loads(text, object_pairs_hook=tuple),
    **dict.fromkeys(_DOCUMENTS, _letters),
}
