"""The failures of a whole log for people, each found by the reader of its tool's format: failed tests, findings of
linters and type checkers, the error of an installer, and the end of a log of an unknown tool."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

from bot.model import ShownFailure, ValidationStep
from bot.rules.excerpts.error_lines import MAX_CHARS, MAX_LINES, block
from bot.rules.excerpts.expected_received import Compared, compared
from bot.rules.excerpts.installer_errors import stopped_installer
from bot.rules.failures.errors import first_error_paragraph, printed_errors
from bot.rules.failures.findings import Finding, heads_rows
from bot.rules.failures.log import Log
from bot.rules.failures.stack_frames import placed_findings

MAX_FAILURES = 200
"""Failures read of one log."""

_BLOCKS = 10
_BLOCKS_CHARS = 9_000
"""How many failures have their block, and how long all blocks are together."""

_MESSAGE = 400
_END_LINES = 10
_HIGHEST = 8
"""Lines above an arrow among which its message stands."""

_NO_PLACE = Finding("", 0, 0, "failure", "")


@dataclass(frozen=True, slots=True)
class _Piece:
    """A failure and the lines that show it."""

    start: int
    name: str
    message: str
    place: Finding
    lines: range
    head: str = ""


def shown_failures(log: Log) -> tuple[ShownFailure, ...]:
    """The failures that a log shows, in its order, at most 200; one for a log of an unknown tool, none for no text.

    The first ten have a block, with at most 9,000 characters in all."""
    pieces = [*_of_tests(log), *_of_findings(log)]
    if not pieces:
        return _unread(log)
    pieces.sort(key=lambda piece: piece.start)
    shown: list[ShownFailure] = []
    space = _BLOCKS_CHARS
    for piece in pieces[:MAX_FAILURES]:
        own = log.lines[piece.lines.start : piece.lines.stop]
        text = block(own, piece.message, piece.head) if len(shown) < _BLOCKS else ""
        text = text if len(text) <= space else ""
        space -= len(text)
        shown.append(_shown(piece, compared(own, piece.message), text))
    return tuple(shown)


def evidence_of(step: ValidationStep, tests: Collection[str] = ()) -> str:
    """The lines of a failed step's first failure; of the first one of `tests`, where its lines are known."""
    own = (failure.block for failure in step.failures if failure.block and failure.name in tests)
    return next(own, step.failures[0].block if step.failures else "")


def _shown(piece: _Piece, values: Compared, text: str) -> ShownFailure:
    return ShownFailure(
        name=piece.name,
        message=_one_line(piece.message),
        expected=values.expected,
        received=values.received,
        path=piece.place.path,
        line=0 if piece.place.whole else piece.place.line,
        block=text,
    )


