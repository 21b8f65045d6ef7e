"""What was so when a command was first begun, recorded before it does anything. Begun again after a crash, the command
knows its own effects by that record: it does nothing twice and is not refused because of them."""

from __future__ import annotations

from typing import TypeVar

from bot.model import Model
from bot.workflows.commands.types import CommandCall
from bot.workflows.context import Context

FactsT = TypeVar("FactsT", bound=Model)


class PreviousRun(Model):
    """The thread's newest run; empty where it has none."""

    run: str


class PreviousChecks(Model):
    """The pull request's newest run of checks; empty where it has none."""

    checks: str


async def begin_once(context: Context, call: CommandCall, facts: FactsT) -> FactsT:
    """The facts that were recorded when the command was first begun; `facts` themselves the first time."""
    recorded = await context.stores.commands.begin(call.id, facts.model_dump_json())
    return type(facts).model_validate_json(recorded)


async def has_new_run(context: Context, call: CommandCall) -> bool:
    """Whether the thread has a run that it had not when the command was begun: what was asked for is under way."""
    rows = await context.stores.runs.of_thread(call.repo, call.number, limit=1)
    newest = rows[-1].id if rows else ""
    return (await begin_once(context, call, PreviousRun(run=newest))).run != newest


async def has_new_checks(context: Context, call: CommandCall) -> bool:
    """Whether the pull request has a run of checks that it had not when the command was begun."""
    row = await context.stores.pulls.latest_of(call.repo, call.number)
    newest = row.id if row is not None else ""
    return (await begin_once(context, call, PreviousChecks(checks=newest))).checks != newest
