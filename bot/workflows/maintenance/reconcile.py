"""Every unfinished run has somebody who works on it: found again at start, and looked after from then on.

A crash between a run's row and its job, a queue that could not be written, a job that the engine gave up after too many
crashes: each leaves a run that nothing would ever end, and issues that nobody could start again."""

from __future__ import annotations

from bot.logs import get_logger
from bot.model.reasons import ExplainedStop
from bot.rules.reasons import make_reason
from bot.store.runs.runs import RunRow
from bot.workflows.context import Context
from bot.workflows.pulls.loop import fail_pull_check
from bot.workflows.pulls.start_stop import pull_job, settle_pull_job
from bot.workflows.runs.abandoned import fail_abandoned
from bot.workflows.runs.finish import settle_job
from bot.workflows.runs.loop import fail_run, fix_job

log = get_logger()


async def reconcile(context: Context) -> None:
    """Enqueue the job of every unfinished run that has none, and end the runs whose job was given up."""
    await fail_abandoned(context)
    await _checks_of_pulls(context)
    for row in await context.stores.runs.unfinished():
        if row.spec.attended:
            continue
        job = (fix_job if row.cancel_because is None else settle_job)(row.id, row.spec)
        state = await context.job_state(job.id)
        if state == "unknown":
            await context.enqueue(job)
        elif state == "ended":
            await _given_up(context, row)


async def _checks_of_pulls(context: Context) -> None:
    """The same for the checks of pull requests."""
    for row in await context.stores.pulls.unfinished():
        job = (pull_job if row.cancel_because is None else settle_pull_job)(row.id, row.spec)
        state = await context.job_state(job.id)
        if state == "unknown":
            await context.enqueue(job)
        elif state == "ended":
            now = await context.stores.pulls.get(row.id)
            if now is not None and now.status in ("queued", "running") and now.cancel_because == row.cancel_because:
                log.warning("checks_given_up", run=row.id)
                await fail_pull_check(context, row.id, ExplainedStop.of("gave_up", make_reason("given_up")))


async def _given_up(context: Context, row: RunRow) -> None:
    """End a run without a job, unless it ended or was asked to stop while we looked."""
    now = await context.stores.runs.get(row.id)
    if now is None or now.status.final or now.cancel_because != row.cancel_because:
        return
    log.warning("run_given_up", run=row.id)
    await fail_run(context, row.id, ExplainedStop.of("gave_up", make_reason("given_up")))
