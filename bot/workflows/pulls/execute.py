"""Executes a check of a pull request once, whole or only some of its tests, on a tree that is set up."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from bot.model import ShellCommand
from bot.model.pulls import FailedOf
from bot.rules.pulls.check_execution import TEST_STAGE
from bot.rules.test_results.suite_result import SuiteResult
from bot.store.runs.pull_runs import PullCheckRow
from bot.workflows.checks.altered_files import run_on_snapshot
from bot.workflows.context import Context
from bot.workflows.pulls.checkouts import Ready, grant_for_head
from bot.workspace.checks.logs import directory
from bot.workspace.checks.named_tests import asking
from bot.workspace.checks.single_tests import command_for_tests, run_single_tests
from bot.workspace.checks.step import StepRun, run_step
from bot.workspace.sandbox.bubblewrap import SandboxGrant


@dataclass(frozen=True, slots=True)
class Executed:
    """An execution of a check, and the tests that it ran, where its runner names or counts them."""

    run: StepRun
    suite: SuiteResult | None = None

    @property
    def failed_of(self) -> FailedOf | None:
        """How many tests failed, of how many that ran; None where none ran, or nothing counts them."""
        counts = self.suite.counts if self.suite is not None else None
        counts = counts or self.run.step.test_counts
        return FailedOf(failed=counts.failed, ran=counts.ran) if counts.ran else None


@dataclass(frozen=True, slots=True)
class ExecutedTests:
    """An execution of some tests: those that failed, and those that did not run, by the identity of their failure."""

    run: StepRun
    failed: tuple[str, ...]
    absent: tuple[str, ...]


async def execute(context: Context, row: PullCheckRow, command: ShellCommand, ready: Ready, name: str) -> Executed:
    """Execute a whole check. One that runs tests is asked to list them; where that disturbs it, it runs without."""

    async def run(grant: SandboxGrant) -> StepRun:
        return await _run(context, command, ready, name, grant)

    grant = grant_for_head(context, row)
    if name != TEST_STAGE:
        return Executed(await run(grant))
    async with asking(directory(context.settings.home, row.id)) as asked:
        ended = await run(asked.granted(grant))
        if asked.disturbed(ended.log.decode("utf-8", "replace")):
            return Executed(await run(grant))
        return Executed(ended, await asyncio.to_thread(asked.answer, ended, context.mask))


async def execute_tests(
    context: Context,
    row: PullCheckRow,
    command: ShellCommand,
    ready: Ready,
    names: Mapping[str, str],
    *,
    granted: Callable[[SandboxGrant], SandboxGrant] = lambda grant: grant,
) -> ExecutedTests | None:
    """Execute only the tests of these names, which stand by the identity of their failure. None where the runner cannot
    select them, or where the execution does not show which of them ran. `granted` may add to what the tests get."""
    single = await asyncio.to_thread(command_for_tests, command, tuple(names.values()), ready.tree.path)
    if single is None:
        return None

    async def run(edited: ShellCommand, grant: SandboxGrant) -> StepRun:
        return await _run(context, edited, ready, TEST_STAGE, grant)

    where, grant = directory(context.settings.home, row.id), granted(grant_for_head(context, row))
    ended = await run_single_tests(single, where, grant, run, context.mask)
    if not ended.selected or ended.run.step.cut_short or ended.run.step.could_not_run is not None:
        return None
    failed = tuple(name for name, test in names.items() if ended.outcomes.get(test) == "failed")
    absent = tuple(name for name, test in names.items() if ended.outcomes.get(test) not in ("passed", "failed"))
    return ExecutedTests(ended.run, failed, absent)


async def _run(context: Context, command: ShellCommand, ready: Ready, name: str, grant: SandboxGrant) -> StepRun:
    async def run() -> StepRun:
        return await run_step(name, command, ready.tree.path, context.sandbox, grant=grant, mask=context.mask)

    return await run_on_snapshot(ready.tree, ready.snapshot, run, mask=context.mask)
