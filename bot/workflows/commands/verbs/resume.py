"""`/mendbot resume`: ends a pause."""

from __future__ import annotations

from bot.model import Model
from bot.reports.commands.replies import done_reply
from bot.workflows.commands.idempotency import begin_once
from bot.workflows.commands.types import CommandCall, CommandResult, refused
from bot.workflows.context import Context, Loop
from bot.workflows.pulls.sync import sync_pull
from bot.workflows.runs.loop import FIX_RUN


class Paused(Model):
    """Whether the thread was paused."""

    paused: bool


async def resume(context: Context, call: CommandCall) -> CommandResult:
    """Let the thread's runs go on, and check the pull request's head if that is due."""
    paused = await context.stores.threads.paused(call.repo, call.number) is not None
    if not (await begin_once(context, call, Paused(paused=paused))).paused:
        return refused(call, "nothing_paused")
    await context.stores.threads.resume(call.repo, call.number)
    if call.request.is_pull:
        await sync_pull(context, call.repo, call.number)
    context.wake[Loop.GROUPING].set()
    row = await context.stores.runs.open_run(call.repo, call.number)
    if row is not None:
        await context.wake_job(FIX_RUN.job(row.id, row.place).id)
    return CommandResult(True, done_reply("resume", {}, call.language))
