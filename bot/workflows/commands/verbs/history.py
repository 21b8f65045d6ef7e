"""`/mendbot history`: shows the error history of a file."""

from __future__ import annotations

from bot.reports.commands.answers import history_answer
from bot.workflows.commands.types import CommandCall, CommandResult
from bot.workflows.context import Context

_MAX_ERRORS = 10


async def history(context: Context, call: CommandCall) -> CommandResult:
    """Show the known errors of a file, from this repository alone."""
    path, repo = call.command.args[0], call.repo.full_name
    known = await context.stores.history.by_file(path, limit=_MAX_ERRORS, repo=repo)
    return CommandResult(True, history_answer(path, known, call.language, repo), "history")
