"""Reads a log of any size in pieces: its failing lines with their surroundings, or a window of its lines.

A log of 200 MB must not fill the memory or hold up a webhook: the file is read 256 KB at a time, on a thread."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

CHUNK = 256 * 1024
MAX_FAILING = 100
CONTEXT = 3
HEAD, TAIL = 15, 25
WINDOW = 1_000
WHOLE = 400
"""A log with so many lines or fewer is shown whole."""

MAX_LINE_BYTES = 4_000
_TOKENS = (b"rror", b"RROR", b"FAIL", b"fail", b"panic", b"Traceback", b"xception", b"not ok", b"\xe2\x9c\x97",
           b"\xe2\x9c\x95", b"\xc3\x97 ")  # fmt: skip
"""What is looked for in a piece; a failing line holds at least one of them."""
_FAILING = re.compile(
    rb"\b(?:\w*(?:Error|Exception)\b|[Ee]rrors?\b|ERROR\b|FAIL(?:ED|URES?)?\b|[Ff]ailed\b|panicked\b|panic:|Traceback\b)"
    rb"|^\s*not ok\b|\xe2\x9c\x97|\xe2\x9c\x95|^\s*\xc3\x97 "
)
_HARMLESS = re.compile(rb"\b0 (?:errors?|failed|failures?)\b|[Nn]o errors?\b|\bPASSED\b|\bPASS\b|\bok\s*$")


@dataclass(frozen=True, slots=True)
class LogIndex:
    """Where things are in a log: `marks` are the line number and the offset at the begin of pieces."""

    size: int
    line_count: int
    failing: tuple[int, ...]
    marks: tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class Gap:
    """Lines that are folded, both ends included."""

    first: int
    last: int


@dataclass(frozen=True, slots=True)
class LogLine:
    number: int
    text: str
    failing: bool


def index_log(path: Path) -> LogIndex:
    """Read the whole log once. Raises OSError where it cannot be read."""
    failing: list[int] = []
    marks: list[tuple[int, int]] = []
    lines, offset, rest = 0, 0, b""
    with path.open("rb") as file:
        while piece := file.read(CHUNK):
            if not marks or marks[-1][0] <= lines:  # else it is within a line that is longer than a piece
                marks.append((lines + 1, offset - len(rest)))
            piece = rest + piece
            end = piece.rfind(b"\n") + 1
            if len(failing) < MAX_FAILING:
                failing += _failing_lines(piece[:end], lines + 1, MAX_FAILING - len(failing))
            lines += piece.count(b"\n", 0, end)
            offset = file.tell()
            rest = piece[end:][-CHUNK:]
    if rest:
        if len(failing) < MAX_FAILING:
            failing += _failing_lines(rest, lines + 1, 1)
        lines += 1
    return LogIndex(offset, lines, tuple(failing), tuple(marks))


def _failing_lines(piece: bytes, first: int, limit: int) -> list[int]:
    """The numbers of the lines of a piece that tell a failure; its first line has the number `first`."""
    hits = sorted({at for token in _TOKENS for at in _find_all(piece, token, 4 * limit)})
    numbers: list[int] = []
    number, counted, done = first, 0, -1
    for at in hits:
        if at < done:
            continue
        begin = piece.rfind(b"\n", 0, at) + 1
        end = piece.find(b"\n", at)
        done = len(piece) if end < 0 else end
        number += piece.count(b"\n", counted, begin)
        counted = begin
        line = piece[begin : min(done, begin + MAX_LINE_BYTES)]
        if _FAILING.search(line) and not _HARMLESS.search(line):
            numbers.append(number)
            if len(numbers) == limit:
                break
    return numbers


def _find_all(piece: bytes, token: bytes, limit: int) -> Iterator[int]:
    at = piece.find(token)
    while at >= 0 and limit:
        yield at
        limit -= 1
        at = piece.find(token, at + len(token))


def folded(index: LogIndex) -> list[tuple[int, int]]:
    """The ranges of lines that are shown first: around each failing line, and the begin and the end of the log."""
    if index.line_count <= WHOLE:
        return [(1, index.line_count)] if index.line_count else []
    wanted = [(1, HEAD), (index.line_count - TAIL + 1, index.line_count)]
    wanted += [(max(1, number - CONTEXT), min(index.line_count, number + CONTEXT)) for number in index.failing]
    ranges: list[tuple[int, int]] = []
    for first, last in sorted(wanted):
        if ranges and first <= ranges[-1][1] + 1:
            ranges[-1] = (ranges[-1][0], max(last, ranges[-1][1]))
        else:
            ranges.append((first, last))
    return ranges


def window(index: LogIndex, first: int) -> list[tuple[int, int]]:
    """The range of the 1,000 lines from this one on."""
    begin = min(max(1, first), max(1, index.line_count))
    return [(begin, min(index.line_count, begin + WINDOW - 1))] if index.line_count else []


def read_ranges(path: Path, index: LogIndex, ranges: Sequence[tuple[int, int]]) -> list[LogLine | Gap]:
    """The lines of these ranges, with the gaps between them. Raises OSError where the log cannot be read."""
    shown: list[LogLine | Gap] = []
    failing, expected = frozenset(index.failing), 1
    with path.open("rb") as file:
        for first, last in ranges:
            if first > expected:
                shown.append(Gap(expected, first - 1))
            shown += [
                LogLine(number, text.decode("utf-8", "replace"), number in failing)
                for number, text in enumerate(_lines(file, index, first, last), first)
            ]
            expected = last + 1
    if expected <= index.line_count:
        shown.append(Gap(expected, index.line_count))
    return shown


def _lines(file: BinaryIO, index: LogIndex, first: int, last: int) -> Iterator[bytes]:
    """The lines from `first` to `last`, each cut to 4,000 bytes."""
    number, offset = max((mark for mark in index.marks if mark[0] <= first), default=(1, 0))
    file.seek(offset)
    while number <= last:
        line = file.readline(MAX_LINE_BYTES)
        if not line:
            return
        text = line
        while line and not line.endswith(b"\n"):
            line = file.readline(CHUNK)
        if number >= first:
            yield text.rstrip(b"\r\n")
        number += 1
