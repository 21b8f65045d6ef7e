"""Reads the tables that give a test its cases: rows of `parametrize`, of `each`, of a loop, of a list that one of them
names. Like its neighbours it goes by the look of the text, brackets and quotes alone."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

_MAX_CHARS = 200_000
"""The limit of characters that are read of one table."""

_NAMED = (
    r"^(?:export |const |let |var |static |final |private |public )*(?P<name>[A-Za-z_]\w*)\b[^=\n]{0,120}=\s*(?=[\[({])"
)
_HEADS: Mapping[str, re.Pattern[str]] = {
    "python": re.compile(
        r"\bparametrize\(\s*(?:[\"'][^\"'\n]*[\"']|[\[(][^\])]*[\])])\s*,\s*(?:argvalues\s*=\s*)?(?=[\[(])"
        r"|\b(?:params|argvalues)\s*=\s*(?=[\[(])|\.expand\(\s*(?=[\[(])|\bfor\s[^\n]{1,200}?\sin\s+(?=[\[(])"
        rf"|{_NAMED}",
        re.MULTILINE,
    ),
    "javascript": re.compile(rf"\.each\(\s*(?=\[)|\bof\s+(?=\[)|{_NAMED}", re.MULTILINE),
    "go": re.compile(r":?=\s*(?:\[\]|map\[)[\w*.\[\]]*?(?:struct\s*\{[^{}]*\})?(?=\{)"),
}
_MARKS: Mapping[str, re.Pattern[str]] = {
    "rust": re.compile(r"#\[(?:\w+::)*(?:test_)?case\b[^\n]*"),
    "annotated": re.compile(r"\[(?:TestCase|InlineData)\([^\n]*|@CsvSource[^\n]*"),
}
_PIECE = re.compile(
    r"\"\"\"[\s\S]*?(?:\"\"\"|\Z)|\"[^\"\\\n]*+(?:\\.[^\"\\\n]*+)*\"?|'[^'\\\n]*+(?:\\.[^'\\\n]*+)*'?"
    r"|`[^`\\]*+(?:\\[\s\S][^`\\]*+)*`?|[\[({\])},]"
)
_OPEN, _CLOSE = frozenset("[({"), frozenset("])}")


def rows(code: str, family: str) -> tuple[str, ...]:
    """The rows of all tables of a test file whose comments are gone, white space evened out."""
    if family in _MARKS:
        return tuple(" ".join(match[0].split()) for match in _MARKS[family].finditer(code))
    heads = _HEADS.get(family)
    return tuple(_rows(code, heads)) if heads is not None else ()


def _rows(code: str, heads: re.Pattern[str]) -> Iterator[str]:
    past = 0
    for match in heads.finditer(code):
        name = match.groupdict().get("name")
        if match.end() < past or (name and not _is_table(name, code)):
            continue
        past = match.end()
        yield from _elements(code, match.end())


def _is_table(name: str, code: str) -> bool:
    """Whether tests go through the list of that name."""
    used = rf"(?:,\s*|\beach\(\s*|\bexpand\(\s*|\bof\s+|\bin\s+|\bparams\s*=\s*|\bargvalues\s*=\s*){name}\s*[,):{{]"
    return re.search(used, code) is not None


def _elements(code: str, start: int) -> Iterator[str]:
    """The elements, separated by commas, of the bracket that opens at `start`."""
    depth, last = 0, start + 1
    for piece in _PIECE.finditer(code, start, start + _MAX_CHARS):
        sign = piece[0]
        if sign in _OPEN:
            depth += 1
        elif sign in _CLOSE:
            depth -= 1
        if depth == 0 or (depth == 1 and sign == ","):
            element = " ".join(code[last : piece.start()].split())
            if element:
                yield element
            last = piece.end()
        if depth == 0:
            return
