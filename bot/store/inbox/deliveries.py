"""The inbox: each delivery is stored on disk before GitHub gets its response, and stays stored after it is processed.

Deliveries that arrive together share one commit. GitHub's ids are the keys, so repeated deliveries are detected
(T3)."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Literal

import sqlalchemy as sa

from bot.model import Model
from bot.store.database.database import Database
from bot.store.database.tables import deliveries as table

DeliveryOutcome = Literal["done", "ignored", "failed"]

_BATCH = 500
RUSH = 4
"""The number of deliveries in one commit that count as a rush."""

# module constants, since building a statement takes longer than running it
_IDS: sa.BindParameter[list[str]] = sa.bindparam("ids", expanding=True)
_KNOWN = sa.select(table.c.id, table.c.status).where(table.c.id.in_(_IDS))
_STORE = sa.insert(table)
_RETRY = (
    sa.update(table)
    .where(table.c.id == sa.bindparam("key"))
    .values(
        event=sa.bindparam("kind"),
        payload=sa.bindparam("body"),
        received_at=sa.bindparam("at"),
        status="accepted",
        because="",
    )
)
"""Replaces a failed delivery by its redelivery, which is the one that is acknowledged and processed."""

_OPEN = sa.text("status IN ('accepted', 'processing')")
"""The condition of the index `deliveries_open`, verbatim, since SQLite uses a partial index only then."""

_OLDEST = (
    sa.select(table.c.id, table.c.event, table.c.payload, table.c.received_at)
    .where(_OPEN, table.c.status == "accepted")
    .order_by(table.c.received_at)
    .limit(sa.bindparam("limit"))
)
_TAKEN = sa.update(table).where(table.c.id.in_(_IDS)).values(status="processing")
_MARK = (
    sa.update(table)
    .where(table.c.id == sa.bindparam("key"))
    .values(status=sa.bindparam("outcome"), because=sa.bindparam("why"))
)


class Delivery(Model):
    """One webhook POST: `payload` is its verified body, `received_at` is epoch milliseconds."""

    id: str
    event: str
    payload: bytes
    received_at: int


class DeliveryRow(Model):
    """A delivery without its payload, for lists."""

    delivery: str
    event: str
    status: str
    because: str
    received_at: int


class Inbox:
    """Stores deliveries in groups, and calls `on_stored` after each commit. Use `accept` from one event loop only."""

    def __init__(self, database: Database, on_stored: Callable[[], None] = lambda: None) -> None:
        self._database = database
        self._on_stored = on_stored
        self._waiting: list[tuple[Delivery, asyncio.Future[bool]]] = []
        self._flushing: asyncio.Task[None] | None = None

    async def accept(self, delivery: Delivery) -> bool:
        """Store a delivery durably. Returns False if its id is stored already, unless that one failed. Raises Transient
        if it cannot be stored."""
        future: asyncio.Future[bool] = asyncio.get_running_loop().create_future()
        self._waiting.append((delivery, future))
        if self._flushing is None:
            self._flushing = asyncio.create_task(self._flush())
        return await future

    async def _flush(self) -> None:
        try:
            while self._waiting:
                group, self._waiting = self._waiting, []
                await self._store(group)
        finally:
            self._flushing = None

    async def _store(self, group: list[tuple[Delivery, asyncio.Future[bool]]]) -> None:
        try:
            fresh = await self._database.write(lambda connection: _insert(connection, [item for item, _ in group]))
        except Exception as error:  # Transient or a bug: in both cases the callers of `accept` must get it
            for _, future in group:
                if not future.done():
                    future.set_exception(error)
            return
        if len(group) >= RUSH:
            self._database.rush.extend()
        for (_, future), is_new in zip(group, fresh, strict=True):
            if not future.done():
                future.set_result(is_new)
        self._on_stored()


def _insert(connection: sa.Connection, group: Sequence[Delivery]) -> list[bool]:
    """Store these deliveries; returns for each whether it is to be processed."""
    ids = [delivery.id for delivery in group]
    known = {row.id: row.status for row in connection.execute(_KNOWN, {"ids": ids})}
    fresh: list[bool] = []
    rows: list[dict[str, object]] = []
    retries: list[dict[str, object]] = []
    for delivery in group:
        status = known.get(delivery.id)
        fresh.append(status in (None, "failed"))
        if status is None:
            rows.append({**dict(delivery), "status": "accepted"})
        elif status == "failed":
            row = {"key": delivery.id, "kind": delivery.event}
            retries.append({**row, "body": delivery.payload, "at": delivery.received_at})
        known[delivery.id] = "accepted"
    if rows:
        connection.execute(_STORE, rows)
    if retries:
        connection.execute(_RETRY, retries)
    return fresh


class Deliveries:
    """Reads stored deliveries for processing, and stores their outcomes."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._marks: list[dict[str, str]] = []
        self._marking: asyncio.Task[None] | None = None
        self.processed: Counter[str] = Counter()
        """How many outcomes this process has stored, by outcome."""

    async def reopen(self) -> None:
        """Let deliveries that were being processed when the server ended be taken again; call it once at start."""
        query = sa.update(table).where(_OPEN, table.c.status == "processing").values(status="accepted")
        await self._database.change(query)

    async def take(self, limit: int) -> tuple[Delivery, ...]:
        """Mark the oldest accepted deliveries as `processing` and return them. First waits for the end of a rush."""

        def work(connection: sa.Connection) -> tuple[Delivery, ...]:
            rows = connection.execute(_OLDEST, {"limit": limit}).all()
            if rows:
                connection.execute(_TAKEN, {"ids": [row.id for row in rows]})
            return tuple(
                Delivery(id=r.id, event=r.event, payload=bytes(r.payload), received_at=r.received_at) for r in rows
            )

        await self._database.rush.wait_for_end()
        return await self._database.write(work)

    async def mark(self, delivery_id: str, outcome: DeliveryOutcome, because: str) -> None:
        """Store the outcome of a delivery. Simultaneous calls share one write, so use one event loop only."""
        self._marks.append({"key": delivery_id, "outcome": outcome, "why": because[:2000]})
        if self._marking is None:
            self._marking = asyncio.create_task(self._write_marks())
        await asyncio.shield(self._marking)

    async def _write_marks(self) -> None:
        marks, self._marks, self._marking = self._marks, [], None
        await self._database.change(_MARK, marks)
        self.processed.update(mark["outcome"] for mark in marks)

    async def known(self, ids: Sequence[str]) -> frozenset[str]:
        """Those of these ids that are in the inbox, with any status."""

        def work(connection: sa.Connection) -> frozenset[str]:
            batches = (ids[start : start + _BATCH] for start in range(0, len(ids), _BATCH))
            return frozenset(row.id for batch in batches for row in connection.execute(_KNOWN, {"ids": batch}))

        return await self._database.read(work) if ids else frozenset()

    async def get(self, delivery_id: str) -> Delivery | None:
        """The stored delivery with this id, whatever its status; None if there is none."""
        columns = (table.c.id, table.c.event, table.c.payload, table.c.received_at)
        row = await self._database.first(sa.select(*columns).where(table.c.id == delivery_id))
        return None if row is None else Delivery(**{**row._mapping, "payload": bytes(row.payload)})

    async def list(self, limit: int, offset: int = 0, *, with_ignored: bool = True) -> tuple[DeliveryRow, ...]:
        """Stored deliveries, newest first; without those that Mendbot does nothing on where `with_ignored` is false."""
        columns = (
            table.c.id.label("delivery"),
            *(table.c[name] for name in ("event", "status", "because", "received_at")),
        )
        query = sa.select(*columns).order_by(table.c.received_at.desc(), table.c.id).limit(limit).offset(offset)
        if not with_ignored:
            query = query.where(table.c.status != "ignored")
        return tuple(DeliveryRow(**row._mapping) for row in await self._database.all(query))
