"""Reads a failed check: its kind, its errors as fingerprints, and the block to read first. Only the exit code and
the log are needed, so a stored log can be read again (REQ-RUN-005, REQ-RA-310)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import NamedTuple

from bot.model import Classification
from bot.rules.failures.echoed_source import Echoes, is_framed
from bot.rules.failures.findings import heads_rows
from bot.rules.failures.log import Log, read_log
from bot.rules.failures.log_lines import plain
from bot.rules.failures.normalize import normalize_error, test_error
from bot.rules.failures.problem_matchers import hints_at_place
from bot.rules.failures.warning_lines import graded
from bot.rules.test_runners.failed_tests import FailedTest

MAX_FINGERPRINTS = 200
_MAX_LINES = 2_000
"""The limit of error lines that are normalised of one log; a longer log repeats itself."""

_BY_STAGE: dict[str, Classification] = {"lint": "lint", "typecheck": "type", "test": "test"}
_SIGNALLED = frozenset(128 + number for number in (1, 2, 3, 4, 6, 7, 8, 9, 11, 13, 14, 15, 24, 25, 31))
"""What a shell exits with when a signal ended its command (POSIX, Shell Command Language 2.8.2)."""

_LOOKED_AT = 200_000
_PATTERNS: tuple[tuple[str, Classification], ...] = (
    (r"\berror TS\d{4}\b|^[^\s:]+\.pyi?:\d+(?::\d+)?: error: |[:-] error: .+\(report\w+\)$|^error\[E0\d{3}\]", "type"),
    (r"^\S+:\d+:\d+: [A-Z]{1,4}\d{3,4} |^[A-Z]{1,4}\d{3,4} .+\n +--> |^[ \t]+\d+:\d+ +(?:error|warning) ", "lint"),
    (r"^✖ \d+ problems?|^[Ww]ould reformat|Code style issues found|^\S+:\d+:\d+: [CRWEF]\d{4}: ", "lint"),
    (
        r"^FAILED \S+|^=+ .*\b\d+ (?:failed|errors?)\b|^[ \t]*Tests:? +.*\d+ failed|^--- FAIL: |^test result: FAILED",
        "test",
    ),
    (
        r"^[ \t]+● |^not ok \d+|^FAILED \((?:failures|errors)=|^[ \t]+\d+ failing$|AssertionError\b|^. fail [1-9]",
        "test",
    ),
    (
        r"^Traceback \(most recent call last\)|^panic: |^Segmentation fault|: (?:command )?not found$|core dumped",
        "runtime",
    ),
    (
        r"^[ \t]*(?:Uncaught )?\w*(?:Error|Exception): |Cannot find module|No such file or directory|out of memory",
        "runtime",
    ),
)
_BY_OUTPUT = tuple((re.compile(pattern, re.MULTILINE), kind) for pattern, kind in _PATTERNS)


def classify(stage: str, exit_code: int | None, timed_out: bool, output: str) -> Classification:
    """The kind of a failure: `runtime` where the command didn't get to its own verdict, else by stage, else by output.

    Not its own verdict: never started (no exit code, or a shell's 126 and 127), out of time, ended by a signal.
    Other stages than lint, typecheck and test go by their output; `unknown` where it shows nothing (REQ-RUN-005)."""
    if timed_out or exit_code is None or exit_code < 0 or exit_code in (126, 127) or exit_code in _SIGNALLED:
        return "runtime"
    if stage in _BY_STAGE:
        return _BY_STAGE[stage]
    text = plain(output[:_LOOKED_AT] + "\n" + output[-_LOOKED_AT:] if len(output) > 2 * _LOOKED_AT else output)
    return next((kind for pattern, kind in _BY_OUTPUT if pattern.search(text)), "unknown")


_SIGN_WORDS = (
    *("error", "fail", "fatal", "panic", "exception", "cannot", "undefined", "not found", "no such file"),
    *("permission denied", "segmentation fault", "timed out", "killed", "not ok"),
)
_SIGN = re.compile(
    r"\b(?:[Ee]rror|ERROR|[Ff]atal|FATAL|FAIL|[Ff]ail(?:ed|ure)|FAILED|FAILURE|panic(?:ked)?|Exception)\b"
    r"|\b(?:[Cc]annot|undefined|not found|No such file|[Pp]ermission denied|[Ss]egmentation fault|[Tt]imed out)\b"
    r"|\w(?:Error|Exception)\b|Killed$|^not ok |^E\s{2,}|^\s*(?:[✗✘✖×❌●✕⚠]\s|\d{1,5}\)\s|-->\s|\d+:\d+\s+warning\s)"
    r"|^\s*[\w./\\@+~-]{0,300}\.\w{1,10}(?::\d+(?::\d+)?:?\s|\(\d+,\d+\):)"
)
_PASSED = re.compile(r"^\s*(?:✓|✔|√|ok\b|PASS\b|#)|\bPASSED\b|\.\.\. ok$")
_WRAPPER = re.compile(
    r"^npm (?:ERR!|error|notice)|^Found \d+ errors? in |ELIFECYCLE"
    r"|^make(?:\[\d+\])?: |\*\*\* |^error: (?:script|Recipe|aborting|test failed)"
    r"|[Ee]xit(?:ed with)?(?: code| status)? \d|exited with|could not compile|^For more information|^Some errors have"
    r"|^Traceback |^test result:|^failures:$|^Interrupted|^FAIL$|^nox > |^FAILED$|^BUILD FAILED|^FAILURE: |^info Visit"
    r"|^✖ failing tests|^Failed (?:tests|examples):$|^There (?:was|were) \d+ \w+:$"
    r"|^error: (?:doctest|\d+ targets?) failed"
    r"|^error Command failed|^\s*(?:help|note): |^FAIL\s+\S+\s+[\d.]+s$|A complete log of this run"
    r"|^FAILED \(\w[\w ]*=\d"
)
_SUMMED = re.compile(r"(?:FAILED|ERROR) \S+(?:::| - )")
_ASSERTED = re.compile(r"E\s+(?:File \"|Traceback \(|\+ Exception Group )")
_RAISED = re.compile(r"E\s+(?:\| )?[\w.]*(?:Error|Exception|Group|Warning|Exit|Interrupt)\b")
_MAX_ASSERTED = 300
_SUMMARY_WORDS = """
a an and assertion assertions by checked check code collected collection deselected done due during duration
error errors examples expectations failed failing failure failures fatal feature features file files fixable
found have in is list lists no of ok option out passed passing pending potentially previous problem problems ran
run s ms m scenario scenarios second seconds skipped snapshots source spec specs step steps subtest subtests
suite suites test tests the there time todo total undefined untested warning warnings were with xfailed xpassed
"""
_SUMMARY = frozenset(_SUMMARY_WORDS.split())
_ROW = re.compile(r"^\s+(\d+:\d+)(?:-\d+:\d+)?\s+(?=error|warning)")
_MARKED_ROW = re.compile(r"^\s+[✖⚠×]\s+(\d+:\d+)\s+")
_BULLETS = frozenset("✗✘✖×❌●✕⚠E0123456789")
_NUMBERED = re.compile(r"^(?:(not ok) \d+(?: -)?|\d{1,5}\))\s")


class Printed(NamedTuple):
    """The tool's message for an error, in at most one line, and the failed test of the error; empty for none."""

    text: str
    test: str = ""

    @property
    def whole(self) -> str:
        return f"{self.test}: {self.text}" if self.test and self.text else self.test or self.text


def fingerprints(output: str) -> tuple[str, ...]:
    """The errors of an output that is read for nothing else (`printed_errors`)."""
    return tuple(printed_errors(read_log(output)))


def printed_errors(log: Log) -> dict[str, Printed]:
    """The errors of a log, normalised, in order, each once, at most 200, each with the words that it was made of; empty
    where nothing looks like an error.

    A failed test is one of them, `FAILED name - what is wrong`, however often and in however many lines its runner
    reports it. Summaries (`3 failed, 5 passed`), what wraps a failed command (`npm error …`) and source code are left
    out: they do not show which error it was, and would seem to survive every attempt. Warnings are no errors; only
    where a check names nothing else, those of a tool that judges code are what made it fail."""
    found = log.tests
    tests = _by_error(found.tests)
    messages = {normalize_error(test.message) for test in found.tests if test.message}
    errors = [(test.lines[0].start, mark, Printed(test.message, test.name)) for mark, test in tests.items()]
    warnings: list[tuple[int, str, Printed]] = []
    for count, (index, line) in enumerate(_error_lines(log.lines)):
        if count >= _MAX_LINES or len(errors) >= MAX_FINGERPRINTS + len(tests):
            break
        grade = graded(line)
        if index in found.covered or grade == "runtime_warning":
            continue
        text = _NUMBERED.sub(lambda match: f"{match[1]} - " if match[1] else "", line.strip())
        mark = normalize_error(text)
        if mark.removeprefix("E ") not in messages:  # where a cut took the line that names the test
            (errors if grade == "error" else warnings).append((index, mark, Printed(text)))
    marks: dict[str, Printed] = {}
    for _, mark, printed in sorted(errors, key=lambda error: error[0]) or warnings:
        if mark:
            marks.setdefault(mark, printed)
    return dict(list(marks.items())[:MAX_FINGERPRINTS])


def _by_error(tests: Iterable[FailedTest]) -> dict[str, FailedTest]:
    """Each test by its error; where two have the same, as names are cut, the later ones are counted on."""
    found: dict[str, FailedTest] = {}
    for test in tests:
        mark, same = test_error(test.name, test.message), 1
        while mark in found:
            same += 1
            mark = test_error(f"({same}) {test.name}", test.message)
        found[mark] = test
    return found


def first_error_paragraph(log: Log, max_lines: int = 40) -> str:
    """The first lines a person should read: from the paragraph of the first error to the end of its section.

    At most `max_lines` lines of at most 400 characters; the end of the log where nothing in it looks like an error."""
    lines = [line if len(line) <= 400 else line[:399] + "…" for line in log.lines]
    found = [(index, graded(line)) for index, line in islice(_error_lines(lines), _MAX_LINES)]
    first = next(
        (index for grade in ("error", "warning", "runtime_warning") for index, own in found if own == grade), None
    )
    if first is None:
        return "\n".join([line for line in lines if line][-max_lines:])
    start = first
    while start > 0 and first - start < 8 and lines[start - 1] and not _SECTION.match(lines[start - 1]):
        start -= 1
    end = first + 1
    while end < len(lines) and end - start < max_lines and not _SECTION.match(lines[end]):
        end += 1
    return "\n".join(lines[start : min(end, start + max_lines)]).strip("\n")


_SECTION = re.compile(r"^(?:={4,}|_{4,}|-{10,})|^npm (?:ERR!|error)|^Test Suites?:|^failures:$|^[Ff]ound \d+ ")


def _error_lines(lines: Sequence[str]) -> Iterator[tuple[int, str]]:
    """(index, text) of the lines that name an error; a row gets its file's name in front, an arrow its message."""
    header = ""
    waiting: tuple[int, str] | None = None  # an error that may get its place from an arrow in the next lines
    echoes = Echoes(lines)
    for index, line in enumerate(lines):
        if echoes.hides(index) or not line:
            continue
        if line[0] not in " \t":
            header = line
        elif path := heads_rows(lines, index):
            header = path
            continue
        if not _may_tell(line) or not _SIGN.search(line):
            continue
        if line.lstrip().startswith("-->"):
            above = lines[index - 1].strip() if index else ""
            waiting = None
            if not above.startswith(("note:", "help:")):
                yield index, f"{line.lstrip()[3:].strip()}: {above}"
            continue
        if waiting is not None:
            yield waiting
            waiting = None
        if line.startswith("E  "):
            if not index or not (lines[index - 1].startswith("E  ") or lines[index - 1] == "E"):
                waiting = _asserted(lines, index)
            continue
        if _is_around(line) or echoes.marked(index):
            continue
        row = _ROW.match(line) or _MARKED_ROW.match(line)
        waiting = index, f"{header}:{row[1]} {_mark(row)}{line[row.end() :]}" if row else line
    if waiting is not None:
        yield waiting


def _mark(row: re.Match[str]) -> str:
    """The level of a row that shows it by a mark."""
    return {"⚠": "warning  ", "✖": "error  ", "×": "error  "}.get(row[0].strip()[0], "")


def _asserted(lines: Sequence[str], first: int) -> tuple[int, str]:
    """The message of the `E` lines from there on: the first of them; of a traceback, the error at its end."""
    if _ASSERTED.match(lines[first]):
        for index in range(first + 1, min(len(lines), first + _MAX_ASSERTED)):
            if not lines[index].startswith("E"):
                break
            if _RAISED.match(lines[index]):
                return index, lines[index]
    return first, lines[first]


def _is_around(line: str) -> bool:
    """Whether a line that looks like an error is none: it passed, is code or a frame, or wraps or counts others."""
    if _PASSED.search(line) or is_framed(line) or _is_summary(line):
        return True
    return _WRAPPER.search(line) is not None and not _SUMMED.match(line)


def _may_tell(line: str) -> bool:
    """Whether a line may name an error; a quick test, so that the patterns need not be tried on most lines."""
    text = line.lower()
    return any(word in text for word in _SIGN_WORDS) or hints_at_place(line) or line.lstrip()[:1] in _BULLETS


def _is_summary(line: str) -> bool:
    """Whether a line is made of figures and the words that go with them, and of nothing else."""
    if not any(char.isdigit() for char in line):
        return False
    return all(word.lower() in _SUMMARY for word in re.findall(r"[A-Za-z]+", line))
