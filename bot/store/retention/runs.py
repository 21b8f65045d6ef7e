"""Deletes old runs, each in one commit with its events and artifacts, and the reports of check runs of deleted runs.

Events without a key belong to the error history and stay."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import groupby
from typing import Any

import sqlalchemy as sa

from bot.model import Model
from bot.store.database.database import Database
from bot.store.database.tables import artifacts, events, pull_heads, pull_runs, reports, run_issues, runs
from bot.store.retention.rows import MAX_ROWS, Drops, batches
from bot.store.runs.rows import OPEN

_NUMBERS = 500
"""The range of pull request numbers that one query covers."""
_CHECK = "check:"
_OF_A_HEAD, _OF_A_COMMIT = "waiting-", "config-"
"""The prefixes of ids of check runs that belong to no run."""


class OldRun(Model):
    """A run that may be deleted. `rows` counts its row and its events; `threads` are its issues and pull requests."""

    id: str
    branch: str | None
    threads: tuple[int, ...]
    rows: int


class _OldChecks(Model):
    """All runs of checks of one head. They are deleted together, since the next run's id depends on their number."""

    runs: tuple[str, ...]
    rows: int


class RunRetention:
    """Deletes old runs. `before` and `last_before` are epoch milliseconds."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._drops = Drops(database)

    async def places(self) -> tuple[str, ...]:
        """The repositories (`owner/name`) and working trees (paths) that have rows of runs, heads or reports."""
        query = sa.union(*(sa.select(table.c.repo) for table in (runs, pull_runs, pull_heads, reports)))
        return tuple(sorted(row.repo for row in await self._drops.read(query)))

    async def old(self, place: str, before: int, last_before: int, *, after: str = "") -> tuple[OldRun, ...]:
        """Up to MAX_ROWS runs of a place that ended before `before` and are reported, by id, with ids above `after`.

        The newest run of a thread is included only if it ended before `last_before`."""
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
        members = sa.select(run_issues.c.run_id, run_issues.c.issue)
        threads: dict[str, list[int]] = {}
        for row in await self._drops.read(members.where(run_issues.c.run_id.in_([row.id for row in rows]))):
            threads.setdefault(row.run_id, []).append(row.issue)
        return tuple(
            OldRun(id=row.id, branch=row.branch, threads=tuple(threads.get(row.id, ())), rows=row.rows) for row in rows
        )

    async def drop(self, old: Sequence[OldRun]) -> None:
        """Delete these runs with their events and artifacts."""
        for batch in batches(old, lambda run: run.rows, MAX_ROWS):
            ids = [run.id for run in batch]
            threads = sa.delete(run_issues).where(run_issues.c.run_id.in_(ids))
            await self._drops.write(*_facts(ids), threads, sa.delete(runs).where(runs.c.id.in_(ids)))

    async def drop_checks(self, repo: str, before: int, last_before: int, *, but: Collection[int] = ()) -> int:
        """Delete the runs of checks of heads whose last run ended before then and is reported; returns how many runs.

        Runs of a pull request's newest checked head are deleted only if they ended before `last_before`. They are never
        deleted for the pull requests in `but`."""
        query = sa.select(sa.func.max(pull_runs.c.number)).where(pull_runs.c.repo == repo)
        highest, count = await self._database.value(query) or 0, 0
        for first in range(0, highest + 1, _NUMBERS):
            rows = await self._drops.read(_old_checks(repo, first, before, last_before, but))
            for batch in batches(_by_head(rows), lambda checks: checks.rows, MAX_ROWS):
                ids = [run_id for checks in batch for run_id in checks.runs]
                await self._drops.write(*_facts(ids), sa.delete(pull_runs).where(pull_runs.c.id.in_(ids)))
                count += len(ids)
        return count

    async def drop_check_reports(self, repo: str) -> int:
        """Delete the reports of check runs whose run or head is deleted; returns how many. Reports in threads stay, one
        for each thread and purpose, since a thread can become active again at any time."""
        query = sa.select(reports.c.target).where(reports.c.repo == repo, reports.c.target.startswith(_CHECK))
        query = query.order_by(reports.c.target).limit(MAX_ROWS)
        count, after = 0, ""
        while rows := await self._drops.read(query.where(reports.c.target > after)):
            after = rows[-1].target
            orphans = await self._orphans(repo, [row.target for row in rows])
            if orphans:
                await self._drops.write(sa.delete(reports).where(reports.c.repo == repo, reports.c.target.in_(orphans)))
            count += len(orphans)
        return count

    async def _orphans(self, repo: str, targets: Sequence[str]) -> list[str]:
        """Those of the targets (`check:SHA:NAME:ID`) whose run, or head, is deleted."""
        parts = {target: target.split(":", 3) for target in targets}
        run_ids = {target: part[3] for target, part in parts.items() if len(part) == 4}
        ids, shas = list(run_ids.values()), [part[1] for part in parts.values()]
        known = sa.union(*(sa.select(table.c.id).where(table.c.id.in_(ids)) for table in (runs, pull_runs)))
        heads = sa.select(pull_heads.c.head_sha).where(pull_heads.c.repo == repo, pull_heads.c.head_sha.in_(shas))
        existing = {row[0] for row in [*await self._drops.read(known), *await self._drops.read(heads)]}
        return [
            target
            for target, run_id in run_ids.items()
            if not run_id.startswith(_OF_A_COMMIT)
            and (parts[target][1] if run_id.startswith(_OF_A_HEAD) else run_id) not in existing
        ]


def _rows_of(table: sa.Table) -> sa.Label[int]:
    """How many rows of `table` and `events` are deleted with a run."""
    own = sa.select(sa.func.count()).where(events.c.session_id == table.c.id, events.c.key.is_not(None))
    return (own.scalar_subquery() + 1).label("rows")


def _facts(ids: Sequence[str]) -> tuple[sa.Executable, ...]:
    """The statements that delete the events and artifacts of these runs."""
    return (
        sa.delete(events).where(events.c.session_id.in_(ids), events.c.key.is_not(None)),
        sa.delete(artifacts).where(artifacts.c.session_id.in_(ids)),
    )


def _old_checks(
    repo: str, first: int, before: int, last_before: int, but: Collection[int]
) -> sa.Select[tuple[int, str, str, int]]:
    """The query for the runs of heads that may be deleted, for pull requests from number `first` on."""
    here = (pull_runs.c.repo == repo) & pull_runs.c.number.between(first, first + _NUMBERS - 1)
    unfinished = pull_runs.c.status.in_(OPEN) | (pull_runs.c.reported < pull_runs.c.version)
    ended = sa.func.max(sa.func.coalesce(pull_runs.c.ended_at, pull_runs.c.created_at))
    created = sa.func.max(pull_runs.c.created_at)
    heads = (
        sa.select(pull_runs.c.number, pull_runs.c.head_sha, ended.label("ended"), created.label("created"))
        .where(here)
        .group_by(pull_runs.c.number, pull_runs.c.head_sha)
        .having(ended < before, sa.func.sum(sa.case((unfinished, 1), else_=0)) == 0)
        .subquery()
    )
    later = pull_runs.alias()
    same = (later.c.repo == repo) & (later.c.number == heads.c.number)
    followed = sa.exists().where(same, later.c.created_at > heads.c.created)
    expired = (heads.c.ended < last_before) & heads.c.number.not_in(but)
    own = (heads.c.number == pull_runs.c.number) & (heads.c.head_sha == pull_runs.c.head_sha)
    return (
        sa.select(pull_runs.c.number, pull_runs.c.head_sha, pull_runs.c.id, _rows_of(pull_runs))
        .join(heads, own)
        .where(here, followed | expired)
        .order_by(pull_runs.c.number, pull_runs.c.head_sha)
    )


def _by_head(rows: Sequence[Any]) -> list[_OldChecks]:
    groups = [list(group) for _, group in groupby(rows, lambda row: (row.number, row.head_sha))]
    return [_OldChecks(runs=tuple(row.id for row in group), rows=sum(row.rows for row in group)) for group in groups]
