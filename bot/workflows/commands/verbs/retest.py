"""`/mendbot retest`: re-runs failed checks, all checks, or those that the command names."""

from __future__ import annotations

from bot.workflows.commands.idempotency import has_new_checks
from bot.workflows.commands.types import CommandCall, CommandResult, refused
from bot.workflows.commands.verbs.check import check_head
from bot.workflows.context import Context
from bot.workflows.pulls.buttons import failed_checks


async def retest(context: Context, call: CommandCall) -> CommandResult:
    """Re-run the checks; the results of the others stand."""
    names = call.command.args
    if await has_new_checks(context, call):
        return CommandResult(True)
    if names:
        return await check_head(context, call, () if "all" in names else names)
    pull = await context.github.repository(call.repo).pull(call.number)
    failed = await failed_checks(context, call.repo, call.number, pull.head_sha)
    if not failed and await context.stores.pulls.latest_of(call.repo, call.number, pull.head_sha) is not None:
        return refused(call, "nothing_failed")
    return await check_head(context, call, failed)
