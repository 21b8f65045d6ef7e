"""Requests work on a thread, and cancels it: for labels, comments and buttons."""

from __future__ import annotations

from collections.abc import Sequence

from bot.config import Policy
from bot.model import Repo
from bot.model.reasons import Reason
from bot.store.inbox.candidates import QueuedIssue
from bot.store.runs.runs import RunRow
from bot.workflows.context import Context, Loop
from bot.workflows.kernel import interrupt_run
from bot.workflows.runs.loop import FIX_RUN


async def make_candidate(context: Context, candidate: QueuedIssue) -> None:
    """Queue an issue, which is grouped after its quiet period."""
    await context.stores.candidates.add(candidate)
    context.wake[Loop.GROUPING].set()


async def stop_work(context: Context, repo: Repo, number: int, because: Reason, policy: Policy) -> RunRow | None:
    """Stop the run that works for a thread, and remove it from the waiting issues. The group's other issues wait for a
    run of their own. Returns the run that was stopped, if there was one."""
    await context.stores.candidates.drop(repo, number)
    row = await context.stores.runs.open_run(repo, number)
    if row is None:
        return None
    others = [issue.number for issue in row.spec.issues if issue.number != number]
    await cancel_run(context, row, because, released=others, quiet_ms=quiet_ms(context, policy))
    context.wake[Loop.GROUPING].set()
    return row


def quiet_ms(context: Context, policy: Policy) -> int:
    """The quiet period: how long grouping waits for more labels."""
    quiet_s = policy.quiet_seconds if policy.quiet_seconds is not None else context.settings.quiet_seconds
    return int(quiet_s * 1000)


async def cancel_run(
    context: Context, row: RunRow, because: Reason, *, released: Sequence[int] = (), quiet_ms: int = 0
) -> None:
    """Ask a run to stop, interrupt what is being done for it, and have its end recorded."""
    if not await context.stores.runs.request_cancel(row.id, because, released=released, quiet_ms=quiet_ms):
        return
    await interrupt_run(context, FIX_RUN, row)
