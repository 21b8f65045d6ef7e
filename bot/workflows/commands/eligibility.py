"""Whether an issue, as it is on GitHub now, is for Mendbot."""

from __future__ import annotations

from bot.rules.triage.decide import unfit
from bot.workflows.commands.types import CommandCall, CommandResult, refused
from bot.workflows.context import Context


async def issue_refusal(context: Context, call: CommandCall, number: int) -> CommandResult | None:
    """The refusal to work on an issue; None where nothing prevents it (spec G.1)."""
    kind = unfit(await context.github.repository(call.repo).issue(number), call.policy)
    return None if kind is None else refused(call, kind, number=number, label=call.policy.skip_label)
