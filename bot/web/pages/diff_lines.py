"""A unified diff as lines with their numbers, by file, for a page."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from bot.reports.format.truncate import strip_control

MAX_LINES = 4_000
MAX_LINE_CHARS = 1_000
FOLDED_FROM = 300
"""A file whose diff has this many lines or more is folded."""

LineKind = Literal["add", "del", "hunk", "same"]
_HUNK = re.compile(r"@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@")


@dataclass(frozen=True, slots=True)
class DiffLine:
    """One line; a number is None on the side that does not have the line."""

    kind: LineKind
    old: int | None
    new: int | None
    text: str


@dataclass(frozen=True, slots=True)
class FileDiff:
    """The diff of one file, with the number of lines that it adds and removes."""

    path: str
    lines: tuple[DiffLine, ...]
    added: int
    removed: int

    @property
    def folded(self) -> bool:
        return len(self.lines) >= FOLDED_FROM


@dataclass(frozen=True, slots=True)
class Diff:
    """The diff by file; `cut` is whether lines after the first 4,000 are left out."""

    files: tuple[FileDiff, ...]
    cut: bool


def read_diff(text: str) -> Diff:
    """Returns the files and lines of a diff that git made; empty for a text without a hunk or a file."""
    reader = _Reader()
    lines = strip_control(text).split("\n")
    for line in lines[:MAX_LINES]:
        reader.read(line)
    return Diff(reader.finish(), len(lines) > MAX_LINES)


class _Reader:
    def __init__(self) -> None:
        self._files: list[FileDiff] = []
        self._path: str | None = None
        self._lines: list[DiffLine] = []
        self._old = self._new = 0
        self._in_hunk = False

    def read(self, line: str) -> None:
        if line.startswith("diff --git "):
            self._close()
            self._path = line.rpartition(" b/")[2]
        elif not self._in_hunk and line.startswith("+++ ") and not line.startswith("+++ /dev/null"):
            self._path = line[4:].partition("\t")[0].removeprefix("b/")
        elif match := _HUNK.match(line):
            self._in_hunk = True
            self._old, self._new = int(match[1]), int(match[2])
            self._lines.append(DiffLine("hunk", None, None, line[:MAX_LINE_CHARS]))
        elif self._in_hunk and line[:1] in ("+", "-", " "):
            self._content(line)

    def _content(self, line: str) -> None:
        text = line[1 : 1 + MAX_LINE_CHARS]
        match line[0]:
            case "+":
                self._lines.append(DiffLine("add", None, self._new, text))
                self._new += 1
            case "-":
                self._lines.append(DiffLine("del", self._old, None, text))
                self._old += 1
            case _:
                self._lines.append(DiffLine("same", self._old, self._new, text))
                self._old, self._new = self._old + 1, self._new + 1

    def _close(self) -> None:
        if self._path is not None or self._lines:
            added, removed = (sum(line.kind == kind for line in self._lines) for kind in ("add", "del"))
            self._files.append(FileDiff(self._path or "", tuple(self._lines), added, removed))
        self._path, self._lines, self._in_hunk = None, [], False

    def finish(self) -> tuple[FileDiff, ...]:
        self._close()
        return tuple(self._files)
