"""Every kind of job as a literal table: its queue, its step, and what ends it where it cannot go on.

A kind that works from facts is a `RunKind` and has two rows: one works on a run, one ends a run that was asked to
stop."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Literal

from bot.model.jobs import JobArgs, JobName, StepResult
from bot.model.reasons import ExplainedStop
from bot.workflows.commands.execute import execute, fail_command
from bot.workflows.context import Context
from bot.workflows.installations.onboard import onboard
from bot.workflows.kernel import AnyKind, fail_run, settle_run, step_run
from bot.workflows.pulls.loop import PULL_CHECK
from bot.workflows.pulls.open_pulls import sync_open_pulls
from bot.workflows.runs.loop import FIX_RUN

QueueName = Literal["fix", "pulls", "replies", "onboarding"]


@dataclass(frozen=True, slots=True)
class JobEntry:
    """One kind of job. `fail` gets the reason, and whether to clear up, too."""

    queue: QueueName
    step: Callable[[Context, JobArgs], Awaitable[StepResult]]
    fail: Callable[[Context, JobArgs, ExplainedStop, bool], Awaitable[None]]


def _work(kind: AnyKind, queue: QueueName) -> JobEntry:
    async def work(context: Context, args: JobArgs) -> StepResult:
        return await step_run(context, kind, args["run_id"])

    return JobEntry(queue, work, _fail(kind))


def _settle(kind: AnyKind) -> JobEntry:
    async def end(context: Context, args: JobArgs) -> StepResult:
        await settle_run(context, kind, args["run_id"])
        return StepResult(done=True)

    return JobEntry("replies", end, _fail(kind))


def _fail(kind: AnyKind) -> Callable[[Context, JobArgs, ExplainedStop, bool], Awaitable[None]]:
    async def end(context: Context, args: JobArgs, stop: ExplainedStop, tidy: bool) -> None:
        await fail_run(context, kind, args["run_id"], stop, tidy=tidy)

    return end


async def _fail_command(context: Context, args: JobArgs, stop: ExplainedStop, tidy: bool) -> None:
    if tidy:
        await fail_command(context, args, stop)


async def _drop(context: Context, args: JobArgs, stop: ExplainedStop, tidy: bool) -> None:
    """Nothing waits for such a job, and the log has the reason."""


RUN_KINDS: tuple[AnyKind, ...] = (FIX_RUN, PULL_CHECK)
"""The kinds that work from facts: started again after a crash, and published. A merge group is a pull check."""

JOBS: Mapping[JobName, JobEntry] = {
    JobName.FIX: _work(FIX_RUN, "fix"),
    JobName.SETTLE: _settle(FIX_RUN),
    JobName.PULL: _work(PULL_CHECK, "pulls"),
    JobName.SETTLE_PULL: _settle(PULL_CHECK),
    JobName.COMMAND: JobEntry("replies", execute, _fail_command),
    JobName.ONBOARD: JobEntry("onboarding", onboard, _drop),
    JobName.OPEN_PULLS: JobEntry("onboarding", sync_open_pulls, _drop),
}
