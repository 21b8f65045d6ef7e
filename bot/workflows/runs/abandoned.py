"""Ends sessions whose process (`mendbot fix`) died. Their trees are restored before another session works there."""

from __future__ import annotations

from bot.errors import MendbotError
from bot.logs import get_logger
from bot.model import Status
from bot.model.reasons import ExplainedStop
from bot.rules.reasons import make_reason
from bot.store.runs.runs import RunRow
from bot.workflows.context import Context
from bot.workflows.runs.finish import finish
from bot.workflows.runs.local_tree import take_over
from bot.workspace.git.command import GitError

log = get_logger()


async def fail_abandoned(context: Context) -> None:
    """End every session whose process died. One that cannot be ended is left for the next call."""
    for row in await context.stores.runs.unfinished():
        try:
            await end_if_abandoned(context, row)
        except (MendbotError, GitError, OSError) as error:
            log.warning("session_left", run=row.id, because=str(error))


async def end_if_abandoned(context: Context, row: RunRow) -> bool:
    """End a session whose process died: its tree is restored, and its change is saved. False for a session whose
    process or server still works on it."""
    if not row.spec.attended:
        return False
    runs = context.stores.runs
    async with context.control.lock(row.id):
        with take_over(context.settings.home, row.id) as taken:
            if not taken:
                return False
            now = await runs.get(row.id)  # its process may have ended it a moment ago
            if now is not None and not now.status.final:
                log.warning("session_abandoned", run=row.id)
                stop = ExplainedStop.of("abandoned", make_reason("abandoned"))
                await finish(context, now, await runs.state(row.id), Status.FAILED, stop)
    return True
