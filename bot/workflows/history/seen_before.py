"""Adds to a run's view how often its errors were seen in the repository before."""

from __future__ import annotations

from bot.model import RunView
from bot.rules.runs.state import RunState
from bot.store.runs.runs import RunRow
from bot.workflows.context import Context

_ASKED = 20


async def with_seen_before(context: Context, row: RunRow, state: RunState, view: RunView) -> RunView:
    """The view with how often the current errors were seen in this repository, and since when. Errors that occur in
    most failures are omitted."""
    errors, repo = list(state.failing[:_ASKED]), row.spec.place
    if not errors:
        return view
    outcomes = context.stores.outcomes
    generic = await outcomes.generic(repo, errors)
    seen = await outcomes.seen(repo, [error for error in errors if error not in generic])
    return view.model_copy(update={"seen": tuple((error, one.times, one.since) for error, one in seen.items())})
