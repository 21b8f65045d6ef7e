"""`/mendbot retry`: starts the thread's last run once more, from the beginning."""

from __future__ import annotations

from bot.model import Status
from bot.rules.triage.decisions import carries
from bot.store.runs.runs import RunRow
from bot.workflows.commands.eligibility import issue_refusal
from bot.workflows.commands.idempotency import PreviousRun, begin_once
from bot.workflows.commands.types import CommandCall, CommandResult, queued_issue, refused
from bot.workflows.commands.verbs.fix import fix
from bot.workflows.context import Context
from bot.workflows.runs.request import make_candidate


async def retry(context: Context, call: CommandCall) -> CommandResult:
    """Start the last run once more, for all its issues that are still to be fixed."""
    rows = await context.stores.runs.of_thread(call.repo, call.number, limit=1)
    previous = await begin_once(context, call, PreviousRun(run=rows[-1].id if rows else ""))
    row = await context.stores.runs.get(previous.run)
    if row is None:
        return refused(call, "no_run")
    if row.status is Status.SUCCESS:
        return refused(call, "last_succeeded")
    result = await fix(context, call)
    if result.done and not call.request.is_pull:
        for issue in row.spec.issues:
            if issue.number != call.number and await _still_wanted(context, call, issue.number, row):
                await make_candidate(context, queued_issue(call, issue.number, quiet_ms=0))
    return result


async def _still_wanted(context: Context, call: CommandCall, number: int, last: RunRow) -> bool:
    """Whether an issue of that run has had no other run since, and still has the trigger label."""
    if await context.stores.runs.latest_of(call.repo, number) != last.id:
        return False
    issue = await context.github.repository(call.repo).issue(number)
    return carries(issue.labels, call.policy.trigger_label) and await issue_refusal(context, call, number) is None
