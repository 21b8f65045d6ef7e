"""The fix loop as a durable job: `step_run` loads the facts, lets the rules decide, does one effect, is called again.

An effect that is interrupted by a crash is done again from the same facts; each finds what it did before."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import assert_never

from bot.model import Status, StopReason
from bot.model.jobs import Job, StepResult
from bot.model.reasons import ExplainedStop
from bot.model.run_events import Paused, Resumed
from bot.rules.reasons import make_reason, parse_reason
from bot.rules.runs.next_action import (
    Action,
    Begin,
    Finish,
    Implement,
    Nothing,
    Package,
    Prepare,
    ReviewAction,
    SetUp,
    Validate,
    next_action,
)
from bot.rules.runs.spec import RunSpec
from bot.rules.runs.state import RunState
from bot.store.database.database import now_ms
from bot.store.runs.runs import RunRow
from bot.workflows.context import Context
from bot.workflows.runs.begin import PathsTaken, begin_run, set_up, slot_wait
from bot.workflows.runs.begin_local import Busy, begin_local
from bot.workflows.runs.finish import Salvage, finish, record_end
from bot.workflows.runs.implement import implement
from bot.workflows.runs.package import package, review
from bot.workflows.runs.plan import prepare
from bot.workflows.runs.validate import validate
from bot.workspace.worktree.run_worktree import SlotsFull

PAUSED_WAIT_S = (2.0, 60.0)
TURN_WAIT_S = (1.0, 15.0)
"""How long a run waits, at least and at most, before it asks again whether it may go on, and before it asks again for a
slot, for files or for a tree that another run holds."""
_PART = 0.05
"""It waits for that part of the time it has waited: each question is a row of the engine's, and it may ask for days."""


def fix_job(run_id: str, spec: RunSpec) -> Job:
    """The job that works on a run; its id is the run's, so a run is worked on once."""
    return Job(kind="fix", id=f"fix:{run_id}", partition=spec.place, args={"run_id": run_id})


async def step_run(context: Context, run_id: str) -> StepResult:
    """Do the run's next effect; done when there is none, or when somebody asked the run to stop."""
    async with context.control.lock(run_id):
        row = await context.stores.runs.get(run_id)
        if row is None or row.status.final or row.cancel_because is not None:
            return StepResult(done=True)
        state = await context.stores.runs.state(run_id)
        if await _paused(context, row, state):
            return StepResult(done=False, wait_s=_wait_s(row, state, PAUSED_WAIT_S))
        action = next_action(row.spec, state, datetime.now(UTC))
        if isinstance(action, Nothing):
            return StepResult(done=True)
        try:
            ended = await context.control.interruptibly(run_id, _act(context, row, state, action))
        except (SlotsFull, PathsTaken, Busy) as error:
            what = slot_wait(context, row) if isinstance(error, SlotsFull) else str(error)
            await context.stores.runs.wait_for(run_id, what)
            return StepResult(done=False, wait_s=_wait_s(row, state, TURN_WAIT_S))
        finally:
            context.wake["report"].set()
        return StepResult(done=not ended)  # a run that was interrupted is the settle job's


def _wait_s(row: RunRow, state: RunState, bounds: tuple[float, float]) -> float:
    least, most = bounds
    since_ms = state.paused_at.timestamp() * 1000 if state.paused_at is not None else row.created_at
    return min(max((now_ms() - since_ms) / 1000 * _PART, least), most)


async def _paused(context: Context, row: RunRow, state: RunState) -> bool:
    """Whether somebody paused a thread that the run works for; its comment then says who. From when to when it stood
    still is an event each, since that time is not the run's (REQ-STOP-001); before it has begun no time counts."""
    runs, begun = context.stores.runs, state.started_at is not None
    for number in row.spec.threads if row.spec.repo is not None else ():
        by = await context.stores.threads.paused(row.spec.on_github, number)
        if by is None:
            continue
        if begun and state.paused_at is None:
            await runs.append(row.id, [Paused(number=number, by=by, after=state.last_event)])
        await runs.wait_for(row.id, make_reason("wait.paused", number=number, by=by).text)
        context.wake["report"].set()
        return True
    if state.paused_at is not None:
        await runs.append(row.id, [Resumed(after=state.last_event)])
    return False


async def _act(context: Context, row: RunRow, state: RunState, action: Action) -> None:
    match action:
        case Begin():
            await (begin_run if row.spec.workspace is None else begin_local)(context, row)
        case SetUp():
            await set_up(context, row, state)
        case Validate():
            await validate(context, row, state, action)
        case Prepare():
            await prepare(context, row, state)
        case Implement():
            await implement(context, row, state, action)
        case ReviewAction():
            await review(context, row, state)
        case Package():
            await package(context, row, state)
        case Finish():
            await finish(context, row, state, action.status, action.stop)
        case Nothing():
            return
        case _:
            assert_never(action)


async def fail_run(context: Context, run_id: str, stop: StopReason, *, tidy: bool = True) -> None:
    """End a run that can't go on, for that reason. Without `tidy` its worktree is left for the janitor."""
    async with context.control.lock(run_id):
        row = await context.stores.runs.get(run_id)
        if row is None or row.status.final:
            return
        state = await context.stores.runs.state(run_id)
        words = parse_reason(stop.details) if type(stop) is StopReason else None
        given = ExplainedStop(reason=stop.reason, details=stop.details, said=words) if words else stop
        masked_stop = given.model_copy(update={"details": context.mask(stop.details)})
        if tidy:
            await finish(context, row, state, Status.FAILED, masked_stop)
        else:
            await record_end(context, row, state, Status.FAILED, masked_stop, Salvage())
        context.wake["report"].set()
