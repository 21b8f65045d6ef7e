"""Measures whether failing tests execute a line that the pull request changes: evidence that needs one more run."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

from bot.model import ShellCommand
from bot.model.events.pull_checks import PullReachMeasured
from bot.model.reasons import Reason
from bot.rules.pulls.check_state import MeasureReach, PullCheckState
from bot.rules.reach.reach import ChangedCode, Reach, changed_code
from bot.rules.reasons import make_reason
from bot.store.runs.pull_runs import PullCheckRow
from bot.workflows.context import Context
from bot.workflows.pulls.checkouts import Ready, ready_tree
from bot.workflows.pulls.execute import execute_tests
from bot.workflows.tampering import file_texts
from bot.workspace.checks.logs import directory
from bot.workspace.checks.reach import measuring
from bot.workspace.git.diff import changed

_MAX_SINGLE = 5
"""Tests that are measured one by one, where all of them together execute changed lines."""


async def measure_reach(context: Context, row: PullCheckRow, state: PullCheckState, action: MeasureReach) -> None:
    """Run the failing tests alone with the probes, and record which of them execute changed lines.

    Together they may show that none does. Where they execute some, each runs by itself, as far as there are few."""
    stage, names = state.stages[action.index], state.ran[action.index].tests
    assert stage.command is not None
    tests = {name: names[name] for name in action.tests if name in names}
    mirror = context.mirror(row.spec.repo)
    paths = [change.path for change in await changed(mirror, state.base_sha, row.spec.head_sha)]
    files = await file_texts(mirror, state.base_sha, row.spec.head_sha, paths)
    code = await asyncio.to_thread(changed_code, files)
    reached: dict[str, bool] = {}
    unused: Reason | None = None
    if isinstance(code, Reason):
        unused = code
    elif tests:
        ready = await ready_tree(context, row, state, "head")
        whole = await _measured(context, row, stage.command, ready, (code, tests))
        unused = whole.not_used
        if whole.excuses:
            reached = dict.fromkeys(tests, False)
        elif unused is None and len(tests) == 1:
            reached = dict.fromkeys(tests, True)
        elif unused is None and len(tests) <= _MAX_SINGLE:
            for name in tests:
                ready = await ready_tree(context, row, state, "head")
                one = await _measured(context, row, stage.command, ready, (code, {name: tests[name]}))
                unused = unused or one.not_used
                reached |= {} if one.not_used is not None else {name: bool(one.executed)}
    measured = PullReachMeasured(index=action.index, reached=reached, unused=unused)
    await context.stores.pulls.append(row.id, [measured])


async def _measured(
    context: Context,
    row: PullCheckRow,
    command: ShellCommand,
    ready: Ready,
    asked: tuple[tuple[ChangedCode, ...], Mapping[str, str]],
) -> Reach:
    """What a run of these tests executes of the changed code. It shows nothing unless every test ran."""
    code, tests = asked
    async with measuring(directory(context.settings.home, row.id), ready.tree.path, code) as probes:
        ended = await execute_tests(context, row, command, ready, tests, granted=probes.granted)
        if ended is None or ended.absent:
            return Reach(not_used=make_reason("reach.not_alone"))
        return await probes.answer(ended.run)
