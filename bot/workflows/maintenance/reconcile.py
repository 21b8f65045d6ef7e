"""Makes sure that every unfinished run has a job, at the start and once a minute.

A crash between a run's row and its job, or a job that the engine gave up, would leave a run that never ends, and issues
for which no other run can start."""

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
