"""`/mendbot help`: shows the table of commands."""

from __future__ import annotations

from bot.reports.commands.replies import help_reply
from bot.rules.commands.verbs import VERBS, aliases_of
from bot.workflows.commands.types import CommandCall, CommandResult
from bot.workflows.context import Context


async def show_help(_: Context, call: CommandCall) -> CommandResult:
    """Show the commands that work on this kind of thread."""
    aliases = aliases_of(call.policy.aliases)
    text = help_reply(VERBS.values(), call.language, where=call.request.where, aliases=aliases)
    return CommandResult(True, text, "help")
