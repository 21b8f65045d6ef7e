"""A command's line taken apart as a shell would: words, quotes, `key=value`. Each word has its column, so that a
mistake can be pointed at."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

_OPTION = re.compile(r"[A-Za-z][\w-]*(?==)")
# one piece of a word: each is tried where the one before it ended, and none can give back what it took
_PIECE = re.compile(
    r"""(?P<bare>[^ '"\\]++)|'(?P<single>[^']*+)'|"(?P<double>[^"\\]*+(?:\\.[^"\\]*+)*)"|\\(?P<escaped>.)""", re.S
)
_ESCAPED = re.compile(r'\\(["\\])')
_SHOWN_QUOTE = 20


@dataclass(frozen=True, slots=True)
class Word:
    """`value` is without quotes, `raw` as typed from column `at` on; `option` is what stands before an unquoted `=`."""

    value: str
    at: int
    raw: str
    option: str = ""


@dataclass(frozen=True, slots=True)
class Wrong:
    """A key of PROBLEMS, the word that it is about (None: something is missing at the end), and what was meant."""

    problem: str
    word: Word | None = None
    near: str | None = None
    values: Mapping[str, str] = field(default_factory=dict)


def words_of(text: str) -> tuple[list[Word], Wrong | None]:
    """The words by the shell's quoting (POSIX; nothing is expanded, `#` begins no comment), up to the first mistake.

    Only spaces part words: `text` has no other white space."""
    words: list[Word] = []
    at = 0
    while at < len(text):
        start, value = at, ""
        option = _OPTION.match(text, at)
        while piece := _PIECE.match(text, at):
            value += _meant(piece)
            at = piece.end()
        if at < len(text) and text[at] != " ":
            problem = "escape" if text[at] == "\\" else "unclosed"
            return words, Wrong(problem, Word("", at, text[at : at + _SHOWN_QUOTE]))
        if at > start:
            words.append(Word(value, start, text[start:at], option.group() if option else ""))
        at += 1
    return words, None


def _meant(piece: re.Match[str]) -> str:
    quoted = piece.group("double")
    return _ESCAPED.sub(r"\1", quoted) if quoted is not None else str(piece.group(piece.lastgroup or 0))


def parts_of(words: Iterable[Word]) -> list[Word]:
    """The words, those with commas taken apart."""
    parts: list[Word] = []
    for word in words:
        at = word.at
        for part in word.value.split(","):
            if part:
                parts.append(Word(part, at, part) if word.raw == word.value else replace(word, value=part))
            at += len(part) + 1
    return parts
