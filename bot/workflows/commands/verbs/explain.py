"""`/mendbot explain`: shows what failed, what was tried, why it stopped, and the error history."""

from __future__ import annotations

from bot.reports.commands.answers import explain_answer
from bot.workflows.commands.thread_state import get_run_view, latest_checks
from bot.workflows.commands.types import CommandCall, CommandResult
from bot.workflows.context import Context


async def explain(context: Context, call: CommandCall) -> CommandResult:
    """Explain the thread's last run, and the last checks of its pull request."""
    rows = await context.stores.runs.of_thread(call.repo, call.number, limit=1)
    run = await get_run_view(context, rows[-1]) if rows else None
    checks = await latest_checks(context, call)
    return CommandResult(True, explain_answer(run, checks, call.language, label=call.policy.trigger_label), "explain")
