"""A command's mark: what was so when it was first begun, noted before it does anything. Begun again after a crash, it
knows by that what is its own doing, and neither does it twice nor is refused because of it."""

from __future__ import annotations

import json
from typing import Any

from bot.workflows.commands.types import CommandCall
from bot.workflows.context import Context


async def begin_once(context: Context, ask: CommandCall, **seen: Any) -> dict[str, Any]:
    """What was seen when the command was first begun: `seen`, which is JSON, unless that was noted before."""
    noted: dict[str, Any] = json.loads(await context.stores.commands.begin(ask.id, json.dumps(seen)))
    return noted


async def run_came(context: Context, ask: CommandCall) -> bool:
    """Whether the thread has a run that it had not when the command was begun: what was asked for is under way."""
    rows = await context.stores.runs.of_thread(ask.repo, ask.number, most=1)
    newest = rows[-1].id if rows else ""
    return bool((await begin_once(context, ask, run=newest))["run"] != newest)


async def checks_came(context: Context, ask: CommandCall) -> bool:
    """The same of runs of a pull request's checks."""
    row = await context.stores.pulls.latest_of(ask.repo, ask.number)
    newest = row.id if row is not None else ""
    return bool((await begin_once(context, ask, checks=newest))["checks"] != newest)
