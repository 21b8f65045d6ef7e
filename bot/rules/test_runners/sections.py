"""The lines of one failed test in the log of a test runner, which all readers return, and functions that several
readers share."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

_ANNOUNCES = re.compile(
    r"(?:[\w.]*(?:Error|Exception)(?: \[\w+\])?: )?(?:.*:|expect\(received\)\..*|assertion `.*` failed)$"
    r"|expected$|[Ee]xpected: "
)
"""A first line that only announces what is wrong."""

_NO_WORDS = re.compile(r"[\s\W_]*$")
_COMPARED = re.compile(r"[-+] (?:Expected|Received)\s+[-+] \d+$|\+ expected - actual$|\+ actual - expected$")
_MAX_CHARS = 400
_MAX_DEPTH = 50
MAX_TESTS = 2_000
"""The limit of failed tests that are read of one log, which is untrusted and of any length."""


class Section(NamedTuple):
    """Lines of a log that belong to one failed test, with its name and the tool's message.

    Lines without a name repeat other lines: a tree, a list of names, a message printed twice."""

    name: str
    message: str
    lines: range


Reader = Callable[[Sequence[str]], Iterable[Section]]


def summary_line(lines: Iterable[str]) -> str:
    """The message of a failure in one line, with the values below it where the first line only announces them."""
    message: list[str] = []
    for line in lines:
        text = line.strip()
        compared = _COMPARED.match(text) is not None
        if not text or (compared and len(message) < 2) or (not message and _NO_WORDS.match(text)):
            continue
        if compared or (
            message and text.startswith(("at ", "❯ ", "› ", "|", "> ", "# ", "(compared ", "stack backtrace"))
        ):
            break
        message.append(text)
        if len(message) == 3 or not _ANNOUNCES.match(message[0]):
            break
    return " ".join(message)[:_MAX_CHARS]


def until(lines: Sequence[str], start: int, end: re.Pattern[str]) -> int:
    """The index of the first line after `start` that the pattern matches, else how many lines there are."""
    return next((at for at in range(start + 1, len(lines)) if end.match(lines[at])), len(lines))


def matching(lines: Sequence[str], pattern: re.Pattern[str], part: str) -> Iterator[tuple[int, re.Match[str]]]:
    """The lines that hold `part` and match; a look for a text costs much less than a pattern."""
    for at, line in enumerate(lines):
        if part in line and (found := pattern.match(line)) is not None:
            yield at, found


def last_before(at: int, places: Sequence[int]) -> int | None:
    """The last of the ascending `places` before `at`."""
    index = bisect_left(places, at)
    return places[index - 1] if index else None


def single(at: int) -> Section:
    """The section of one line that repeats other lines."""
    return Section("", "", range(at, at + 1))


def parents(name: str, separator: str) -> Iterator[str]:
    """The names of the suites or tests that contain a test, the outermost first."""
    parts = name.split(separator)[:_MAX_DEPTH]
    return (separator.join(parts[:depth]) for depth in range(1, len(parts)))
