"""`/mendbot cancel`: stops what runs or waits for a thread."""

from __future__ import annotations

from bot.model import Model
from bot.model.reasons import ExplainedStop
from bot.rules.reasons import make_reason
from bot.workflows.commands.idempotency import begin_once
from bot.workflows.commands.types import CommandCall, CommandResult, refused
from bot.workflows.context import Context
from bot.workflows.kernel import stop_run
from bot.workflows.pulls.loop import PULL_CHECK
from bot.workflows.runs.request import stop_work


class OpenWork(Model):
    """The work for a thread: its run, since when it waits to be grouped, and its runs of checks; empty without any."""

    run: str
    since: str
    checks: tuple[str, ...]


async def cancel(context: Context, call: CommandCall) -> CommandResult:
    """Stop what ran or waited for this thread when the command was begun, and nothing later."""
    because = make_reason("stop.said", by=call.by)
    run = await context.stores.runs.open_run(call.repo, call.number)
    waits, since = await context.stores.candidates.waiting(call.repo, call.number)
    checks = await context.stores.pulls.open_of(call.repo, call.number) if call.request.is_pull else ()
    now = OpenWork(
        run=run.id if run is not None else "",
        since=str(since) if waits else "",
        checks=tuple(row.id for row in checks if row.cancel_because is None),
    )
    first = await begin_once(context, call, now)
    if first == OpenWork(run="", since="", checks=()):
        return refused(call, "nothing_to_stop")
    if now.run in ("", first.run) and now.since in ("", first.since):  # later work is somebody else's wish
        await stop_work(context, call.repo, call.number, because, call.policy)
    for row in checks:
        if row.id in first.checks:
            await stop_run(context, PULL_CHECK, row, ExplainedStop.of("cancelled", because))
    return CommandResult(True)
