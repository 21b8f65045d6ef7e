"""Runs one command of a check in the sandbox: a `ValidationStep` with result, classification, annotations and output.

Control characters and secrets are removed from the output before anything else reads it (T35, T38)."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from bot.model import (
    Annotation,
    Classification,
    CouldNotRun,
    NeededSetup,
    ShellCommand,
    ShownFailure,
    SuiteCounts,
    ValidationStep,
)
from bot.proc import ProcResult
from bot.reports.format.truncate import cut_around, cut_middle, one_line, strip_control
from bot.reports.locale.catalog import gigabytes, t
from bot.reports.locale.reasons import english
from bot.reports.runs.missing_setup import setup_sentence
from bot.rules.failures.errors import classify
from bot.rules.failures.junit import Unreadable
from bot.rules.parsed_output import ParsedOutput, parse_output, warnings_if
from bot.rules.reasons import make_reason
from bot.rules.test_results.could_not_run import could_not_run
from bot.rules.test_results.suite_result import SuiteResult
from bot.workspace.checks.report_files import ParsedReport, ReportFile
from bot.workspace.files.nofollow import read_or_none
from bot.workspace.files.tree_digest import Walk
from bot.workspace.sandbox.bubblewrap import SandboxGrant
from bot.workspace.sandbox.sandbox import Sandbox
from bot.workspace.setup.missing_setup import needed_setup

OUTPUT_LIMIT = 5_000
"""Characters of a failure's output (spec A, Output)."""

MAX_SHOWN = 20
"""Failures that a step holds of all that its log shows."""

_SUMMARY_LINES = 3
_SUMMARY_LIMIT = 500
_MAX_NAMES = 200_000
"""Names of a tree that are searched for a file that a tool printed without its directory."""

_ENVIRONMENT: Mapping[str, str] = {"PYTHONDONTWRITEBYTECODE": "1"}
"""Python reuses compiled code if the source has the same size and second (PEP 552), and a bot edits faster than that.
Without compiled files the check runs the current code."""


@dataclass(frozen=True, slots=True)
class StepRun:
    """A command that has run: its step, its log as UTF-8 without secrets and ANSI, the parsed log, and the tests of its
    report."""

    step: ValidationStep
    log: bytes = b""
    parsed: ParsedOutput = field(default_factory=ParsedOutput)
    reported_tests: SuiteResult = field(default_factory=SuiteResult)


async def run_step(
    stage: str, command: ShellCommand, tree: Path, sandbox: Sandbox, *, grant: SandboxGrant, mask: Callable[[str], str]
) -> StepRun:
    """Runs `command` in `tree` (absolute).

    A success has a short summary as output, a failure at most 5,000 characters: head and tail, with the cut marked.
    A limit of time or memory, a missing program or a signal is a failed step of class `runtime`. A command that could
    not check anything has `could_not_run`. A detected command of a project that is not set up is not started.
    Annotations come from the report that the command writes, else from its output, which ends with the reason if a
    report could not be used. Flaky is decided by the caller, who runs the check twice. Raises UserError if the sandbox
    runs nothing."""
    needed = await asyncio.to_thread(needed_setup, tree, command, sandbox.provides) if command.needs else None
    if needed is not None:
        return _not_set_up(stage, command, needed, mask)
    report = ReportFile.before_the_run(tree, command.report)
    result = await sandbox.run(command, tree, grant=replace(grant, env={**_ENVIRONMENT, **grant.env}))
    ended = _Ended(stage, command, tree, result, report)
    # never on the event loop: even a short log may name hundreds of large files
    return await asyncio.to_thread(_digest, ended, mask)


def _not_set_up(stage: str, command: ShellCommand, needed: NeededSetup, mask: Callable[[str], str]) -> StepRun:
    """The result of a command that was not started, because its project is not set up."""
    message = mask(setup_sentence(needed, "en"))
    step = ValidationStep(
        command=mask(command.text),
        stage=stage,
        passed=False,
        could_not_run=CouldNotRun(hindrance="not_set_up", setup=needed),
        output=message,
        classification="runtime",
    )
    return StepRun(step, message.encode(), parse_output(message, stage))


