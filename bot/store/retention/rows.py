"""Deletes old rows in small commits, so that no commit blocks the writer for long. It pauses during a rush of
deliveries. After an interruption, the next call continues.

The caller chooses the age: `before` is always epoch milliseconds. The error history is never deleted: no row of
`error_*`, and no event without a key. Runs are deleted by `store.retention.runs`."""

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
    test_runs,
)

MAX_ROWS = 200
"""The maximal number of rows that one commit deletes, unless rows that belong together are more."""
MAX_BYTES = 512 * 1024
"""The maximal size of the payloads that one commit deletes, unless a single one is larger (GitHub allows 25 MB)."""
PAUSE_S = 0.05
"""The minimal pause after each commit, in which other tasks can use the writer."""
PAUSES = 4
"""The pause lasts at least this many times as long as the commit, so that it is longer while the machine is busy."""

_ENDED = ("done", "ignored", "failed")

T = TypeVar("T")


class Drops:
    """Deletes rows of a database in small commits, with a pause after each."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self.read = database.all

    async def write(self, *changes: sa.Executable) -> None:
        """Execute these statements in one commit."""

        def work(connection: sa.Connection) -> None:
            for change in changes:
                connection.execute(change)

        await self.work(work)

    async def work(self, work: Callable[[sa.Connection], None]) -> None:
        """Run `work` in one commit."""
        await self._database.rush.wait_for_end()
        began = time.monotonic()
        await self._database.write(work)
        await asyncio.sleep(max(PAUSE_S, PAUSES * (time.monotonic() - began)))

    async def drop(
        self, table: sa.Table, old: sa.ColumnElement[bool], *, order: sa.ColumnElement[Any] | None = None
    ) -> int:
        """Delete the rows for which the condition is true, also at the time of the deletion; returns how many."""
        keys = list(table.primary_key.columns)
        query = sa.select(*keys).where(old).order_by(order).limit(MAX_ROWS)
        count = 0
        while rows := await self.read(query):
            batch = keys[0].in_([row[0] for row in rows]) if len(keys) == 1 else sa.tuple_(*keys).in_(map(tuple, rows))
            await self.write(sa.delete(table).where(batch, old))
            count += len(rows)
        return count


class Retention:
    """Deletes old rows of each kind. Each method returns the number of rows."""

    def __init__(self, database: Database) -> None:
        self._drops = Drops(database)

    async def payloads(self, before: int) -> int:
        """Empty the payloads of processed deliveries that were received earlier; their rows stay."""
        at, size = deliveries.c.received_at, sa.func.length(deliveries.c.payload)
        old = sa.and_(at < before, deliveries.c.status.in_(_ENDED))
        query = sa.select(deliveries.c.id, at, size.label("size")).where(old, size > 0).order_by(at)
        count, since = 0, 0
        # each query starts at the end of the previous batch, so that rows that are empty already are read only once
        while rows := await self._drops.read(query.where(at >= since).limit(MAX_ROWS // 2)):
            batch = next(batches(rows, lambda row: row.size, MAX_BYTES))
            condition = sa.and_(deliveries.c.id.in_([row.id for row in batch]), old)
            await self._drops.work(partial(_empty, condition))
            count, since = count + len(batch), batch[-1].received_at
        return count

    async def deliveries(self, before: int) -> int:
        """Delete processed deliveries that were received earlier."""
        at, status = deliveries.c.received_at, deliveries.c.status
        return await self._drops.drop(deliveries, sa.and_(at < before, status.in_(_ENDED)), order=at)

    async def commands(self, before: int) -> int:
        """Delete earlier commands, except accepted ones that have not begun."""
        deletable = sa.or_(commands.c.outcome != "", commands.c.answer != "new")
        return await self._drops.drop(commands, sa.and_(commands.c.at < before, deletable))

    async def approvals(self, before: int) -> int:
        """Delete earlier approvals, which expire thereby."""
        return await self._drops.drop(pull_approvals, pull_approvals.c.at < before)

    async def outcomes(self, before: int) -> int:
        """Delete earlier outcomes, base results and remembered runs of tests.

        Outcomes are deleted by age, each with its errors in one commit, so that the remaining counts and rates are
        complete for the remaining time."""
        query = sa.select(outcomes.c.at, outcomes.c.shown).where(outcomes.c.at < before)
        query = query.order_by(outcomes.c.at).limit(MAX_ROWS)
        count = 0
        while rows := await self._drops.read(query):
            batch = next(batches(rows, lambda row: row.shown + 1, MAX_ROWS))
            tables, last = (outcome_errors, outcomes), batch[-1].at
            await self._drops.write(*(sa.delete(table).where(table.c.at <= last) for table in tables))
            count += len(batch)
        count += await self._drops.drop(test_runs, test_runs.c.at < before)
        return count + await self._drops.drop(base_results, base_results.c.at < before)

    async def heads(self, repo: str, before: int, *, but: Collection[int] = ()) -> int:
        """Delete heads that had been replaced by newer ones before then, except those of the pull requests in `but`.

        The newest head of each pull request stays, since it is needed to detect that the next head is new (T11)."""
        moment, newer = datetime.fromtimestamp(before / 1000, UTC).isoformat(), pull_heads.alias()
        own = sa.and_(newer.c.repo == pull_heads.c.repo, newer.c.number == pull_heads.c.number)
        followed = sa.exists().where(own, newer.c.place > pull_heads.c.place, newer.c.at < moment)
        here = sa.and_(pull_heads.c.repo == repo, pull_heads.c.number.not_in(but))
        return await self._drops.drop(pull_heads, sa.and_(here, followed))


def _empty(condition: sa.ColumnElement[bool], connection: sa.Connection) -> None:
    """Replace these rows by rows without payloads. An update would not do: SQLite frees a page when a row is deleted,
    but not when the row shrinks."""
    columns = [column for column in deliveries.columns if column is not deliveries.c.payload]
    rows = connection.execute(sa.select(*columns).where(condition)).mappings().all()
    if rows:
        connection.execute(sa.delete(deliveries).where(condition))
        connection.execute(sa.insert(deliveries), [{**row, "payload": b""} for row in rows])


def batches(items: Sequence[T], size: Callable[[T], int], max_size: int) -> Iterator[list[T]]:
    """The items in their order, in batches whose total size is at most `max_size`. An item that is larger is a batch of
    its own."""
    batch: list[T] = []
    total = 0
    for item in items:
        if batch and total + size(item) > max_size:
            yield batch
            batch, total = [], 0
        batch.append(item)
        total += size(item)
    if batch:
        yield batch
