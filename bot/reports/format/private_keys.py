"""Where private keys in PEM armour stand in a text, whatever a tool has put before and after each of their lines: an
`E`, line numbers, a diff's signs, times, quotes, `\\n` for line breaks. Keys that lack their end count too (T35)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

Span = tuple[int, int]

_LIMIT = 1 << 15
"""Characters between a key's first and last line within which all is masked, whatever it looks like: room for the
largest RSA keys with a long prefix on each line."""

_BACK = 8000
"""How far the lines of a key whose beginning is missing are looked for."""

_SPACE = "(?:[ +]|%20)"
_MARK = re.compile(
    rf"----[- ](BEGIN|END){_SPACE}(?:[A-Z0-9]|{_SPACE}){{0,40}}PRIVATE{_SPACE}KEY(?:{_SPACE}BLOCK)?[- ]----"
)
_BREAK = re.compile(r"\n|\\[nr]|%0[AaDd]")
"""A line's end as it is, as JSON and Python write it inside a string, or as a URL has it."""
_WORD = re.compile(r"(?:[A-Za-z0-9+/=\\]|%2[BFbf]|%3[Dd])+")
"""Base64, also as in a URL, and the backslash that some JSON has before each `/`."""
_LONG = 16
_GLUE = frozenset(" \t\r\"'`,;+()[]{}|<>*-")
_PREFIX = 120
"""The longest prefix of a line; what is longer is a line of something else."""
_FIELD = re.compile(r"(?:Proc-Type|DEK-Info|Version|Comment|MessageID|Hash|Charset|Subject|X-[\w-]{1,40})\s?:")
_FIELDS = 12
_BLANKS = 3
"""Lines without a word between two of the key's: a quoted line that also ends in `\\n` makes one."""
_DIGITS = re.compile(r"\d+")


@dataclass(frozen=True, slots=True)
class _Line:
    """`body`: it ends in base64; `blank`: it has no word. `shape` is its prefix, with numbers and spaces evened out."""

    start: int
    end: int
    body: bool
    blank: bool
    field: bool
    shape: str


def key_spans(text: str) -> Iterator[Span]:
    """Every private key in the text, in order: half-open, with its first and last line as far as they are there."""
    marks = list(_MARK.finditer(text))
    done = at = 0
    while at < len(marks):
        mark, following = marks[at], marks[at + 1] if at + 1 < len(marks) else None
        at += 1
        if mark.group(1) == "END":
            start, end = _before(text, max(done, mark.start() - _BACK), mark.start()), mark.end()
        elif following is not None and following.group(1) == "END" and following.start() - mark.end() <= _LIMIT:
            start, end = mark.start(), following.end()
            at += 1
        else:
            start, end = mark.start(), _after(text, mark, following.start() if following else len(text))
        yield start, end
        done = end


def _line_of(text: str, at: int) -> int:
    """Where the line begins that has this place, as far as a prefix may reach."""
    near = max(0, at - _PREFIX)
    return max(near, text.rfind("\n", near, at) + 1)


def _after(text: str, mark: re.Match[str], stop: int) -> int:
    """The end of what follows a key's first line and belongs to it; `stop` is where something else begins."""
    end, last, begun, blanks, fields = mark.end(), "", False, 0, 0
    head = _shape(text[_line_of(text, mark.start()) : mark.start()])
    for line in _lines(text, mark.end(), stop):
        if line.body and (line.start > mark.end() or _GLUE.issuperset(line.shape)):
            end, last, begun, blanks = line.end, line.shape, True, 0
        elif line.blank or line.shape == head:
            blanks += 1
            if blanks > _BLANKS:
                break
        elif not begun and line.field and fields < _FIELDS:
            fields, blanks = fields + 1, 0
        else:
            # a key that was cut off ends in a short line, before which stands what stood before the others
            return _short(text, line, last, end) if begun else end
    return end


def _before(text: str, start: int, stop: int) -> int:
    """The beginning of what precedes a key's last line and belongs to it."""
    found, blanks, short = stop, 0, 0
    for line in reversed(list(_lines(text, start, stop))):
        if line.body:
            found, blanks = line.start, 0
        elif line.blank:
            blanks += 1
            if blanks > _BLANKS:
                break
        elif found == stop and short < 3:  # what stands before END, a checksum, and the last line, which is short
            short += 1
        else:
            break
    return found


def _lines(text: str, start: int, stop: int) -> Iterator[_Line]:
    at = start
    while at < stop:
        found = _BREAK.search(text, at, stop)
        end = found.start() if found else stop
        yield _read(text, at, end)
        at = found.end() if found else stop


def _read(text: str, start: int, end: int) -> _Line:
    words = list(_WORD.finditer(text, start, end))
    begin = _base64_from(text, words, end)
    if begin is None or begin - start > _PREFIX:
        blank = all(len(word.group()) <= 2 or word.group().isdigit() for word in words)
        head = text[start : min(end, start + _PREFIX)]
        return _Line(start, end, False, blank, _FIELD.search(head) is not None, _shape(head))
    return _Line(start, end, True, False, False, _shape(text[start:begin]))


def _base64_from(text: str, words: Sequence[re.Match[str]], end: int) -> int | None:
    """From where on a line is base64 until its end, but for what strings and lists have between their parts."""
    begin, after = None, end
    # the last part may be short, and so may be what stands before a PGP key's checksum
    short = words[-2 if words and words[-1].group().startswith("=") else -1 :]
    for word in reversed(words):
        if after - word.end() > _PREFIX or not _GLUE.issuperset(text[word.end() : after]):
            break
        if len(word.group()) >= _LONG:
            begin = word.start()
        elif len(word.group()) > 2 and word not in short:
            break
        after = word.start()
    return begin


def _short(text: str, line: _Line, shape: str, end: int) -> int:
    words = list(_WORD.finditer(text, line.start, min(line.end, line.start + 2 * _PREFIX)))
    alone = bool(words) and _shape(text[line.start : words[-1].start()]) == shape
    return line.end if alone and _GLUE.issuperset(text[words[-1].end() : line.end]) else end


def _shape(prefix: str) -> str:
    return _DIGITS.sub("0", " ".join(prefix.split()))
