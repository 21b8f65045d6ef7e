"""`/mendbot status`: shows what runs or waits for a thread, and how its last runs ended."""

from __future__ import annotations

from bot.reports.commands.answers import status_answer
from bot.workflows.commands.thread_state import get_run_view, latest_checks
from bot.workflows.commands.types import CommandCall, CommandResult
from bot.workflows.context import Context

_MAX_RUNS = 3


async def status(context: Context, call: CommandCall) -> CommandResult:
    """Show what runs or waits here, and how the last runs ended."""
    rows = await context.stores.runs.of_thread(call.repo, call.number, limit=_MAX_RUNS)
    text = status_answer(
        [await get_run_view(context, row) for row in rows],
        await latest_checks(context, call),
        paused_by=await context.stores.threads.paused(call.repo, call.number),
        waiting=(await context.stores.candidates.waiting(call.repo, call.number))[0],
        language=call.language,
        label=call.policy.trigger_label,
    )
    return CommandResult(True, text, "status")
