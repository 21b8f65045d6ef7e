"""Groups that are open at once: whether what one of them changed would merge with what another did.

Asked of git (`merge-tree`) before the branch appears on GitHub, so that its pull request can list the conflicts from
the start."""

from __future__ import annotations

from bot.errors import MendbotError
from bot.logs import get_logger
from bot.model import Conflict, Status
from bot.model.events.runs import ConflictsSeen
from bot.store.runs.runs import RunRow
from bot.workflows.context import Context, Loop
from bot.workspace.git.command import GitError
from bot.workspace.mirror.merge_conflicts import conflicts

_MAX_GROUPS = 50
"""The newest groups of the repository that are compared."""

log = get_logger()


async def note_conflicts(context: Context, row: RunRow, commit: str) -> tuple[Conflict, ...]:
    """Other groups' changes, not merged yet, that would conflict with this commit; recorded with the run, and found
    again after a crash.

    Of two groups that come to this point at once the second sees the first: each looks and is recorded in one go."""
    async with context.control.lock(f"conflicts:{row.spec.place}"):
        state = await context.stores.runs.state(row.id)
        if state.packaged_commit is not None:
            return state.conflicts
        others = [await _conflict(context, row, commit, other) for other in await _others(context, row)]
        found = tuple(one for one in others if one is not None)
        await context.stores.runs.append(row.id, [ConflictsSeen(commit=commit, conflicts=found)])
    context.wake[Loop.RUN_REPORTS].set()
    return found


async def _others(context: Context, row: RunRow) -> tuple[RunRow, ...]:
    runs = context.stores.runs
    packaging = [one for one in await runs.open_in(row.spec.place) if one.id != row.id]
    return (*packaging, *await runs.ended_in(row.spec.place, Status.SUCCESS, limit=_MAX_GROUPS))


async def _conflict(context: Context, row: RunRow, commit: str, other: RunRow) -> Conflict | None:
    """The conflict with another group, without a pull request where it has not opened one yet. None without a conflict,
    and where that group may never open one."""
    state = await context.stores.runs.state(other.id)
    pull, theirs = state.pull, state.packaged_commit
    if theirs is None or (pull is None and (other.status.final or other.cancel_because is not None)):
        return None
    try:
        paths = await conflicts(context.mirror(row.spec.on_github), commit, theirs)
        if not paths:
            return None
        if pull is not None and not await _is_open(context, row, pull.number):
            return None
    except (MendbotError, GitError) as error:
        log.info("conflicts_unknown", run=row.id, other=other.id, because=str(error))
        return None
    return Conflict(issues=other.spec.threads, pull=pull.number if pull else None, paths=paths)


async def _is_open(context: Context, row: RunRow, number: int) -> bool:
    return (await context.github.repository(row.spec.on_github).pull(number)).state == "open"
