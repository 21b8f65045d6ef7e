"""Rejected deliveries are logged and listed at a bounded rate: twenty lines a minute for each HTTP status, a write
every few seconds and two hundred rows."""

from __future__ import annotations

import asyncio
import time
from collections import Counter, deque

from bot.errors import Transient
from bot.logs import get_logger
from bot.store.inbox.deliveries import DeliveryRow
from bot.store.inbox.refused_deliveries import MAX_REASON, MAX_ROWS, RefusedDeliveries

LOG_S = 60.0
MAX_LINES = 20
WRITE_S = 5.0

log = get_logger()


class Rejections:
    """Records rejections on the event loop that calls `add`."""

    def __init__(self, store: RefusedDeliveries, log_s: float = LOG_S, write_s: float = WRITE_S) -> None:
        self._store = store
        self._log_s, self._write_s = log_s, write_s
        self._pending: deque[DeliveryRow] = deque(maxlen=MAX_ROWS)
        self._writing: asyncio.Task[None] | None = None
        self._logged: Counter[int] = Counter()
        """How many came in this minute, by HTTP status."""
        self.counts: Counter[int] = Counter()
        """How many deliveries this process has rejected, by HTTP status."""

    def add(self, status: int, delivery: str, event: str, because: str) -> None:
        """Record a delivery that was rejected with that HTTP status. Waits for nothing."""
        now = int(time.time() * 1000)
        row = DeliveryRow(
            delivery=delivery, event=event, status="refused", because=because[:MAX_REASON], received_at=now
        )
        self._pending.append(row)
        self.counts[status] += 1
        if self._writing is None:
            self._writing = asyncio.create_task(self._write())
        self._log(status, row)

    async def list(self, limit: int, offset: int) -> tuple[DeliveryRow, ...]:
        """The newest rows, stored or not. Waits for no write: a row that is written meanwhile counts once."""
        pending = tuple(reversed(self._pending))
        both = Counter(await self._store.list())
        stored = (both - Counter(pending)).elements()
        rows = sorted((*pending, *stored), key=lambda row: row.received_at, reverse=True)[:MAX_ROWS]
        return tuple(rows[offset : offset + limit])

    def _log(self, status: int, row: DeliveryRow) -> None:
        """Log one line for each, up to `MAX_LINES` a minute and status; the others are counted."""
        if status not in self._logged:
            asyncio.get_running_loop().call_later(self._log_s, self._begin_anew, status, row.because)
        self._logged[status] += 1
        if self._logged[status] <= MAX_LINES:
            fields = {"delivery": row.delivery, "kind": row.event, "because": row.because}
            log.warning("delivery_refused", status=status, **fields)

    def _begin_anew(self, status: int, because: str) -> None:
        """After a minute: log in one line how many more came."""
        more = self._logged.pop(status) - MAX_LINES
        if more > 0:
            log.warning("deliveries_refused", status=status, count=more, because=because)

    async def _write(self) -> None:
        while self._pending:
            rows = tuple(self._pending)
            try:
                await self._store.add(rows)
            except Transient as error:  # they stay in memory for the next try
                log.info("refusals_wait", because=str(error))
            else:
                for row in rows:
                    if self._pending and self._pending[0] is row:
                        self._pending.popleft()
            await asyncio.sleep(self._write_s)
        self._writing = None
