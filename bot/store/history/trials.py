"""The trial of guidance: for each run and each known error of its briefs, whether the guidance was withheld and whether
the run passed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import sqlalchemy as sa

from bot.model import KnownError
from bot.model.guidance_trial import GuidanceTrial, TriedGuidance
from bot.rules.history.guidance_trial import is_muted, trial_of
from bot.store.database.database import Database, now_ms
from bot.store.database.sql import insert, repo_key
from bot.store.database.tables import error_trials as table


class GuidanceTrials:
    """The figures of the trial. A row counts for a known error only until that error is resolved anew."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def record(
        self, run_id: str, repo: str, guidance: Sequence[TriedGuidance], *, withheld: bool, passed: bool
    ) -> None:
        """Store the result of a run, once for each known error; a repeated call changes nothing."""
        own = {"run_id": run_id, "repo": repo_key(repo) or "", "withheld": withheld, "passed": passed, "at": now_ms()}
        rows = [{**own, "kb_id": one.id, "use_count": one.use_count} for one in guidance]

        def work(connection: sa.Connection) -> None:
            for row in rows:
                connection.execute(insert(connection, table).values(row).on_conflict_do_nothing())

        await self._database.write(work)

    async def figures(self, repo: str | None = None) -> GuidanceTrial:
        """The figures over all runs, or over those of one repository (OWNER/NAME)."""
        runs = sa.select(table.c.run_id, table.c.withheld, table.c.passed).distinct()
        runs = runs if repo is None else runs.where(table.c.repo == repo_key(repo))
        each = runs.subquery()
        query = sa.select(each.c.withheld, each.c.passed, sa.func.count().label("runs"))
        return _trial(await self._database.all(query.group_by(each.c.withheld, each.c.passed)))

    async def muted(self, repo: str, known_errors: Sequence[KnownError]) -> frozenset[int]:
        """The ids of those known errors whose guidance does not help in this repository (`is_muted`)."""
        counts = {known.id: known.use_count for known in known_errors}
        columns = (table.c.kb_id, table.c.use_count, table.c.withheld, table.c.passed)
        query = sa.select(*columns, sa.func.count().label("runs")).group_by(*columns)
        query = query.where(table.c.kb_id.in_(tuple(counts)), table.c.repo == (repo_key(repo) or ""))
        rows: dict[int, list[Any]] = {}
        for row in await self._database.all(query):
            if row.use_count == counts[row.kb_id]:
                rows.setdefault(row.kb_id, []).append(row)
        return frozenset(kb_id for kb_id, own in rows.items() if is_muted(_trial(own)))


def _trial(rows: Sequence[Any]) -> GuidanceTrial:
    runs = {(bool(row.withheld), bool(row.passed)): row.runs for row in rows}
    shown, withheld = (runs.get((group, True), 0) + runs.get((group, False), 0) for group in (False, True))
    return trial_of(shown, runs.get((False, True), 0), withheld, runs.get((True, True), 0))
