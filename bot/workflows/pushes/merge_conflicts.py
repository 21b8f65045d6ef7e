"""Groups that are open at once: whether what one of them changed would merge with what another did.

Asked of git (`merge-tree`) before the branch appears on GitHub, so that its pull request can say so from the start."""

from __future__ import annotations

import structlog

from bot.errors import MendbotError
from bot.model import Conflict, Status
from bot.rules.runs.state import run_state
from bot.store.runs.runs import Draft, RunRow
from bot.workflows.context import Context
from bot.workspace.git.command import GitError
from bot.workspace.mirror.merge_conflicts import conflicts

_LOOKED_AT = 50
"""The newest groups of the repository that are compared; a team that has more of them open has other worries."""

_SEEN = "conflicts_seen"

log = structlog.get_logger()


async def note_conflicts(context: Context, row: RunRow, commit: str) -> tuple[Conflict, ...]:
    """Other groups' changes, not merged yet, that would conflict with this commit; recorded with the run, and found
    again after a crash.

    Of two groups that come to this point at once the second sees the first: each looks and is recorded in one go."""
    async with context.control.lock(f"{_SEEN}:{row.spec.place}"):
        for event in await context.stores.runs.events(row.id):
            if event.type == _SEEN:
                return tuple(Conflict.model_validate(one) for one in event.data["conflicts"])
        found = [one for other in await _others(context, row) if (one := await _conflict(context, row, commit, other))]
        data = {"commit": commit, "conflicts": [conflict.model_dump(mode="json") for conflict in found]}
        await context.stores.runs.append(row.id, [Draft(type=_SEEN, key=_SEEN, data=data)])
    context.wake["report"].set()
    return tuple(found)


async def _others(context: Context, row: RunRow) -> tuple[RunRow, ...]:
    runs = context.stores.runs
    packaging = [one for one in await runs.open_in(row.spec.place) if one.id != row.id]
    return (*packaging, *await runs.ended_in(row.spec.place, Status.SUCCESS, most=_LOOKED_AT))


async def _conflict(context: Context, row: RunRow, commit: str, other: RunRow) -> Conflict | None:
    """A group that has not opened its pull request yet is told without it; one that may never do so is not."""
    events = await context.stores.runs.events(other.id)
    pull = run_state(events).pull
    theirs = next((str(event.data["commit"]) for event in events if event.type == _SEEN), None)
    if theirs is None or (pull is None and (other.status.final or other.cancel_because is not None)):
        return None
    try:
        paths = await conflicts(context.mirror(row.spec.on_github), commit, theirs)
        if not paths:
            return None
        if pull is not None and not await _is_open(context, row, pull.number):
            return None
    except (MendbotError, GitError) as error:
        log.info("overlap_unknown", run=row.id, other=other.id, because=str(error))
        return None
    return Conflict(issues=other.spec.threads, pull=pull.number if pull else None, paths=paths)


async def _is_open(context: Context, row: RunRow, number: int) -> bool:
    return (await context.github.repository(row.spec.on_github).pull(number)).state == "open"
