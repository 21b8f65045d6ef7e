"""Every unfinished run has somebody who works on it: found again at start, and looked after from then on.

A crash between a run's row and its job, a queue that could not be written, a job that the engine gave up after too many
crashes: each leaves a run that nothing would ever end, and issues that nobody could start again."""

from __future__ import annotations

from bot.workflows.context import Context
from bot.workflows.job_table import RUN_KINDS
from bot.workflows.kernel import reconcile_kind
from bot.workflows.runs.abandoned import fail_abandoned


async def reconcile(context: Context) -> None:
    """Enqueue the job of every unfinished run that has none, and end the runs whose job was given up."""
    await fail_abandoned(context)
    for kind in RUN_KINDS:
        await reconcile_kind(context, kind)
