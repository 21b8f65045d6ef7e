"""Old runs go, each whole in one commit: its row, its events and what it left. An event without a key is the error
history's and stays. What GitHub was told of a check run goes when its run has."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import groupby
from typing import Any

import sqlalchemy as sa

from bot.model import Model
from bot.store.database.database import Database
from bot.store.database.tables import artifacts, events, pull_heads, pull_runs, reports, run_issues, runs
from bot.store.retention.rows import MAX_ROWS, Drops, packed
from bot.store.runs.rows import OPEN

_NUMBERS = 500
"""Pull requests that are looked at in one read, by their numbers."""
_CHECK = "check:"
_OF_A_HEAD, _OF_A_COMMIT = "waiting-", "config-"
"""How the ids of check runs begin behind which there is no run."""


class OldRun(Model):
    """A run that may go, `rows` of events and all; `threads` are the issues and pull requests that it worked for."""

    id: str
    branch: str | None
    threads: tuple[int, ...]
    rows: int


class _OldChecks(Model):
    """All runs of checks of one head. They go together: the id of the next is made from how many there are."""

    runs: tuple[str, ...]
    rows: int


class RunRetention:
    """`before` and `last_before` are epoch milliseconds."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._drops = Drops(database)

    async def places(self) -> tuple[str, ...]:
        """The repositories (`owner/name`) and trees (paths) of which something is kept under their name."""
        named = sa.union(*(sa.select(table.c.repo) for table in (runs, pull_runs, pull_heads, reports)))
        return tuple(sorted(row.repo for row in await self._drops.read(named)))

    async def old(self, place: str, before: int, last_before: int, *, after: str = "") -> tuple[OldRun, ...]:
        """Some of a place's runs that ended before that and were told of, by their ids, those past `after`; the newest
        run of a thread is among them only where it ended before `last_before`."""
        ended = sa.func.coalesce(runs.c.ended_at, runs.c.created_at)
        mine, others, later = run_issues.alias(), run_issues.alias(), runs.alias()
        same = (others.c.repo == mine.c.repo) & (others.c.issue == mine.c.issue) & (later.c.id == others.c.run_id)
        newer = sa.exists().where(same, later.c.created_at > runs.c.created_at).correlate(mine, runs)
        newest = sa.exists().where(mine.c.run_id == runs.c.id, ~newer).correlate(runs)
        query = sa.select(runs.c.id, runs.c.branch, _rows_of(runs)).where(
            *(runs.c.repo == place, runs.c.id > after, runs.c.status.not_in(OPEN), runs.c.reported >= runs.c.version),
            *(ended < before, sa.or_(ended < last_before, ~newest)),
        )
        rows = await self._drops.read(query.order_by(runs.c.id).limit(MAX_ROWS))
        of = sa.select(run_issues.c.run_id, run_issues.c.issue).where(run_issues.c.run_id.in_([row.id for row in rows]))
        threads: dict[str, list[int]] = {}
        for row in await self._drops.read(of):
            threads.setdefault(row.run_id, []).append(row.issue)
        return tuple(
            OldRun(id=row.id, branch=row.branch, threads=tuple(threads.get(row.id, ())), rows=row.rows) for row in rows
        )

    async def drop(self, old: Sequence[OldRun]) -> None:
        """Drop these runs with their events and artifacts."""
        for some in packed(old, lambda run: run.rows, MAX_ROWS):
            ids = [run.id for run in some]
            threads = sa.delete(run_issues).where(run_issues.c.run_id.in_(ids))
            await self._drops.write(*_facts(ids), threads, sa.delete(runs).where(runs.c.id.in_(ids)))

    async def drop_checks(self, repo: str, before: int, last_before: int, *, but: Collection[int] = ()) -> int:
        """Drop the runs of checks of heads whose last run ended before that and was told of; how many runs.

        Those of the newest head that was checked of a pull request go only where they ended before `last_before`, and
        never where it is one of `but`."""
        span = sa.select(sa.func.max(pull_runs.c.number)).where(pull_runs.c.repo == repo)
        highest, gone = (await self._drops.read(span))[0][0] or 0, 0
        for first in range(0, highest + 1, _NUMBERS):
            query = _old_checks(repo, first, before, last_before, but)
            for some in packed(_by_head(await self._drops.read(query)), lambda checks: checks.rows, MAX_ROWS):
                ids = [run_id for checks in some for run_id in checks.runs]
                await self._drops.write(*_facts(ids), sa.delete(pull_runs).where(pull_runs.c.id.in_(ids)))
                gone += len(ids)
        return gone

    async def told(self, repo: str) -> int:
        """Forget what was told of check runs whose run, or head, is gone; how many rows. What was told in threads
        stays, a row a thread and purpose: anybody may write there again at any time."""
        query = sa.select(reports.c.target).where(reports.c.repo == repo, reports.c.target.startswith(_CHECK))
        query = query.order_by(reports.c.target).limit(MAX_ROWS)
        gone, after = 0, ""
        while rows := await self._drops.read(query.where(reports.c.target > after)):
            after = rows[-1].target
            lost = await self._lost(repo, [row.target for row in rows])
            if lost:
                await self._drops.write(sa.delete(reports).where(reports.c.repo == repo, reports.c.target.in_(lost)))
            gone += len(lost)
        return gone

    async def _lost(self, repo: str, targets: Sequence[str]) -> list[str]:
        """Those of the targets (`check:SHA:NAME:ID`) behind which there is nothing any more."""
        parts = {target: target.split(":", 3) for target in targets}
        behind = {target: part[3] for target, part in parts.items() if len(part) == 4}
        ids, shas = list(behind.values()), [part[1] for part in parts.values()]
        known = sa.union(*(sa.select(table.c.id).where(table.c.id.in_(ids)) for table in (runs, pull_runs)))
        heads = sa.select(pull_heads.c.head_sha).where(pull_heads.c.repo == repo, pull_heads.c.head_sha.in_(shas))
        there = {row[0] for row in [*await self._drops.read(known), *await self._drops.read(heads)]}
        return [
            target
            for target, own in behind.items()
            if not own.startswith(_OF_A_COMMIT)
            and (parts[target][1] if own.startswith(_OF_A_HEAD) else own) not in there
        ]


