"""Refused deliveries. Only the newest are stored, since anybody can send any number of them."""

from __future__ import annotations

from collections.abc import Sequence

import sqlalchemy as sa

from bot.store.database.database import Database
from bot.store.database.tables import refused_deliveries as table
from bot.store.inbox.deliveries import DeliveryRow

MAX_ROWS = 200
MAX_REASON = 500
"""The maximal number of characters of a stored reason."""

_NEWEST = sa.select(table.c.id).order_by(table.c.id.desc()).limit(MAX_ROWS)


class RefusedDeliveries:
    """The newest refused deliveries."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def add(self, rows: Sequence[DeliveryRow]) -> None:
        """Store these (oldest first), and delete all but the newest `MAX_ROWS`."""
        values = [row.model_dump(exclude={"status"}) for row in rows]

        def work(connection: sa.Connection) -> None:
            connection.execute(sa.insert(table), values)
            connection.execute(sa.delete(table).where(table.c.id.not_in(_NEWEST)))

        await self._database.write(work)

    async def list(self) -> tuple[DeliveryRow, ...]:
        """All stored ones, newest first."""
        columns = (table.c.delivery, table.c.event, table.c.because, table.c.received_at)
        query = sa.select(*columns).order_by(table.c.id.desc())
        return tuple(DeliveryRow(status="refused", **row._mapping) for row in await self._database.all(query))
