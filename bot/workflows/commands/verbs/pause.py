"""`/mendbot pause`: lets a thread's runs wait, and starts no new ones there."""

from __future__ import annotations

from bot.reports.commands.replies import done_reply
from bot.store.database.database import now_ms
from bot.workflows.commands.types import CommandCall, CommandResult
from bot.workflows.context import Context, Loop


async def pause(context: Context, call: CommandCall) -> CommandResult:
    """Start nothing here automatically, and let what runs wait, until somebody comments `/mendbot resume`."""
    await context.stores.threads.pause(call.repo, call.number, call.by, now_ms())
    context.wake[Loop.RUN_REPORTS].set()
    return CommandResult(True, done_reply("pause", {}, call.language))
