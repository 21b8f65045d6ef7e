"""What nobody could be told where the App had no voice is told as soon as it has one."""

from __future__ import annotations

from bot.model.reasons import Reason
from bot.rules.reasons import make_reason
from bot.rules.triage.decisions import ReleaseReports
from bot.workflows.context import Context, Loop


async def publish_held_reports(context: Context, decision: ReleaseReports) -> Reason:
    """Have the silenced runs and checks told by the loops that tell of all others, which say nothing twice; how many
    there are, in a sentence. Done again it finds none."""
    reports = context.stores.reports
    released = await reports.release(decision.installation_id, decision.repositories, decision.number)
    if not released:
        return make_reason("delivery.none_held", why=decision.because)
    for loop in (Loop.RUN_REPORTS, Loop.CHECK_REPORTS):
        context.wake[loop].set()
    return make_reason("delivery.held", why=decision.because, count=released)