@dataclass(frozen=True, slots=True)
class _Ended:
    """A command that has run, its result, and the report that it should have written."""

    stage: str
    command: ShellCommand
    tree: Path
    result: ProcResult
    report: ReportFile | None


def _digest(ended: _Ended, mask: Callable[[str], str]) -> StepRun:
    stage, command, result = ended.stage, ended.command, ended.result
    log = mask(strip_control(result.output.decode("utf-8", "replace")))
    note = mask(_note(command, result))
    passed = result.exit_code == 0 and not note
    parsed = parse_output(log, stage, str(ended.tree), passed=passed, note=note)
    unable = None if passed or result.ended_by_us else _unable(ended, log, mask)
    report = ended.report.parse(stage, mask) if ended.report is not None else None
    found, about_report = _places(ended, passed, parsed, report, mask)
    notes = "\n\n".join(filter(None, (note, about_report)))
    shown = () if passed else _shown(ended, parsed.failures, note)
    step = ValidationStep(
        command=mask(command.text),
        stage=stage,
        passed=passed,
        exit_code=result.exit_code,
        timed_out=result.timed_out,
        over_memory_mb=result.over_memory_mb,
        duration_ms=result.duration_ms,
        output=_evidence(_summary(log) if passed else log, notes, shown[0].block if shown else ""),
        classification=None if passed else "runtime" if unable else _kind(stage, result, log),
        annotations=found,
        could_not_run=unable,
        failures=shown[:MAX_SHOWN],
        failure_count=len(shown),
        listed_files=parsed.listed_files,
        test_counts=parsed.tests.counts if stage == "test" else SuiteCounts(),
    )
    whole = "\n".join(part for part in (log, notes) if part).encode("utf-8", "replace")
    return StepRun(step, whole, parsed, report.tests if isinstance(report, ParsedReport) else SuiteResult())


def _unable(ended: _Ended, log: str, mask: Callable[[str], str]) -> CouldNotRun | None:
    result = ended.result
    found = could_not_run(ended.command.text, result.exit_code, log, spawn_error=result.spawn_error)
    if found is None:
        return None
    return found.model_copy(update={"what": mask(one_line(found.what).removeprefix(f"{ended.tree}/"))})


def _places(
    ended: _Ended,
    passed: bool,
    parsed: ParsedOutput,
    report: ParsedReport | Unreadable | None,
    mask: Callable[[str], str],
) -> tuple[tuple[Annotation, ...], str]:
    """The annotations, and why they do not come from the report, if there should have been one."""
    about = ""
    if isinstance(report, ParsedReport):
        found = _placed(warnings_if(passed, ended.stage, report.annotations), ended.tree, ended.command.directory)
        if found or passed:
            return found, ""
        report = Unreadable(make_reason("report.no_place"))
    if report is not None and ended.report is not None:
        name = mask(one_line(ended.report.path))
        about = t("en", "check_log.report", name=name, why=mask(english(report.reason)))
    return _placed(parsed.annotations, ended.tree, ended.command.directory), about


def _kind(stage: str, result: ProcResult, log: str) -> Classification:
    return classify(stage, result.exit_code, result.ended_by_us or result.spawn_error is not None, log)


def _note(command: ShellCommand, result: ProcResult) -> str:
    """Why the command did not start or was stopped; empty for a command that ended by itself."""
    if result.spawn_error is not None:
        return t("en", "check_log.not_started", command=command.text, error=result.spawn_error)
    if result.timed_out:
        return t("en", "check_log.timed_out", command=command.text, seconds=f"{command.timeout_s:g}")
    if result.overflowed:
        return t("en", "check_log.overflowed", command=command.text)
    if result.over_memory_mb:
        return t("en", "check_log.over_memory", command=command.text, memory=gigabytes(result.over_memory_mb))
    return ""