def _one_line(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _MESSAGE else f"{line[: _MESSAGE - 1]}…"


def _of_tests(log: Log) -> Iterator[_Piece]:
    places, tests = log.places, log.tests.tests
    at = [place.at for place in places]
    crashes = _crashes(log) if tests else {}
    for test in islice(tests, MAX_FAILURES):
        own = max(test.lines, key=len)
        crash = crashes.get((test.name.partition("::")[0], test.message)) or crashes.get(("", test.message), _NO_PLACE)
        parts = (places[bisect_left(at, part.start) : bisect_left(at, part.stop)] for part in (own, *test.lines))
        # each part by itself: a place that another test names too is no less this one's
        found = (one for part in parts for one in placed_findings(part, log.lines) if not one.whole)
        place = next(found, crash)
        place = place if place.path else place._replace(path=_file_of(test.name))
        yield _Piece(test.lines[0].start, test.name, test.message, place, own)


_FILE = re.compile(r"(?P<path>[\w.@+-]+(?:/[\w.@+-]+)*\.[A-Za-z]\w{0,4})(?:$| [›>] |::)")


def _file_of(name: str) -> str:
    """The file that a test's name begins with."""
    found = _FILE.match(name)
    return found["path"] if found is not None else ""


def _crashes(log: Log) -> Mapping[tuple[str, str], Finding]:
    """By file and message, and by a message that stands at one place alone: the lines of pytest's `--tb=line`, which
    stand apart from their tests."""
    messages = {test.message for test in log.tests.tests}
    found: dict[tuple[str, str], Finding] = {}
    elsewhere: dict[str, set[tuple[str, int]]] = {}
    for _, finding, path in log.places:
        message = _first(finding.message)
        if path is not None and not finding.whole and message in messages:
            place = finding._replace(path=path)
            found.setdefault((path, message), place)
            found.setdefault(("", message), place)
            elsewhere.setdefault(message, set()).add((path, place.line))
    return {key: place for key, place in found.items() if key[0] or len(elsewhere[key[1]]) == 1}


def _of_findings(log: Log) -> Iterator[_Piece]:
    """What a compiler, a type checker or a linter found. Where tests failed too, only what has a rule, or stands below
    the name of a Go package: a place beside tests may be anything that they printed."""
    tests, lines = log.tests, log.lines
    own = [
        place
        for place in log.places
        if place.path is not None and not place.finding.frame and place.at not in tests.covered
    ]
    failed = [place for place in own if place.finding.level == "failure"]
    if tests.tests:
        failed = [place for place in failed if place.finding.rule or _below_package(lines, place.at)]
    chosen = failed or ([] if tests.tests else own)
    located = {path for _, finding, path in chosen if not finding.whole}
    listed: set[tuple[str | None, int, str]] = set()
    at_places = frozenset(place.at for place in log.places)
    for index, finding, path in chosen:
        key = (path, finding.line, finding.message)
        if key in listed or (finding.whole and path in located) or len(listed) >= MAX_FAILURES:
            continue
        listed.add(key)
        own_lines, head = _around(lines, index, at_places)
        rule, message = _whole_message(lines[own_lines.start : own_lines.stop], finding)
        yield _Piece(index, rule, message, finding._replace(path=path or ""), own_lines, head)


_WRAPPED = re.compile(r"\S+?:\d+(?::\d+){0,3}: (?:error|warning|note): ")
_LAST_RULE = re.compile(r"\s+[\[(](?P<rule>[a-z][\w-]*|report\w+)[\])]$")


def _whole_message(lines: Sequence[str], finding: Finding) -> tuple[str, str]:
    """The rule and the message, which mypy wraps over lines and pyright ends in a line below."""
    message = _first(finding.message).lstrip(" :")
    last = _LAST_RULE.search(lines[-1])
    if finding.rule or len(lines) < 2:
        return finding.rule, message
    if _WRAPPED.match(lines[0]):
        more = list(lines[1:5])
        ends = next((at for at, line in enumerate(more) if _LAST_RULE.search(line)), -1)
        message = " ".join([message, *(line.strip() for line in more[: ends + 1])])
        found = _LAST_RULE.search(message)
        return (found["rule"], message[: found.start()]) if found is not None else ("", message)
    return last["rule"] if last is not None else "", message


def _below_package(lines: Sequence[str], index: int) -> bool:
    """Whether Go names a package in the line above, or above more rows of the same shape."""
    for at in range(index - 1, max(-1, index - 12), -1):
        if lines[at].startswith("# "):
            return True
        if not re.match(r"\S+\.go:\d+:\d+: |\s|vet: ", lines[at]):
            return False
    return False


def _first(message: str) -> str:
    return next((line for line in message.strip().splitlines() if line.strip()), "")


_ARROW = re.compile(r"\s*(?:-->|[╭┌]─)")
_ROW = re.compile(r"\s+(?:[✖⚠×]\s+)?\d{1,7}:\d{1,7}")
_DETAIL = re.compile(r"\s|\d+\s*[|│]|[|│]|(?:help|note|hint): |= ")
_CODE = re.compile(r"\d+\s|\s+~")


def _around(lines: Sequence[str], index: int, at_places: frozenset[int]) -> tuple[range, str]:
    """The lines of one finding and, for a row of a list, the line that heads the list."""
    start = index
    if _ARROW.match(lines[index]):
        while (
            start > 0 and index - start < _HIGHEST and lines[start - 1] and not lines[start].startswith(("error", "w"))
        ):
            start -= 1
            if lines[start][0] not in " \t":
                break
    head = _head_of(lines, index) if _ROW.match(lines[index]) else ""
    end = _end_of_message(lines, index, at_places)
    while end < len(lines) and end - start < MAX_LINES and end not in at_places:
        if not lines[end]:
            below = lines[end + 1 : end + 3]
            if len(below) < 2 or not (_CODE.match(below[0]) and _CODE.match(below[1])):
                break
        elif (not _DETAIL.match(lines[end]) and not _CODE.match(lines[end])) or (_ROW.match(lines[end]) and head):
            break
        end += 1
    return range(start, end), head


def _end_of_message(lines: Sequence[str], index: int, at_places: frozenset[int]) -> int:
    """Behind a message that mypy wraps at the left edge, up to the line that ends in its rule."""
    if _WRAPPED.match(lines[index]) and not _LAST_RULE.search(lines[index]):
        for at in range(index + 1, min(index + 5, len(lines))):
            if at in at_places or not lines[at]:
                break
            if _LAST_RULE.search(lines[at]):
                return at + 1
    return index + 1


def _head_of(lines: Sequence[str], index: int) -> str:
    for at in range(index - 1, max(-1, index - 500), -1):
        if heads_rows(lines, at) or (lines[at] and lines[at][0] not in " \t"):
            return lines[at]
    return ""


def _unread(log: Log) -> tuple[ShownFailure, ...]:
    """What stopped an installer; else the first lines that look like an error, and the end of the log."""
    stopped = stopped_installer(log.lines)
    if stopped is not None:
        text = block(log.lines[stopped.lines.start : stopped.lines.stop], stopped.message)
        return (ShownFailure(message=_one_line(stopped.message), block=text),)
    first = next(iter(printed_errors(log).values()), None)
    text = _with_end(first_error_paragraph(log), log.lines)
    if not text:
        return ()
    place = next(iter(placed_findings(log.places, log.lines)), _NO_PLACE)
    message = first.text if first is not None else ""
    return (ShownFailure(message=_one_line(message), path=place.path, line=place.line, block=text),)


def _with_end(paragraph: str, lines: Sequence[str]) -> str:
    """The paragraph, and the last lines of the log where they don't stand in it."""
    shown = paragraph.split("\n") if paragraph else []
    texts = [line for line in lines if line]
    last = [line[:_MESSAGE] for line in texts[-_END_LINES:]]
    if shown and last and last[-1] not in shown:
        below = [line for line in last if line not in shown]
        shown = [*shown[: MAX_LINES - len(below) - 1], "[…]", *below]
    return "\n".join(shown)[:MAX_CHARS]
