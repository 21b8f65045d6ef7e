"""Publishes the reports that were held while the App could not write, as soon as it can."""

from __future__ import annotations

from bot.model.reasons import Reason
from bot.rules.reasons import make_reason
from bot.rules.triage.decisions import ReleaseReports
from bot.workflows.context import Context, Loop


async def publish_held_reports(context: Context, decision: ReleaseReports) -> Reason:
    """Release the held reports to the loops that publish all others, which publish nothing twice. Returns the result
    with their number; a repeated call finds none."""
    reports = context.stores.reports
    released = await reports.release(decision.installation_id, decision.repositories, decision.number)
    if not released:
        return make_reason("delivery.none_held", why=decision.because)
    for loop in (Loop.RUN_REPORTS, Loop.CHECK_REPORTS):
        context.wake[loop].set()
    return make_reason("delivery.held", why=decision.because, count=released)
