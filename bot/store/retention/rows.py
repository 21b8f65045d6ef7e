"""What is old and needed by nobody goes, a few rows at a time: no commit holds the writer for long, and a rush of
deliveries goes first. Cut short anywhere, the next pass goes on; done again, it finds nothing.

How long things are kept the caller says: `before` is always epoch milliseconds. Nothing of the error history ever goes:
no row of `error_*`, and no event without a key. Runs are dropped by `store.retention.runs`."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from datetime import UTC, datetime
from functools import partial
from typing import Any, TypeVar

import sqlalchemy as sa

from bot.store.database.database import Database
from bot.store.database.tables import (
    base_results,
    commands,
    deliveries,
    outcome_errors,
    outcomes,
    pull_approvals,
    pull_heads,
)

MAX_ROWS = 200
"""Rows that go in one commit; what must go together goes together, even if it is more."""
MAX_BYTES = 512 * 1024
"""Of payloads that go in one commit, but for a single one that is larger: GitHub may make it 25 MB."""
PAUSE_S = 0.05
"""Between two commits, in which the writer is everybody else's."""
PAUSES = 4
"""Where a commit took long, because the machine has much to do, the pause is so many times as long."""

_ENDED = ("done", "ignored", "failed")

T = TypeVar("T")


class Drops:
    """A database from which rows go in small commits."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self.read = database.all

    async def write(self, *changes: sa.Executable) -> None:
        """Make these changes in one commit."""

        def work(connection: sa.Connection) -> None:
            for change in changes:
                connection.execute(change)

        await self.work(work)

    async def work(self, work: Callable[[sa.Connection], None]) -> None:
        """Do this in one commit."""
        await self._database.rush.over()
        began = time.monotonic()
        await self._database.write(work)
        await asyncio.sleep(max(PAUSE_S, PAUSES * (time.monotonic() - began)))

    async def drop(
        self, table: sa.Table, old: sa.ColumnElement[bool], *, order: sa.ColumnElement[Any] | None = None
    ) -> int:
        """Delete the rows of which that is true and, while they go, still is; how many there were."""
        keys = list(table.primary_key.columns)
        query = sa.select(*keys).where(old).order_by(order).limit(MAX_ROWS)
        gone = 0
        while rows := await self.read(query):
            among = keys[0].in_([row[0] for row in rows]) if len(keys) == 1 else sa.tuple_(*keys).in_(map(tuple, rows))
            await self.write(sa.delete(table).where(among, old))
            gone += len(rows)
        return gone


class Retention:
    """Each of these says how many rows it was about."""

    def __init__(self, database: Database) -> None:
        self._drops = Drops(database)

    async def payloads(self, before: int) -> int:
        """Empty the payloads of deliveries that came earlier and were dealt with; their ids stay known."""
        at, size = deliveries.c.received_at, sa.func.length(deliveries.c.payload)
        old = sa.and_(at < before, deliveries.c.status.in_(_ENDED))
        query = sa.select(deliveries.c.id, at, size.label("size")).where(old, size > 0).order_by(at)
        gone, since = 0, 0
        # each look begins where the last one ended: what is empty already is passed over once, not once a batch
        while rows := await self._drops.read(query.where(at >= since).limit(MAX_ROWS // 2)):
            some = next(packed(rows, lambda row: row.size, MAX_BYTES))
            among = sa.and_(deliveries.c.id.in_([row.id for row in some]), old)
            await self._drops.work(partial(_empty, among))
            gone, since = gone + len(some), some[-1].received_at
        return gone

    async def deliveries(self, before: int) -> int:
        """Forget deliveries that came earlier and were dealt with."""
        at, status = deliveries.c.received_at, deliveries.c.status
        return await self._drops.drop(deliveries, sa.and_(at < before, status.in_(_ENDED)), order=at)

    async def commands(self, before: int) -> int:
        """Forget commands that were given earlier; one that is still to be run is kept."""
        over = sa.or_(commands.c.outcome != "", commands.c.answer != "new")
        return await self._drops.drop(commands, sa.and_(commands.c.at < before, over))

    async def approvals(self, before: int) -> int:
        """Let approvals that were given earlier expire."""
        return await self._drops.drop(pull_approvals, pull_approvals.c.at < before)

    async def outcomes(self, before: int) -> int:
        """Drop outcomes and base results that are older.

        An outcome goes with its errors in one commit, so that all that is told stays true of the time since: how often
        an error was seen is counted from a day that moves along, and a rate is of the runs that are left."""
        query = sa.select(outcomes.c.at, outcomes.c.shown).where(outcomes.c.at < before)
        query = query.order_by(outcomes.c.at).limit(MAX_ROWS)
        gone = 0
        while rows := await self._drops.read(query):
            some = next(packed(rows, lambda row: row.shown + 1, MAX_ROWS))
            moment = some[-1].at
            await self._drops.write(*(sa.delete(one).where(one.c.at <= moment) for one in (outcome_errors, outcomes)))
            gone += len(some)
        return gone + await self._drops.drop(base_results, base_results.c.at < before)

    async def heads(self, repo: str, before: int, *, but: Collection[int] = ()) -> int:
        """Forget heads that others had followed by then, but for those of these pull requests. The newest of each
        stays: it is what tells that a request had another head before the one that comes next (T11)."""
        moment, newer = datetime.fromtimestamp(before / 1000, UTC).isoformat(), pull_heads.alias()
        own = sa.and_(newer.c.repo == pull_heads.c.repo, newer.c.number == pull_heads.c.number)
        followed = sa.exists().where(own, newer.c.place > pull_heads.c.place, newer.c.at < moment)
        here = sa.and_(pull_heads.c.repo == repo, pull_heads.c.number.not_in(but))
        return await self._drops.drop(pull_heads, sa.and_(here, followed))


def _empty(among: sa.ColumnElement[bool], connection: sa.Connection) -> None:
    """Put rows without payloads in the place of these. SQLite gives back a page when a row is deleted, not when it
    shrinks: it would go on to hold one for each row."""
    columns = [column for column in deliveries.columns if column is not deliveries.c.payload]
    rows = connection.execute(sa.select(*columns).where(among)).mappings().all()
    if rows:
        connection.execute(sa.delete(deliveries).where(among))
        connection.execute(sa.insert(deliveries), [{**row, "payload": b""} for row in rows])


def packed(items: Sequence[T], weight: Callable[[T], int], most: int) -> Iterator[list[T]]:
    """The items in their order, in parts that weigh at most so much or are a single item."""
    part: list[T] = []
    total = 0
    for item in items:
        if part and total + weight(item) > most:
            yield part
            part, total = [], 0
        part.append(item)
        total += weight(item)
    if part:
        yield part
