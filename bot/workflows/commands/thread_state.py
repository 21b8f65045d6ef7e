"""The runs and checks of a thread as its readers see them now."""

from __future__ import annotations

from bot.model import RunView
from bot.model.pulls import PullCheckReport
from bot.store.database.database import now_ms
from bot.store.runs.runs import RunRow
from bot.workflows.commands.types import CommandCall
from bot.workflows.context import Context
from bot.workflows.history.seen_before import with_seen_before
from bot.workflows.pulls.publish_checks import pull_view
from bot.workflows.reporting.run_view import view_of


async def get_run_view(context: Context, row: RunRow) -> RunView:
    """A run as its readers see it now, with how long it has waited: an answer is written once and never updated."""
    state = await context.stores.runs.state(row.id)
    view = view_of(row, state, now_ms=now_ms())
    return await with_seen_before(context, row, state, view)


async def latest_checks(context: Context, call: CommandCall) -> PullCheckReport | None:
    """The pull request's newest run of checks as its readers see it; None for an issue, and where there is none."""
    row = await context.stores.pulls.latest_of(call.repo, call.number) if call.request.is_pull else None
    if row is None:
        return None
    return await pull_view(context, row, await context.stores.pulls.state(row.id))
