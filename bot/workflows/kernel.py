"""The kernel of every job that works from facts: load them, decide the next action, do its one effect, append, publish.

An effect appends its facts itself, under keys, so a crash in between has it done again from the same facts. What
differs from kind to kind stands in a `RunKind`; `bot/workflows/job_table.py` lists them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from typing import Any, Generic, TypeVar

from bot.logs import get_logger, log_fields
from bot.model.jobs import Job, JobName, StepResult
from bot.model.reasons import ExplainedStop, Reason
from bot.rules.reasons import make_reason
from bot.store.runs.job_runs import JobRuns, StateT
from bot.store.runs.rows import JobRow
from bot.workflows.context import Context, Loop, Stores
from bot.workflows.reporting.publisher import Publisher

RowT = TypeVar("RowT", bound=JobRow)
ActionT = TypeVar("ActionT")

log = get_logger()


class NotYet(Exception):
    """The run cannot continue now; it is tried again after `wait_s`."""

    def __init__(self, wait_s: float) -> None:
        super().__init__(wait_s)
        self.wait_s = wait_s


async def _always(*_: object) -> None:
    """Raises nothing: for kinds whose runs are never paused."""


@dataclass(frozen=True, slots=True)
class RunKind(Generic[RowT, StateT, ActionT]):
    """One kind of run. `settle_name` is the job that records the end of one that was asked to stop."""

    name: JobName
    settle_name: JobName
    publisher: Loop
    """The loop that publishes its runs."""
    runs: Callable[[Stores], JobRuns[RowT, Any, StateT]]
    next_action: Callable[[RowT, StateT, datetime], ActionT | None]
    """Pure. None when there is nothing left to do."""
    act: Callable[[Context, RowT, StateT, ActionT], Awaitable[None]]
    """Does the action's effect and appends its facts. Raises NotYet where it has to wait."""
    fail: Callable[[Context, RowT, StateT, ExplainedStop, bool], Awaitable[None]]
    """Records the end for that masked reason; the last argument says whether to clear up, too."""
    settle: Callable[[Context, RowT, StateT], Awaitable[None]]
    """Records the end of a run that was asked to stop."""
    publish: Callable[[Context, RowT], Awaitable[None]]
    """Publishes this version of the run on GitHub."""
    may_go_on: Callable[[Context, RowT, StateT], Awaitable[None]] = _always
    """Raises NotYet where somebody paused the run."""

    def job(self, run_id: str, place: str) -> Job:
        """The job that works on a run; its id is the run's, so a run is worked on once."""
        return Job(kind=self.name, id=f"{self.name}:{run_id}", partition=place, args={"run_id": run_id})

    def settle_job(self, run_id: str, place: str) -> Job:
        """The job that ends a run that was asked to stop."""
        return Job(kind=self.settle_name, id=f"{self.settle_name}:{run_id}", partition=place, args={"run_id": run_id})


AnyKind = RunKind[Any, Any, Any]


async def step_run(context: Context, kind: RunKind[RowT, StateT, ActionT], run_id: str) -> StepResult:
    """Do the run's next effect; done when there is none, or when somebody asked the run to stop."""
    with log_fields(run=run_id):
        return await _step(context, kind, run_id)


async def _step(context: Context, kind: RunKind[RowT, StateT, ActionT], run_id: str) -> StepResult:
    runs = kind.runs(context.stores)
    async with context.control.lock(run_id):
        row = await runs.get(run_id)
        if row is None or row.final or row.cancel_because is not None:
            return StepResult(done=True)
        state = await runs.state(run_id)
        try:
            await kind.may_go_on(context, row, state)
            action = kind.next_action(row, state, datetime.now(UTC))
            if action is None:
                return StepResult(done=True)
            ended = await context.control.interruptibly(run_id, _effect(context, kind, row, state, action), runs)
        except NotYet as error:
            return StepResult(done=False, wait_s=error.wait_s)
        finally:
            context.wake[kind.publisher].set()
        return StepResult(done=not ended)  # a run that was interrupted is the settle job's


async def _effect(
    context: Context, kind: RunKind[RowT, StateT, ActionT], row: RowT, state: StateT, action: ActionT
) -> None:
    await kind.act(context, row, state, action)


async def fail_run(context: Context, kind: AnyKind, run_id: str, stop: ExplainedStop, *, tidy: bool = True) -> None:
    """End a run that can't go on, for that reason. Without `tidy` its trees are left for the cleanup."""
    masked = stop.map_text(context.mask)
    await _end(context, kind, run_id, lambda row, state: kind.fail(context, row, state, masked, tidy))


async def settle_run(context: Context, kind: AnyKind, run_id: str) -> None:
    """End a run that somebody asked to stop; waits until its worker has released it."""
    await _end(context, kind, run_id, lambda row, state: kind.settle(context, row, state))


async def _end(context: Context, kind: AnyKind, run_id: str, end: Callable[[Any, Any], Awaitable[None]]) -> None:
    runs = kind.runs(context.stores)
    async with context.control.lock(run_id):
        row = await runs.get(run_id)
        if row is None or row.final:
            return
        await end(row, await runs.state(run_id))
        context.wake[kind.publisher].set()


async def enqueue_run(context: Context, kind: AnyKind, run_id: str, place: str) -> None:
    """Enqueue the job of a stored run, and publish the run."""
    await context.enqueue(kind.job(run_id, place))
    context.wake[kind.publisher].set()


async def stop_run(context: Context, kind: AnyKind, row: JobRow, because: Reason | ExplainedStop) -> bool:
    """Ask a run to stop and have its end recorded and published once; False where it had ended or was asked before."""
    if not await kind.runs(context.stores).request_cancel(row.id, because):
        return False
    await interrupt_run(context, kind, row)
    return True


async def interrupt_run(context: Context, kind: AnyKind, row: JobRow) -> None:
    """Interrupt a run that was asked to stop, and have its end recorded."""
    context.control.signal(row.id)
    await context.enqueue(kind.settle_job(row.id, row.place))
    context.wake[kind.publisher].set()


async def reconcile_kind(context: Context, kind: AnyKind) -> None:
    """Enqueue the job of every unfinished run that has none, and end the runs whose job was given up."""
    runs = kind.runs(context.stores)
    for row in await runs.unfinished():
        if row.attended:
            continue
        job = (kind.job if row.cancel_because is None else kind.settle_job)(row.id, row.place)
        state = await context.job_state(job.id)
        if state == "unknown":
            await context.enqueue(job)
        elif state == "ended":
            now = await runs.get(row.id)  # it may have ended, or was asked to stop, while we looked
            if now is not None and not now.final and now.cancel_because == row.cancel_because:
                log.warning("run_given_up", run=row.id)
                await fail_run(context, kind, row.id, ExplainedStop.of("gave_up", make_reason("given_up")))


async def publish_loop(context: Context, kind: AnyKind) -> None:
    """Keep GitHub up to date with every run of the kind."""
    publish = partial(kind.publish, context)
    await Publisher(kind.publisher, kind.runs(context.stores), publish, context.wake[kind.publisher]).loop()
