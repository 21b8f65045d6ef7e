"""The kind of run that fixes issues or a pull request: what each of its actions does (`bot/workflows/kernel.py`).

An effect that a crash interrupts is done again from the same facts; each finds what it did before."""

from __future__ import annotations

from typing import assert_never

from bot.model import Status
from bot.model.events.runs import Paused, Resumed
from bot.model.jobs import JobName
from bot.model.reasons import ExplainedStop
from bot.rules.reasons import error_reason, make_reason
from bot.rules.runs.next_action import (
    Action,
    Begin,
    Choose,
    Finish,
    Implement,
    JudgeCandidate,
    Package,
    Prepare,
    Propose,
    Prove,
    Reproduce,
    ReviewAction,
    SetUp,
    Validate,
    next_action,
)
from bot.rules.runs.state import RunState
from bot.store.database.database import now_ms
from bot.store.runs.runs import RunRow
from bot.workflows.context import Context, Loop
from bot.workflows.kernel import NotYet, RunKind
from bot.workflows.reporting.publish_run import publish
from bot.workflows.runs.begin import PathsTaken, begin_run, set_up, slot_wait
from bot.workflows.runs.begin_local import Busy, begin_local
from bot.workflows.runs.finish import SavedWork, finish, finish_cancelled, record_end
from bot.workflows.runs.implement import implement
from bot.workflows.runs.package import package, review
from bot.workflows.runs.plan import prepare
from bot.workflows.runs.prove import prove
from bot.workflows.runs.reproduce import reproduce
from bot.workflows.runs.tournament import choose, judge, propose
from bot.workflows.runs.validate import validate
from bot.workspace.worktree.run_worktree import SlotsFull

PAUSED_WAIT_S = (2.0, 60.0)
TURN_WAIT_S = (1.0, 15.0)
"""The shortest and longest wait of a paused run, and of a run that waits for a slot, files or a tree of another run."""
_PART = 0.05
"""Each wait is that part of the time the run has waited: a wait is a row of the engine's, and a run may wait for
days."""


def _wait_s(row: RunRow, state: RunState, bounds: tuple[float, float]) -> float:
    shortest, longest = bounds
    since_ms = state.paused_at.timestamp() * 1000 if state.paused_at is not None else row.created_at
    return min(max((now_ms() - since_ms) / 1000 * _PART, shortest), longest)


async def _may_go_on(context: Context, row: RunRow, state: RunState) -> None:
    """Raises NotYet while a thread that the run works for is paused; its comment then names who paused it. From when to
    when it stood still is an event each, since that time is not the run's (REQ-STOP-001); before it has begun no time
    counts."""
    runs, begun = context.stores.runs, state.started_at is not None
    for number in row.spec.threads if row.spec.repo is not None else ():
        by = await context.stores.threads.paused(row.spec.on_github, number)
        if by is None:
            continue
        if begun and state.paused_at is None:
            await runs.append(row.id, [Paused(number=number, by=by, after=state.last_event)])
        await runs.wait_for(row.id, make_reason("wait.paused", number=number, by=by))
        raise NotYet(_wait_s(row, state, PAUSED_WAIT_S))
    if state.paused_at is not None:
        await runs.append(row.id, [Resumed(after=state.last_event)])


async def _act(context: Context, row: RunRow, state: RunState, action: Action) -> None:
    """Do the action; where another run holds what it needs, record that and wait."""
    try:
        await _effect(context, row, state, action)
    except (SlotsFull, PathsTaken, Busy) as error:
        what = slot_wait(context, row) if isinstance(error, SlotsFull) else error_reason(error)
        await context.stores.runs.wait_for(row.id, what)
        raise NotYet(_wait_s(row, state, TURN_WAIT_S)) from None


async def _effect(context: Context, row: RunRow, state: RunState, action: Action) -> None:
    match action:
        case Begin():
            await (begin_run if row.spec.workspace is None else begin_local)(context, row)
        case SetUp():
            await set_up(context, row, state)
        case Validate():
            await validate(context, row, state, action)
        case Prepare():
            await prepare(context, row, state)
        case Reproduce():
            await reproduce(context, row, state, action)
        case Prove():
            await prove(context, row, state, action)
        case Implement():
            await implement(context, row, state, action)
        case Propose():
            await propose(context, row, state, action)
        case JudgeCandidate():
            await judge(context, row, state, action)
        case Choose():
            await choose(context, row, state, action)
        case ReviewAction():
            await review(context, row, state)
        case Package():
            await package(context, row, state)
        case Finish():
            await finish(context, row, state, action.status, action.stop)
        case _:
            assert_never(action)


async def _fail(context: Context, row: RunRow, state: RunState, stop: ExplainedStop, tidy: bool) -> None:
    if tidy:
        await finish(context, row, state, Status.FAILED, stop)
    else:
        await record_end(context, row, state, Status.FAILED, stop, SavedWork())


FIX_RUN: RunKind[RunRow, RunState, Action] = RunKind(
    name=JobName.FIX,
    settle_name=JobName.SETTLE,
    publisher=Loop.RUN_REPORTS,
    runs=lambda stores: stores.runs,
    next_action=lambda row, state, now: next_action(row.spec, state, now),
    act=_act,
    fail=_fail,
    settle=finish_cancelled,
    publish=publish,
    may_go_on=_may_go_on,
)
