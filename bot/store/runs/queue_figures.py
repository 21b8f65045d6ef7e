"""How much waits in each queue, and since when. Every query uses an index of open rows, whose number is small."""

from __future__ import annotations

import sqlalchemy as sa

from bot.model import Model
from bot.store.database.database import Database
from bot.store.database.tables import candidates, deliveries, pull_runs, runs
from bot.store.runs.rows import HELD

_OPEN_DELIVERIES = sa.text("status IN ('accepted', 'processing')")
"""The condition of the index `deliveries_open`, verbatim, since SQLite uses a partial index only then."""


class QueueFigures(Model):
    """The number of rows that wait in one queue, and the time of the oldest in epoch milliseconds."""

    depth: int
    oldest_at: int | None


class QueueStatistics:
    """Reads the figures of all queues."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def read(self) -> dict[str, QueueFigures]:
        """The figures of each queue: `deliveries`, `deliveries_processing`, `candidates`, then queued and running runs
        of both kinds, and `reports` that are not published."""

        def work(connection: sa.Connection) -> dict[str, QueueFigures]:
            return {name: _figures(connection, query) for name, query in _QUERIES.items()}

        return await self._database.read(work)


def _figures(connection: sa.Connection, query: sa.Select[int, int]) -> QueueFigures:
    depth, oldest_at = connection.execute(query).one()
    return QueueFigures(depth=depth, oldest_at=oldest_at)


def _waiting(at: sa.Column[int], *conditions: sa.ColumnElement[bool]) -> sa.Select[int, int]:
    return sa.select(sa.func.count(), sa.func.min(at)).select_from(at.table).where(*conditions)


def _delivery(status: str) -> sa.Select[int, int]:
    condition = deliveries.c.status == status
    return _waiting(deliveries.c.received_at, condition).where(_OPEN_DELIVERIES)


def _unreported(table: sa.Table) -> sa.Select[int, int]:
    return _waiting(table.c.created_at, table.c.reported < table.c.version, table.c.reported < HELD)


_QUERIES = {
    "deliveries": _delivery("accepted"),
    "deliveries_processing": _delivery("processing"),
    "candidates": _waiting(candidates.c.first_at),
    "fix_queued": _waiting(runs.c.created_at, runs.c.status == "queued"),
    "fix_running": _waiting(runs.c.created_at, runs.c.status == "running"),
    "pull_check_queued": _waiting(pull_runs.c.created_at, pull_runs.c.status == "queued"),
    "pull_check_running": _waiting(pull_runs.c.created_at, pull_runs.c.status == "running"),
    "fix_reports": _unreported(runs),
    "pull_check_reports": _unreported(pull_runs),
}
