"""One at a time for a key: two who look at GitHub at once would both find nothing there, and both write."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from weakref import WeakValueDictionary


class Locks:
    """A lock for each key, kept while someone holds it or waits. Bound to one event loop."""

    def __init__(self) -> None:
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    @asynccontextmanager
    async def alone(self, *key: str | int) -> AsyncIterator[None]:
        """Waits until nobody else works on that key."""
        lock = self._locks.setdefault("\n".join(map(str, key)), asyncio.Lock())
        async with lock:
            yield
