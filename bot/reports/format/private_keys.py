"""Finds private keys in PEM format in a text, whatever a tool printed before and after each of their lines.

Examples are an `E`, line numbers, diff signs, times, quotes, and `\\n` for line breaks. Keys without their end count
too (T35)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

Span = tuple[int, int]

_MAX_KEY_CHARS = 1 << 15
"""Characters between a key's first and last line within which everything is masked. It is enough for the largest RSA
keys with a long prefix on each line."""

_MAX_CHARS_BEFORE_END = 8000
"""Characters before an END line that are searched for the lines of a key without a BEGIN line."""

_SPACE = "(?:[ +]|%20)"
_MARK = re.compile(
    rf"----[- ](BEGIN|END){_SPACE}(?:[A-Z0-9]|{_SPACE}){{0,40}}PRIVATE{_SPACE}KEY(?:{_SPACE}BLOCK)?[- ]----"
)
_BREAK = re.compile(r"\n|\\[nr]|%0[AaDd]")
"""A line break: the character, its escape in a JSON or Python string, or its form in a URL."""
_WORD = re.compile(r"(?:[A-Za-z0-9+/=\\]|%2[BFbf]|%3[Dd])+")
"""Base64, also in its form in a URL, and the backslash that some JSON has before each `/`."""
_MIN_BASE64_CHARS = 16
_GLUE = frozenset(" \t\r\"'`,;+()[]{}|<>*-")
_MAX_PREFIX = 120
"""The longest prefix of a key's line; a line with a longer one belongs to something else."""
_FIELD = re.compile(r"(?:Proc-Type|DEK-Info|Version|Comment|MessageID|Hash|Charset|Subject|X-[\w-]{1,40})\s?:")
_MAX_FIELDS = 12
_MAX_BLANKS = 3
"""Lines without a word between two lines of the key: a quoted line that also ends in `\\n` makes one."""
_DIGITS = re.compile(r"\d+")


@dataclass(frozen=True, slots=True)
class _Line:
    """A line of the text. `body`: it ends in base64; `blank`: it has no word.

    `shape` is its prefix, with numbers and spaces normalised."""

    start: int
    end: int
    body: bool
    blank: bool
    field: bool
    shape: str


def key_spans(text: str) -> Iterator[Span]:
    """Yields the half-open span of every private key in the text, in order, with its first and last line if present."""
    marks = list(_MARK.finditer(text))
    previous_end = index = 0
    while index < len(marks):
        mark, following = marks[index], marks[index + 1] if index + 1 < len(marks) else None
        index += 1
        if mark.group(1) == "END":
            first = max(previous_end, mark.start() - _MAX_CHARS_BEFORE_END)
            start, end = _before(text, first, mark.start()), mark.end()
        elif following is not None and following.group(1) == "END" and following.start() - mark.end() <= _MAX_KEY_CHARS:
            start, end = mark.start(), following.end()
            index += 1
        else:
            start, end = mark.start(), _after(text, mark, following.start() if following else len(text))
        yield start, end
        previous_end = end


def _line_of(text: str, at: int) -> int:
    """Returns where the line that contains position `at` begins, at most `_MAX_PREFIX` characters before `at`."""
    near = max(0, at - _MAX_PREFIX)
    return max(near, text.rfind("\n", near, at) + 1)


def _after(text: str, mark: re.Match[str], stop: int) -> int:
    """Returns the end of the key whose first line is `mark`; the text from `stop` on belongs to something else."""
    end, last, begun, blanks, fields = mark.end(), "", False, 0, 0
    head = _shape(text[_line_of(text, mark.start()) : mark.start()])
    for line in _lines(text, mark.end(), stop):
        if line.body and (line.start > mark.end() or _GLUE.issuperset(line.shape)):
            end, last, begun, blanks = line.end, line.shape, True, 0
        elif line.blank or line.shape == head:
            blanks += 1
            if blanks > _MAX_BLANKS:
                break
        elif not begun and line.field and fields < _MAX_FIELDS:
            fields, blanks = fields + 1, 0
        else:
            # a key that was cut off ends in a short line with the same prefix as its other lines
            return _end_of_short_line(text, line, last, end) if begun else end
    return end


def _before(text: str, start: int, stop: int) -> int:
    """Returns the beginning of the key whose last line is at `stop`; the text before `start` is not searched."""
    begin, blanks, short_lines = stop, 0, 0
    for line in reversed(list(_lines(text, start, stop))):
        if line.body:
            begin, blanks = line.start, 0
        elif line.blank:
            blanks += 1
            if blanks > _MAX_BLANKS:
                break
        elif begin == stop and short_lines < 3:  # the prefix of END, a checksum, and the key's short last line
            short_lines += 1
        else:
            break
    return begin


def _lines(text: str, start: int, stop: int) -> Iterator[_Line]:
    at = start
    while at < stop:
        line_break = _BREAK.search(text, at, stop)
        end = line_break.start() if line_break else stop
        yield _parse(text, at, end)
        at = line_break.end() if line_break else stop


def _parse(text: str, start: int, end: int) -> _Line:
    words = list(_WORD.finditer(text, start, end))
    begin = _base64_from(text, words, end)
    if begin is None or begin - start > _MAX_PREFIX:
        blank = all(len(word.group()) <= 2 or word.group().isdigit() for word in words)
        head = text[start : min(end, start + _MAX_PREFIX)]
        return _Line(start, end, False, blank, _FIELD.search(head) is not None, _shape(head))
    return _Line(start, end, True, False, False, _shape(text[start:begin]))


def _base64_from(text: str, words: Sequence[re.Match[str]], end: int) -> int | None:
    """Returns where the base64 at the end of a line begins, or None if the line does not end in base64.

    The signs that strings and lists have between their parts are allowed between its parts."""
    begin, after = None, end
    # the last part may be short, and so may the part before a PGP key's checksum
    may_be_short = words[-2 if words and words[-1].group().startswith("=") else -1 :]
    for word in reversed(words):
        if after - word.end() > _MAX_PREFIX or not _GLUE.issuperset(text[word.end() : after]):
            break
        if len(word.group()) >= _MIN_BASE64_CHARS:
            begin = word.start()
        elif len(word.group()) > 2 and word not in may_be_short:
            break
        after = word.start()
    return begin


def _end_of_short_line(text: str, line: _Line, shape: str, end: int) -> int:
    """Returns the end of a line that has the prefix `shape` and a single word, else `end`."""
    words = list(_WORD.finditer(text, line.start, min(line.end, line.start + 2 * _MAX_PREFIX)))
    single_word = bool(words) and _shape(text[line.start : words[-1].start()]) == shape
    return line.end if single_word and _GLUE.issuperset(text[words[-1].end() : line.end]) else end


def _shape(prefix: str) -> str:
    return _DIGITS.sub("0", " ".join(prefix.split()))
