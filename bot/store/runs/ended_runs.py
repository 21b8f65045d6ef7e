"""Counts ended runs by their outcome, and how long runs and attempts took, for the metrics.

The first reading counts the newest ended runs in the store. Each later one reads only the events that were added since,
so its cost does not grow with the store."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any, NamedTuple

import sqlalchemy as sa

from bot.model.histogram import Histogram
from bot.store.database.database import Database
from bot.store.database.tables import events, pull_runs, runs

MAX_RUNS = 10_000
"""How many ended runs of each kind the first reading counts."""

_OVERLAP = 1_000
"""On Postgres a smaller id may be committed after a larger one, so the last ids are read again."""
_KINDS = {"session_finished": ("fix", runs), "pull_finished": ("pull_check", pull_runs)}
_TYPES = (*_KINDS, "tests_passed", "tests_failed")
_RUN_BOUNDS = (10.0, 30.0, 60.0, 120.0, 300.0, 600.0, 1200.0, 1800.0, 3600.0, 7200.0, 21600.0)
_ATTEMPT_BOUNDS = (1.0, 5.0, 10.0, 30.0, 60.0, 120.0, 300.0, 600.0, 1200.0, 1800.0, 3600.0)


class Outcome(NamedTuple):
    """What ended runs are counted by. `stop_reason` and `proof` are empty where the run has none."""

    kind: str
    status: str
    stop_reason: str
    proof: str


class _Ended(NamedTuple):
    """The end of a run, or of an attempt if there is no outcome; `id` is that of its event."""

    id: int
    seconds: float
    outcome: Outcome | None = None


class EndedRuns:
    """The counts since the oldest run that was counted. Use it from one event loop."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._reading = asyncio.Lock()
        self._last: int | None = None
        self._recent: frozenset[int] = frozenset()
        self.outcomes: Counter[Outcome] = Counter()
        self.durations = {kind: Histogram(_RUN_BOUNDS) for kind, _ in _KINDS.values()}
        """How long runs took, from their request to their end, by kind."""
        self.attempts = Histogram(_ATTEMPT_BOUNDS)
        """How long attempts took, from their start to the verdict of their checks; since the first reading."""

    async def read(self) -> None:
        """Count what has ended since the last reading. Raises Transient if the database cannot be read."""
        async with self._reading:
            last, recent = self._last, self._recent
            newest, ended = await self._database.read(
                _stored if last is None else lambda connection: _added(connection, last, recent)
            )
            known = (*recent, *(each.id for each in ended))
            self._last, self._recent = newest, frozenset(event for event in known if event > newest - _OVERLAP)
        for each in ended:
            if each.outcome is None:
                self.attempts.add(each.seconds)
            else:
                self.outcomes[each.outcome] += 1
                self.durations[each.outcome.kind].add(each.seconds)


def _stored(connection: sa.Connection) -> tuple[int, list[_Ended]]:
    """The largest event id, and the newest ended runs of both kinds."""
    ended = []
    for event_type, (_, table) in _KINDS.items():
        newest = (
            sa.select(table.c.id, table.c.created_at)
            .where(table.c.ended_at.is_not(None))
            .order_by(table.c.created_at.desc())
            .limit(MAX_RUNS)
            .subquery()
        )
        joined = newest.join(events, (events.c.session_id == newest.c.id) & (events.c.key == event_type))
        query = sa.select(events.c.id, events.c.type, events.c.ts, events.c.data, newest.c.created_at)
        ended += [_run_end(row) for row in connection.execute(query.select_from(joined))]
    return connection.scalar(sa.select(sa.func.max(events.c.id))) or 0, ended


def _added(connection: sa.Connection, last: int, known: frozenset[int]) -> tuple[int, list[_Ended]]:
    """The largest event id, and what has ended after the event `last` and is not `known`."""
    columns = (events.c.id, events.c.type, events.c.ts, events.c.data, events.c.session_id)
    query = sa.select(*columns).where(events.c.id > last - _OVERLAP, events.c.type.in_(_TYPES))
    rows = [row for row in connection.execute(query) if row.id not in known]
    newest = connection.scalar(sa.select(sa.func.max(events.c.id))) or 0
    return max(last, newest), [each for row in rows for each in _with_start(connection, row)]


def _with_start(connection: sa.Connection, row: Any) -> Iterator[_Ended]:
    if row.type in _KINDS:
        table = _KINDS[row.type][1]
        run = connection.execute(sa.select(table.c.created_at).where(table.c.id == row.session_id)).first()
        if run is not None:
            yield _run_end(row, run.created_at)
        return
    key = f"attempt:{row.data['iteration']}"
    query = sa.select(events.c.ts).where(events.c.session_id == row.session_id, events.c.key == key)
    started = connection.scalar(query)
    if started is not None:
        yield _Ended(row.id, max(0.0, _timestamp(row.ts) - _timestamp(started)))


def _run_end(row: Any, created_at: int | None = None) -> _Ended:
    data = row.data["data"]
    stop, created_ms = data.get("stop") or {}, row.created_at if created_at is None else created_at
    outcome = Outcome(_KINDS[row.type][0], data["status"], stop.get("reason", ""), data.get("proof") or "")
    return _Ended(row.id, max(0.0, _timestamp(row.ts) - created_ms / 1000), outcome)


def _timestamp(text: str) -> float:
    at = datetime.fromisoformat(text)
    return (at if at.tzinfo else at.replace(tzinfo=UTC)).timestamp()
