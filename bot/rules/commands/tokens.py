"""Splits the line of a command as a shell would: words, quotes, `key=value`. Each word has its column, so that a
reply can point at a mistake."""

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
    """`value` is without quotes, `raw` as typed from column `at` on; `option` is the text before an unquoted `=`."""

    value: str
    at: int
    raw: str
    option: str = ""


@dataclass(frozen=True, slots=True)
class Mistake:
    """A kind of problem, its word (None: something is missing at the end), and the word that was probably meant."""

    problem: str
    word: Word | None = None
    meant: str | None = None
    values: Mapping[str, str] = field(default_factory=dict)


def split_words(text: str) -> tuple[list[Word], Mistake | None]:
    """The words by the shell's quoting (POSIX; nothing is expanded, `#` begins no comment), up to the first mistake.

    Only spaces part words: `text` has no other white space."""
    words: list[Word] = []
    at = 0
    while at < len(text):
        start, value = at, ""
        option = _OPTION.match(text, at)
        while piece := _PIECE.match(text, at):
            value += _unquoted(piece)
            at = piece.end()
        if at < len(text) and text[at] != " ":
            problem = "escape" if text[at] == "\\" else "unclosed"
            return words, Mistake(problem, Word("", at, text[at : at + _SHOWN_QUOTE]))
        if at > start:
            words.append(Word(value, start, text[start:at], option.group() if option else ""))
        at += 1
    return words, None


def _unquoted(piece: re.Match[str]) -> str:
    quoted = piece.group("double")
    return _ESCAPED.sub(r"\1", quoted) if quoted is not None else str(piece.group(piece.lastgroup or 0))


def split_commas(words: Iterable[Word]) -> list[Word]:
    """The words, split at commas."""
    parts: list[Word] = []
    for word in words:
        at = word.at
        for part in word.value.split(","):
            if part:
                parts.append(Word(part, at, part) if word.raw == word.value else replace(word, value=part))
            at += len(part) + 1
    return parts