def _rows_of(table: sa.Table) -> sa.Label[int]:
    """How many rows go with a run, its own among them."""
    own = sa.select(sa.func.count()).where(events.c.session_id == table.c.id, events.c.key.is_not(None))
    return (own.scalar_subquery() + 1).label("rows")


def _facts(ids: Sequence[str]) -> tuple[sa.Executable, ...]:
    return (
        sa.delete(events).where(events.c.session_id.in_(ids), events.c.key.is_not(None)),
        sa.delete(artifacts).where(artifacts.c.session_id.in_(ids)),
    )


def _old_checks(
    repo: str, first: int, before: int, last_before: int, but: Collection[int]
) -> sa.Select[tuple[int, str, str, int]]:
    """The runs of the heads that may go, of pull requests with these numbers."""
    here = (pull_runs.c.repo == repo) & pull_runs.c.number.between(first, first + _NUMBERS - 1)
    at_work = pull_runs.c.status.in_(OPEN) | (pull_runs.c.reported < pull_runs.c.version)
    last = sa.func.max(sa.func.coalesce(pull_runs.c.ended_at, pull_runs.c.created_at))
    made = sa.func.max(pull_runs.c.created_at)
    heads = (
        sa.select(pull_runs.c.number, pull_runs.c.head_sha, last.label("last"), made.label("made"))
        .where(here)
        .group_by(pull_runs.c.number, pull_runs.c.head_sha)
        .having(last < before, sa.func.sum(sa.case((at_work, 1), else_=0)) == 0)
        .subquery()
    )
    later = pull_runs.alias()
    same = (later.c.repo == repo) & (later.c.number == heads.c.number)
    followed = sa.exists().where(same, later.c.created_at > heads.c.made)
    over = (heads.c.last < last_before) & heads.c.number.not_in(but)
    own = (heads.c.number == pull_runs.c.number) & (heads.c.head_sha == pull_runs.c.head_sha)
    return (
        sa.select(pull_runs.c.number, pull_runs.c.head_sha, pull_runs.c.id, _rows_of(pull_runs))
        .join(heads, own)
        .where(here, followed | over)
        .order_by(pull_runs.c.number, pull_runs.c.head_sha)
    )


def _by_head(rows: Sequence[Any]) -> list[_OldChecks]:
    found = []
    for _, group in groupby(rows, lambda row: (row.number, row.head_sha)):
        of = list(group)
        found.append(_OldChecks(runs=tuple(row.id for row in of), rows=sum(row.rows for row in of)))
    return found
