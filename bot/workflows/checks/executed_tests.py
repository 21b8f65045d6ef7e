"""The tests that a check ran: reported as it runs, stored beside its log, and compared with those before the change
(REQ-STOP-006). `rules.test_results.comparison` decides."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field

from pydantic import ValidationError

from bot.logs import get_logger
from bot.model import ValidationStep
from bot.model.pipeline import PipelineStage, SuiteSummary, WhatRan
from bot.model.reasons import Reason
from bot.rules.failures.errors import Printed
from bot.rules.runs.existing_failures import names_test
from bot.rules.runs.pipeline import CUSTOM
from bot.rules.runs.state import RunState
from bot.rules.tampering.weakened_tests import FileTexts
from bot.rules.test_results.comparison import brought_along, judge_tests, may_be_tests_only
from bot.rules.test_results.suite_result import SuiteResult
from bot.store.runs.runs import RunRow
from bot.workflows.context import Context
from bot.workflows.tampering import file_texts
from bot.workspace.checks.logs import directory, read_log, write_log
from bot.workspace.checks.named_tests import asking
from bot.workspace.checks.step import StepRun
from bot.workspace.git.tree import Tree
from bot.workspace.sandbox.bubblewrap import SandboxGrant

log = get_logger()

Run = Callable[[SandboxGrant], Awaitable[StepRun]]
"""Runs a stage's command with these grants."""


@dataclass(frozen=True, slots=True)
class Executed:
    """A check that has run once: its step, its log, its errors by fingerprint, and the tests that ran."""

    step: ValidationStep
    log: bytes = b""
    errors: Mapping[str, Printed] = field(default_factory=dict)
    suite: SuiteResult | None = None


@dataclass(frozen=True, slots=True)
class Compared:
    """How the tests of a check that passed compare with those before the change, and why the change is refused, if it
    is."""

    what_ran: WhatRan
    refused: Reason | None = None


def runs_tests(stage: PipelineStage) -> bool:
    """Whether a stage may run tests: a linter and a type checker don't."""
    return stage.name in ("test", CUSTOM)


async def execute(
    context: Context, row: RunRow, stage: PipelineStage, tree: Tree, grant: SandboxGrant, run: Run
) -> Executed:
    """Run a stage's command once, with a request to report its tests. Where that request makes it fail, run it again
    without."""
    assert stage.command is not None
    if not runs_tests(stage):
        ended = await run(grant)
        return Executed(ended.step, ended.log, ended.parsed.errors)
    async with asking(directory(context.settings.home, row.id)) as asked:
        ended = await run(asked.granted(grant))
        if asked.disturbed(ended.log.decode("utf-8", "replace")):
            ended = await run(grant)
        suite = await asyncio.to_thread(asked.answer, ended, context.mask)
        return Executed(ended.step, ended.log, ended.parsed.errors, suite)


def save_suite(context: Context, row: RunRow, name: str, suite: SuiteResult) -> SuiteSummary:
    """A summary of a check's tests for its event; the whole list goes to a log beside it."""
    listed = write_log(context.settings.home, row.id, f"{name}.tests.json", suite.model_dump_json().encode())
    return suite.summary(listed)


async def compare(
    context: Context, row: RunRow, state: RunState, tree: Tree, stage: int, executed: Executed
) -> Compared | None:
    """Compare the tests of a stage that passed after an attempt; None where it runs none, or none of its own."""
    seen = next((one for one in state.suites if one.stage == stage), None)
    if seen is None:
        silent = executed.suite is None and _has_better(state, stage)
        return None if silent else Compared("not_before")
    before = load_suite(context, row, seen.log)
    if before is None and executed.suite is None and _has_better(state, stage):
        return None
    if before is not None and seen.attempt:
        before = brought_along(before, await _files(state, tree, seen.snapshot, seen.paths))
    paths = state.changed_paths
    red = seen.red and not seen.attempt
    alone = red and may_be_tests_only(paths)
    files = await _files(state, tree, state.snapshot or "", paths) if alone else ()
    tolerated = _tolerated(row, executed.step)
    found = judge_tests(before, executed.suite, files, red=red, tolerated=tolerated)
    if found.refused is not None and not alone:  # by the texts a test that was only renamed or moved is recognised
        files = await _files(state, tree, state.snapshot or "", paths)
        found = judge_tests(before, executed.suite, files, red=red, tolerated=tolerated)
    return Compared("compared" if found.compared else "unnamed", found.refused)


def _tolerated(row: RunRow, step: ValidationStep) -> Callable[[str], bool]:
    """Which tests may fail after a change as before it: none where all passed; of those that were left alone on the
    base, the ones that the task does not name."""
    if not step.tolerated:
        return lambda _: False
    if row.spec.pull is not None:
        return lambda _: True
    return lambda name: not names_test(row.spec.task, name)


def _has_better(state: RunState, stage: int) -> bool:
    """Whether the stage is a command of any kind beside one that is known to run tests."""
    return state.stages[stage].name == CUSTOM and any(one.name == "test" and one.command for one in state.stages)


async def _files(state: RunState, tree: Tree, snapshot: str, paths: Sequence[str]) -> tuple[FileTexts, ...]:
    """The texts of these files before the first attempt and in a snapshot."""
    assert state.start is not None
    return await file_texts(tree.git_dir, state.start, snapshot, paths)


def load_suite(context: Context, row: RunRow, name: str | None) -> SuiteResult | None:
    """The list of tests in that log of the run (`save_suite`); None where there is none, or it cannot be read."""
    content = read_log(context.settings.home, row.id, name) if name else None
    if content is None:
        return None
    try:
        return SuiteResult.model_validate_json(content)
    except ValidationError as error:
        log.warning("test_list_unreadable", run=row.id, list=name, because=str(error))
        return None
