"""What nobody could be told where the App had no voice is told as soon as it has one."""

from __future__ import annotations

from bot.reports.locale.reasons import english
from bot.rules.triage.decisions import ReleaseReports
from bot.workflows.context import Context


async def publish_held_reports(context: Context, decision: ReleaseReports) -> str:
    """Have the silenced runs and checks told by the loops that tell of all others, which say nothing twice; how many
    there are, in a sentence. Done again it finds none."""
    reports = context.stores.reports
    released = await reports.release(decision.installation_id, decision.repositories, decision.number)
    if not released:
        return f"{english(decision.because)}; no report was held there"
    for loop in ("report", "publish_checks"):
        context.wake[loop].set()
    return f"{english(decision.because)}; held reports published now: {released}"