def _summary(log: str) -> str:
    """The last lines of a success, where tools print their summary."""
    lines = [line.strip() for line in log.splitlines() if line.strip()]
    return cut_middle("\n".join(lines[-_SUMMARY_LINES:]), _SUMMARY_LIMIT) or t("en", "check_log.silent")


def _evidence(log: str, note: str, block: str) -> str:
    """Head and tail of the log, with the first failure between them if it would have been cut."""
    log = log.strip("\n")
    if not note:
        return cut_around(log, block, OUTPUT_LIMIT)
    note = cut_middle(note, _SUMMARY_LIMIT)
    return f"{cut_around(log, block, OUTPUT_LIMIT - len(note) - 2)}\n\n{note}".strip("\n")


def _shown(ended: _Ended, found: Sequence[ShownFailure], note: str) -> tuple[ShownFailure, ...]:
    """The failures of the whole log, at places that are in the tree. A command that was ended has printed what is wrong
    only where a test or a place is named: else that it was ended is the failure, below the last that it printed."""
    if note and not any(one.name or one.path for one in found):
        block = found[0].block if found else ""
        return (ShownFailure(message=note, block=f"{block}\n\n{note}".strip()),)
    places = _Places(ended.tree, ended.command.directory)
    shown = []
    for failure in found:
        path = places.path(failure.path) if failure.path else ""
        length = places.length(path) if path else None
        if length is None:
            path, line = "", 0
        else:
            line = min(failure.line, length)
        shown.append(failure.model_copy(update={"path": path, "line": line}))
    return tuple(shown)


def _placed(found: tuple[Annotation, ...], tree: Path, directory: str) -> tuple[Annotation, ...]:
    """Only places that are there: the path a file of the tree, the lines within it (T40)."""
    places = _Places(tree, directory)
    placed = []
    for item in found:
        path = places.path(item.path)
        length = places.length(path)
        if length is not None:
            start, end = min(item.start_line, length), min(item.end_line, length)
            placed.append(item.model_copy(update={"path": path, "start_line": start, "end_line": end}))
    return tuple(placed)


class _Places:
    """Which file of the tree a tool means. Tools name files from where they run, `directory`, or from the tree; those
    that name a file without its directory (`go test` does) mean the one file of that name, if there is one."""

    def __init__(self, tree: Path, directory: str) -> None:
        self._tree, self._directory = tree, directory
        self._lengths = LineCounts(tree)
        self._names: dict[str, list[str]] | None = None

    def path(self, path: str) -> str:
        nearer = f"{self._directory}/{path}" if self._directory else path
        path = nearer if self.length(nearer) is not None else path
        if self.length(path) is None and "/" not in path:
            self._names = _by_base_name(self._tree) if self._names is None else self._names
            same = self._names.get(path, [])
            return same[0] if len(same) == 1 else path
        return path

    def length(self, path: str) -> int | None:
        """How many lines the file has; None where there is none."""
        return self._lengths.of(path)


def _by_base_name(tree: Path) -> dict[str, list[str]]:
    names: dict[str, list[str]] = {}
    for path in Walk(tree, limit=_MAX_NAMES):
        names.setdefault(path.rpartition("/")[2], []).append(path)
    return names


MAX_FILE_BYTES = 16_000_000
"""Of one file; a larger one is none that people write."""
MAX_BYTES = 64_000_000
"""Of all the files of one log."""
MAX_FILES = 2_000


class LineCounts:
    """Asked for the files of one log, each is read once; what is past the bounds counts as not there."""

    def __init__(self, tree: Path) -> None:
        self._tree = tree
        self._known: dict[str, int | None] = {}
        self._left = MAX_BYTES

    def of(self, path: str) -> int | None:
        """Lines of the file, at least 1; None where there is no such file in the tree, or none that may be read."""
        if path not in self._known:
            self._known[path] = self._count(path) if len(self._known) < MAX_FILES else None
        return self._known[path]

    def _count(self, path: str) -> int | None:
        content = read_or_none(self._tree, path, limit=min(self._left, MAX_FILE_BYTES))
        if content is None:
            return None
        self._left -= len(content)
        return max(1, content.count(b"\n") + (not content.endswith(b"\n")))
