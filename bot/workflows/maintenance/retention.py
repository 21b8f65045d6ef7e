"""Deletes what is too old, so that years of use neither fill the disk nor slow the server.

It deletes nothing that an open run, an open pull request or an unfinished command needs, and never the error
history."""

from __future__ import annotations

import asyncio
from collections import Counter
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path

from bot.errors import MendbotError
from bot.logs import get_logger
from bot.model import Repo
from bot.store.runs.rows import OPEN
from bot.workflows.context import Context
from bot.workspace.dependencies.cache import flush_entries
from bot.workspace.dependencies.disk_budget import remove_unfinished, trim
from bot.workspace.files.home_directories import is_marked, own_entries
from bot.workspace.files.remove_tree import remove_directory
from bot.workspace.git.command import GitError
from bot.workspace.mirror.mirror import checked_pulls, collect_garbage, delete_run_refs

PAYLOADS = timedelta(days=14)
"""A delivery's payload; GitHub itself keeps it 3 days, an Enterprise Server 7."""
DELIVERIES = timedelta(days=90)
"""A delivery's id, by which a repeat is known: far longer than anybody can send it again (T3)."""
COMMANDS = timedelta(days=90)
APPROVALS = timedelta(days=180)
OUTCOMES = timedelta(days=180)
"""The result of each check, from which "failed 3 times since May" is counted."""
LOGS = timedelta(days=90)
"""The full logs of a run, on disk, from the last of them on."""
RUNS = timedelta(days=180)
"""A run that ended, with its events; no shorter than OUTCOMES, which name it."""
LAST_RUNS = timedelta(days=365)
"""The newest run of an issue or a pull request: `/mendbot retry` and `explain` use it. It is never deleted for a pull
request that is known as open."""
USAGE = timedelta(days=90)
"""What agents used by day and run; the sum of each agent is never deleted."""
TIDY = timedelta(days=7)
_LONG = timedelta(days=7)
"""A mirror is not tidied while one of its runs is older: git deletes unreferenced objects after 14 days."""
_TIDIED = "mendbot-tidied"
"""A file in a mirror; its time is when the mirror was tidied last."""

log = get_logger()


async def forget_old(context: Context, now_ms: int) -> None:
    """Delete what is too old at that moment (epoch milliseconds), in small steps; after an interruption the next call
    continues. Raises Transient where the database cannot be read or written. Files that cannot be deleted are left for
    the next call."""
    rows, checks = context.stores.retention, context.stores.run_retention
    gone = {
        "payloads": await rows.payloads(_before(now_ms, PAYLOADS)),
        "deliveries": await rows.deliveries(_before(now_ms, DELIVERIES)),
        "commands": await rows.commands(_before(now_ms, COMMANDS)),
        "approvals": await rows.approvals(_before(now_ms, APPROVALS)),
        "outcomes": await rows.outcomes(_before(now_ms, OUTCOMES)),
        "usage": await context.stores.usage.merge(_day_before(now_ms, USAGE)),
        "logs": await _logs(context, now_ms),
    }
    total: Counter[str] = Counter(gone)
    for place in await checks.places():
        try:
            total.update(await _of_place(context, place, now_ms))
        except (MendbotError, GitError, OSError) as error:
            log.warning("place_left", place=place, because=str(error))
    log.info("forgotten", **total)


async def tidy_mirrors(context: Context, now_ms: int) -> None:
    """Have git pack each mirror once a week, and drop what nothing has named for long; the bot's git never does so by
    itself. One where a run has been going on for days waits."""
    for mirror in own_entries(context.settings.home, "mirrors", "*/*.git"):
        place = f"{mirror.parent.name}/{mirror.name.removesuffix('.git')}"
        marker = mirror / _TIDIED
        try:
            long_since = not marker.exists() or marker.stat().st_mtime * 1000 < _before(now_ms, TIDY)
            if long_since and not await _has_long_run(context, place, now_ms):
                await collect_garbage(mirror)
                marker.touch()
        except (MendbotError, GitError, OSError) as error:
            log.warning("mirror_left", path=str(mirror), because=str(error))


async def tidy_dependencies(context: Context) -> None:
    """Remove cached dependencies that are incomplete, long unused or over the size limit, and flush the others to the
    disk."""
    directory = context.settings.home / "dependencies"
    if not is_marked(directory):
        return
    try:
        await remove_unfinished(directory)
        await trim(directory)
        await flush_entries(directory)
    except (MendbotError, OSError) as error:
        log.warning("dependencies_left", path=str(directory), because=str(error))


async def _of_place(context: Context, place: str, now_ms: int) -> dict[str, int]:
    """Delete the runs of a repository or a tree and the records of their reports. Their refs in the mirror go before
    their rows, by which the refs are found."""
    runs, mirror = context.stores.run_retention, _mirror(context, place)
    kept = await checked_pulls(mirror) if mirror is not None else frozenset()
    before, last_before = _before(now_ms, RUNS), _before(now_ms, LAST_RUNS)
    after, dropped = "", 0
    while old := await runs.old(place, before, last_before, after=after):
        after = old[-1].id
        over = [run for run in old if kept.isdisjoint(run.threads)]
        if mirror is not None:
            await delete_run_refs(mirror, {run.id for run in over}, {run.branch for run in over if run.branch})
        await runs.drop(over)
        dropped += len(over)
    return {
        "runs": dropped,
        "checks": await runs.drop_checks(place, before, last_before, but=kept),
        "heads": await context.stores.retention.heads(place, before, but=kept),
        "reports": await runs.drop_check_reports(place),
    }


async def _has_long_run(context: Context, place: str, now_ms: int) -> bool:
    return any(row.created_at < _before(now_ms, _LONG) for row in await context.stores.runs.open_in(place))


async def _logs(context: Context, now_ms: int) -> int:
    """Remove the logs of runs that ended long ago or are unknown; returns how many runs."""
    removed = 0
    for where in await asyncio.to_thread(_untouched, context.settings.home, _before(now_ms, LOGS)):
        if await _is_open(context, where.name):
            continue
        try:
            await remove_directory(where)
        except (MendbotError, OSError) as error:
            log.warning("logs_left", path=str(where), because=str(error))
            continue
        removed += 1
    return removed


async def _is_open(context: Context, run_id: str) -> bool:
    run, checks = await context.stores.runs.get(run_id), await context.stores.pulls.get(run_id)
    return (run is not None and not run.status.final) or (checks is not None and checks.status in OPEN)


def _untouched(home: Path, before: int) -> list[Path]:
    """The log directories that have not changed since then."""
    found = []
    for path in own_entries(home, "artifacts"):
        with suppress(FileNotFoundError):
            if path.lstat().st_mtime * 1000 < before:
                found.append(path)
    return found


def _mirror(context: Context, place: str) -> Path | None:
    """A repository's mirror; a local session's tree has none, and one in a directory of others' is not touched."""
    if place.startswith("/") or not is_marked(context.settings.home / "mirrors"):
        return None
    owner, _, name = place.partition("/")
    return context.mirror(Repo(owner=owner, name=name, installation_id=0))


def _day_before(now_ms: int, age: timedelta) -> str:
    return f"{datetime.fromtimestamp(_before(now_ms, age) / 1000, UTC):%Y-%m-%d}"


def _before(now_ms: int, kept: timedelta) -> int:
    return now_ms - int(kept.total_seconds() * 1000)
