"""Whether an issue, as it is on GitHub now, is for Mendbot; where it is not, the answer that says why."""

from __future__ import annotations

from bot.rules.triage.decide import unfit
from bot.workflows.commands.types import CommandCall, CommandResult, refused
from bot.workflows.context import Context


async def misfit(context: Context, ask: CommandCall, number: int) -> CommandResult | None:
    """The refusal to work on an issue; None where nothing is against it (spec G.1)."""
    why = unfit(await context.github.repository(ask.repo).issue(number), ask.policy)
    return None if why is None else refused(ask, why, number=number, label=ask.policy.skip_label)
