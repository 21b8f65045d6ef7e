"""The kind of run that checks a pull request's head commit: what each of its actions does (`bot/workflows/kernel.py`).

An action that a crash interrupts is done again from the same facts."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from functools import partial
from itertools import islice
from typing import assert_never

from bot.errors import MendbotError, Refused
from bot.logs import get_logger
from bot.model import CHECK_ORDER, ShellCommand
from bot.model.events.pull_checks import (
    PullBaseChecked,
    PullCheckEvent,
    PullCheckRan,
    PullCheckStarted,
    PullFinished,
    PullSetupCompleted,
    PullSetupFailed,
    PullStarted,
)
from bot.model.jobs import JobName
from bot.model.reasons import ExplainedStop
from bot.reports.locale.reasons import user_error
from bot.rules.failures.errors import Printed
from bot.rules.failures.failure_origin import shown
from bot.rules.pulls.check_state import (
    BeginPull,
    CheckBase,
    FinishPull,
    JudgeCheck,
    PullAction,
    PullCheckState,
    RunCheck,
    SetUpPull,
    next_pull_action,
)
from bot.rules.reasons import make_reason
from bot.store.history.outcomes import BaseResult
from bot.store.runs.pull_runs import PullCheckRow
from bot.workflows.checks.altered_files import run_on_snapshot
from bot.workflows.checks.checks_to_run import default_stages
from bot.workflows.context import Context, Loop
from bot.workflows.git_transfer import transfer
from bot.workflows.kernel import RunKind
from bot.workflows.pulls.checkouts import (
    Ready,
    SetupFailed,
    grant_for_head,
    head_tree,
    plan_of_tree,
    ready_tree,
    remove_trees,
)
from bot.workflows.pulls.publish_checks import publish_pull
from bot.workflows.pulls.record_verdict import judge_check
from bot.workspace.checks.logs import write_log
from bot.workspace.checks.step import StepRun, run_step
from bot.workspace.git.command import GitError
from bot.workspace.git.diff import changed
from bot.workspace.mirror import mirror as mirrors
from bot.workspace.mirror.pull_refs import fetch_head, merge_base

log = get_logger()

_STOPPED = frozenset({"cancelled", "superseded", "withdrawn", "closed", "retargeted", "stale"})
_MAX_RECORDED_PATHS = 50
"""Of these, the ones that are recorded: the setup of the trees uses them, and the look-up in the error history."""
_MAX_PRINTED = 50
_MAX_CHARS = 300
_MAX_PATHS = 200
"""Changed paths by which the project is chosen in a repository of many projects."""


async def _act(context: Context, row: PullCheckRow, state: PullCheckState, action: PullAction) -> None:
    match action:
        case BeginPull():
            await _begin(context, row)
        case SetUpPull():
            await _set_up(context, row, state)
        case RunCheck():
            await _run_check(context, row, state, action.index)
        case CheckBase():
            await _check_base(context, row, state, action.index)
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


async def _run_check(context: Context, row: PullCheckRow, state: PullCheckState, index: int) -> None:
    """Execute a check on the head, once more where it failed: what passes then on the same commit is flaky."""
    stage, pulls = state.stages[index], context.stores.pulls
    assert stage.command is not None
    await pulls.append(row.id, [PullCheckStarted(index=index, stage=stage.name)])
    context.wake[Loop.CHECK_REPORTS].set()
    ready = await ready_tree(context, row, state, "head")
    ended = await _execute(context, row, stage.command, ready, stage.name)
    write_log(context.settings.home, row.id, f"{stage.name}.log", ended.log)
    step, errors = ended.step, ended.parsed.errors
    first = shown(step.passed, errors)
    again: tuple[str, ...] | None = None
    # an exceeded limit or a missing command is never flaky
    if not step.passed and not step.cut_short and step.exit_code is not None and step.could_not_run is None:
        ready = await ready_tree(context, row, state, "head")
        second = await _execute(context, row, stage.command, ready, stage.name)
        write_log(context.settings.home, row.id, f"{stage.name}-again.log", second.log)
        again = shown(second.step.passed, second.parsed.errors)
        errors = {**second.parsed.errors, **errors}
        if second.step.passed:
            step = step.model_copy(update={"flaky": True})
    ran = PullCheckRan(
        classification=step.classification,
        index=index,
        stage=stage.name,
        step=step,
        errors=first,
        rerun_errors=again,
        printed=_printed(errors),
    )
    await pulls.append(row.id, [ran])


async def _check_base(context: Context, row: PullCheckRow, state: PullCheckState, index: int) -> None:
    """Record the result of the same check on the base; a cached one is used, so that each base is checked once.

    An unknown result is not cached: it is tried again when needed next, after a failed setup not before the next
    run."""
    stage, outcomes, repo = state.stages[index], context.stores.outcomes, row.spec.repo.full_name
    assert stage.command is not None
    text = f"{stage.command.directory}\n{stage.command.text}"
    async with context.control.lock(f"base:{repo.lower()}:{state.base_sha}:{stage.name}"):
        known = await outcomes.base(repo, state.base_sha, stage.name, text)
        if known is None:
            unready = "base_setup" if "base_setup" in state.base_unknown.values() else None
            found = unready or await _base_result(context, row, state, stage.name, stage.command)
            if isinstance(found, BaseResult):
                await outcomes.put_base(repo, state.base_sha, stage.name, text, found)
        else:
            found = known
    if isinstance(found, BaseResult):
        checked = PullBaseChecked(index=index, errors=found.errors)
    else:
        checked = PullBaseChecked(index=index, errors=None, because=found)
    await context.stores.pulls.append(row.id, [checked])


async def _base_result(
    context: Context, row: PullCheckRow, state: PullCheckState, name: str, command: ShellCommand
) -> BaseResult | str:
    """The result of the check on the base; where it is unknown, the name of the reason (`pull_check.because.NAME`)."""
    try:
        ready = await ready_tree(context, row, state, "base")
    except Refused:
        return "base_setup"
    if command.directory and not (ready.tree.path / command.directory).is_dir():
        return "base_absent"
    ended = await _execute(context, row, command, ready, name)
    write_log(context.settings.home, row.id, f"{name}-base.log", ended.log)
    step = ended.step
    if step.passed:
        return BaseResult(passed=True)
    if step.could_not_run is not None:
        return "base_not_run"
    if step.exit_code is None and not step.cut_short:
        return "base_unknown"
    return BaseResult(passed=False, errors=shown(False, ended.parsed.errors))


async def _execute(context: Context, row: PullCheckRow, command: ShellCommand, ready: Ready, name: str) -> StepRun:
    path, grant = ready.tree.path, grant_for_head(context, row)

    async def run() -> StepRun:
        return await run_step(name, command, path, context.sandbox, grant=grant, mask=context.mask)

    return await run_on_snapshot(ready.tree, ready.snapshot, run, mask=context.mask)


def _printed(errors: Mapping[str, Printed]) -> dict[str, tuple[str, str]]:
    """The tool's own text of the errors: as many as a report lists, and as much of each as it shows."""
    return {
        error: (text[:_MAX_CHARS], test[:_MAX_CHARS]) for error, (text, test) in islice(errors.items(), _MAX_PRINTED)
    }


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
