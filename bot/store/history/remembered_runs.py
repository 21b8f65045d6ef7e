"""Remembers how often each failing test failed and passed, by repository, check, test, commit and place.

Only failing tests are remembered, and each repository has at most `MAX_ROWS` rows, so it cannot fill the disk. Both
outcomes of a run are counted for the same tests, so the counts show how often a test fails."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

import sqlalchemy as sa

from bot.model.dashboard import FlakyTest
from bot.model.pulls import NO_RUNS, RunCounts
from bot.store.database.database import Database, now_ms
from bot.store.database.sql import insert, sound
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

    async def flaky(self, repo: str, *, limit: int) -> tuple[FlakyTest, ...]:
        """The tests that failed and passed on one commit, with all their runs; those that failed most come first."""
        both = sa.select(table.c.stage, table.c.test).distinct()
        both = both.where(table.c.repo == repo, table.c.failed > 0, table.c.passed > 0)
        failed, passed = sa.func.sum(table.c.failed), sa.func.sum(table.c.passed)
        query = sa.select(table.c.stage, table.c.test, failed.label("failed"), passed.label("passed"))
        query = query.where(table.c.repo == repo, sa.tuple_(table.c.stage, table.c.test).in_(both))
        query = query.group_by(table.c.stage, table.c.test).order_by(failed.desc(), table.c.stage, table.c.test)
        return tuple(
            FlakyTest(check=row.stage, name=row.test, failed=int(row.failed), runs=int(row.failed + row.passed))
            for row in await self._database.all(query.limit(limit))
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
