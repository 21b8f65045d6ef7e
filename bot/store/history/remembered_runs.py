"""Remembers how often each failing test failed and passed, by repository, check, test, commit and place.

Only failing tests are remembered, and each repository has at most `MAX_ROWS` rows, so it cannot fill the disk. Both
outcomes of a run are counted for the same tests, so the counts show how often a test fails."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

import sqlalchemy as sa

from bot.model.pulls import NO_RUNS, RunCounts
from bot.store.database.database import Database, now_ms
from bot.store.database.sql import insert, sound, visible_in
from bot.store.database.tables import test_runs as table

Place = Literal["base", "head"]
"""The commit of a run: one of the base branch, or the head of a pull request or a merge group."""

MAX_ROWS = 20_000
"""The maximal number of rows of one repository; the oldest are deleted."""
_SPARE_ROWS = 1_000
"""Rows that are deleted beyond the limit, so that it is not reached again at once."""
_MAX_NAME = 400
_BATCH = 500


@dataclass(frozen=True, slots=True)
class Remembered:
    """The runs of one test on the base branch: on one commit, and on its other commits."""

    here: RunCounts = NO_RUNS
    before: RunCounts = NO_RUNS


@dataclass(frozen=True, slots=True)
class FlakyRuns:
    """The runs of a test that failed and passed on one commit of the base branch.

    Commits on which every run failed are not counted."""

    repo: str
    stage: str
    test: str
    runs: RunCounts
    last_at: int

    @property
    def percent(self) -> int:
        """The share of runs that failed, at least 1."""
        return max(1, round(100 * self.runs.failed / self.runs.total))


class RememberedRuns:
    """The runs of failing tests. Rows that `Retention` has deleted no longer count."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def add(
        self, repo: str, stage: str, commit: tuple[str, Place], *, failed: Iterable[str], passed: Iterable[str]
    ) -> None:
        """Count one run of these tests on a commit, given as its SHA and place."""
        sha, place = commit
        outcomes = {**dict.fromkeys(map(_name, passed), (0, 1)), **dict.fromkeys(map(_name, failed), (1, 0))}
        key, at = {"repo": repo, "stage": stage, "sha": sha, "place": place}, now_ms()
        rows = [
            {**key, "test": test, "failed": failed_runs, "passed": passed_runs, "at": at}
            for test, (failed_runs, passed_runs) in outcomes.items()
        ]

        def work(connection: sa.Connection) -> None:
            query = insert(connection, table)
            added = {
                "failed": table.c.failed + query.excluded.failed,
                "passed": table.c.passed + query.excluded.passed,
                "at": query.excluded.at,
            }
            connection.execute(query.on_conflict_do_update(index_elements=[*table.primary_key], set_=added), rows)
            _delete_oldest(connection, repo)

        if rows:
            await self._database.write(work)

    async def on_base(
        self, repo: str, stage: str, tests: Sequence[str], sha: str, *, since_ms: int
    ) -> dict[str, Remembered]:
        """The runs of these tests on the base branch, for those that have any.

        Runs on `sha` since that time are `here`. All others are `before`, except commits on which every run failed:
        those were broken, which shows nothing about a flaky test."""
        keys = {_name(test): test for test in tests}

        def work(connection: sa.Connection) -> dict[str, Remembered]:
            found: dict[str, Remembered] = {}
            names = list(keys)
            for start in range(0, len(names), _BATCH):
                query = sa.select(table).where(table.c.repo == repo, table.c.stage == stage, table.c.place == "base")
                for row in connection.execute(query.where(table.c.test.in_(names[start : start + _BATCH]))):
                    known, runs = found.get(row.test, Remembered()), RunCounts(failed=row.failed, passed=row.passed)
                    if row.sha == sha and row.at >= since_ms:
                        found[row.test] = Remembered(known.here + runs, known.before)
                    elif runs.passed:
                        found[row.test] = Remembered(known.here, known.before + runs)
            return found

        return {keys[name]: runs for name, runs in (await self._database.read(work)).items()}

    async def flaky(
        self, limit: int, *, repo: str = "", visible: Collection[str] | None = None
    ) -> tuple[FlakyRuns, ...]:
        """The flaky tests of one repository or of all, those with the highest rate first.

        `visible` are the repositories whose tests the viewer may see; None stands for all."""
        failed, passed = sa.func.sum(table.c.failed), sa.func.sum(table.c.passed)
        own = (table.c.repo, table.c.stage, table.c.test)
        columns = (failed.label("failed"), passed.label("passed"), sa.func.max(table.c.at).label("last_at"))
        query = sa.select(*own, *columns).where(table.c.place == "base", table.c.passed > 0).group_by(*own)
        query = query.having(failed > 0).where(*visible_in(table.c.repo, repo, visible))
        rate = sa.cast(failed, sa.Float) / (failed + passed)
        rows = await self._database.all(query.order_by(rate.desc(), failed.desc(), *own).limit(limit))
        return tuple(
            FlakyRuns(row.repo, row.stage, row.test, RunCounts(failed=row.failed, passed=row.passed), row.last_at)
            for row in rows
        )


def _name(test: str) -> str:
    return sound(test)[:_MAX_NAME]


def _delete_oldest(connection: sa.Connection, repo: str) -> None:
    count = connection.execute(sa.select(sa.func.count()).where(table.c.repo == repo)).scalar() or 0
    if count <= MAX_ROWS:
        return
    oldest = sa.select(table.c.at).where(table.c.repo == repo).order_by(table.c.at)
    last = connection.execute(oldest.offset(count - MAX_ROWS + _SPARE_ROWS - 1).limit(1)).scalar()
    connection.execute(sa.delete(table).where(table.c.repo == repo, table.c.at <= last))
