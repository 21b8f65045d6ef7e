"""`/mendbot resolved`: records a person's text on how the thread's failures were fixed (REQ-RA-311)."""

from __future__ import annotations

from bot.reports.commands.replies import done_reply
from bot.workflows.commands.types import CommandCall, CommandResult, refused
from bot.workflows.context import Context
from bot.workflows.history.learn_from_people import learn_resolved
from bot.workflows.pulls.shared_heads import get_checks


async def resolved(context: Context, call: CommandCall) -> CommandResult:
    """Record in the error history how the thread's last failures were fixed."""
    errors = await open_errors(context, call)
    if not errors:
        return refused(call, "no_failure")
    how = context.mask(" ".join(call.command.args))
    count = await learn_resolved(context, call.repo, errors, by=call.by, how=how, key=call.id)
    return CommandResult(True, done_reply("resolved", {"count": str(count)}, call.language))


async def open_errors(context: Context, call: CommandCall) -> tuple[str, ...]:
    """The errors that the thread's last run and the last checks of its pull request ended with."""
    errors: list[str] = []
    for row in await context.stores.runs.of_thread(call.repo, call.number, limit=1):
        errors += (await context.stores.runs.state(row.id)).failing
    latest = await context.stores.pulls.latest_of(call.repo, call.number) if call.request.is_pull else None
    if latest is not None:
        errors += [failure.error for check in await get_checks(context, latest) for failure in check.new]
    return tuple(dict.fromkeys(error for error in errors if error))
