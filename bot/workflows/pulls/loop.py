"""The kind of run that checks a pull request's head commit: what each of its actions does (`bot/workflows/kernel.py`).

An action that a crash interrupts is done again from the same facts."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import assert_never

from bot.errors import MendbotError
from bot.logs import get_logger
from bot.model import CHECK_ORDER
from bot.model.events.pull_checks import (
    PullCheckEvent,
    PullFinished,
    PullSetupCompleted,
    PullSetupFailed,
    PullStarted,
)
from bot.model.jobs import JobName
from bot.model.reasons import ExplainedStop
from bot.reports.locale.reasons import user_error
from bot.rules.pulls.check_state import (
    BeginPull,
    CheckBase,
    FinishPull,
    JudgeCheck,
    MeasureReach,
    PullAction,
    PullCheckState,
    RunCheck,
    RunTests,
    SetUpPull,
    next_pull_action,
)
from bot.rules.reasons import make_reason
from bot.store.runs.pull_runs import PullCheckRow
from bot.workflows.checks.checks_to_run import default_stages
from bot.workflows.context import Context, Loop
from bot.workflows.git_transfer import transfer
from bot.workflows.kernel import RunKind
from bot.workflows.pulls.checkouts import (
    SetupFailed,
    head_tree,
    plan_of_tree,
    ready_tree,
    remove_trees,
)
from bot.workflows.pulls.measure_reach import measure_reach
from bot.workflows.pulls.publish_checks import publish_pull
from bot.workflows.pulls.record_verdict import judge_check
from bot.workflows.pulls.run_checks import check_base, run_check, run_tests
from bot.workspace.git.command import GitError
from bot.workspace.git.diff import changed
from bot.workspace.mirror import mirror as mirrors
from bot.workspace.mirror.pull_refs import fetch_head, merge_base

log = get_logger()

_STOPPED = frozenset({"cancelled", "superseded", "withdrawn", "closed", "retargeted", "stale"})
_MAX_RECORDED_PATHS = 50
"""Of these, the ones that are recorded: the setup of the trees uses them, and the look-up in the error history."""
_MAX_PATHS = 200
"""Changed paths by which the project is chosen in a repository of many projects."""


async def _act(context: Context, row: PullCheckRow, state: PullCheckState, action: PullAction) -> None:
    match action:
        case BeginPull():
            await _begin(context, row)
        case SetUpPull():
            await _set_up(context, row, state)
        case RunCheck():
            await run_check(context, row, state, action.index)
        case CheckBase():
            await check_base(context, row, state, action.index)
        case RunTests():
            await run_tests(context, row, state, action)
        case MeasureReach():
            await measure_reach(context, row, state, action)
        case JudgeCheck():
            await judge_check(context, row, state, action.index)
        case FinishPull():
            await finish_pull(context, row, None)
        case _:
            assert_never(action)


async def _begin(context: Context, row: PullCheckRow) -> None:
    """Fetch the head by its id, find the merge base, and choose the checks."""
    spec = row.spec
    mirror = context.mirror(spec.repo)
    await mirrors.ensure_mirror(mirror)
    await transfer(context, spec.repo, partial(mirrors.fetch, mirror), write=False)
    await transfer(context, spec.repo, partial(fetch_head, mirror, spec.number, spec.head_sha), write=False)
    base = spec.base_sha or await merge_base(mirror, f"refs/remotes/origin/{spec.base_ref}", spec.head_sha)
    if base is None:
        raise user_error(make_reason("checks.no_merge_base", branch=spec.base_ref))
    tree = await head_tree(context, row)
    near = tuple(item.path for item in (await changed(mirror, base, spec.head_sha))[:_MAX_PATHS])
    stages = default_stages(spec.policy, tree.path, near, names=CHECK_ORDER)
    plan = await asyncio.to_thread(plan_of_tree, row, tree.path, near[:_MAX_RECORDED_PATHS])
    started = PullStarted(
        base_sha=base,
        sandbox=context.sandbox.description,
        changed_paths=near[:_MAX_RECORDED_PATHS],
        stages=stages,
        to_set_up=bool(plan.steps),
    )
    await context.stores.pulls.append(row.id, [started])


async def _set_up(context: Context, row: PullCheckRow, state: PullCheckState) -> None:
    """Set the head up; its checks are chosen after that, with what was installed."""
    try:
        ready = await ready_tree(context, row, state, "head")
        stages = default_stages(row.spec.policy, ready.tree.path, state.changed_paths, names=CHECK_ORDER)
        ended: PullCheckEvent = PullSetupCompleted(steps=ready.setup, stages=stages)
    except SetupFailed as error:
        details, code = error.details, error.exit_code
        ended = PullSetupFailed(details=details, exit_code=code, duration_ms=error.duration_ms)
    await context.stores.pulls.append(row.id, [ended])


async def finish_pull(context: Context, row: PullCheckRow, stop: ExplainedStop | None, *, tidy: bool = True) -> None:
    """Record the end: `done`, or `cancelled` for that reason; then free the trees, which may take long. A crash or a
    fault in between leaves them to the cleanup."""
    cancelled = stop is not None and stop.reason in _STOPPED
    await context.stores.pulls.append(row.id, [PullFinished(status="cancelled" if cancelled else "done", stop=stop)])
    context.wake[Loop.CHECK_REPORTS].set()
    if tidy:
        try:
            await remove_trees(context, row)
        except (MendbotError, GitError, OSError) as error:
            log.warning("trees_left", run=row.id, because=str(error))


async def _settle(context: Context, row: PullCheckRow, _state: PullCheckState) -> None:
    await finish_pull(context, row, row.cancel_because)


async def _fail(context: Context, row: PullCheckRow, _: PullCheckState, stop: ExplainedStop, tidy: bool) -> None:
    await finish_pull(context, row, stop, tidy=tidy)


PULL_CHECK: RunKind[PullCheckRow, PullCheckState, PullAction] = RunKind(
    name=JobName.PULL,
    settle_name=JobName.SETTLE_PULL,
    publisher=Loop.CHECK_REPORTS,
    runs=lambda stores: stores.pulls,
    next_action=lambda row, state, _: next_pull_action(row.spec, state),
    act=_act,
    fail=_fail,
    settle=_settle,
    publish=publish_pull,
)
