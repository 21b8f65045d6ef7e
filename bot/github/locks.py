"""Locks by key. Two tasks that look at GitHub at once would both find nothing there, and both write."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from weakref import WeakValueDictionary


class Locks:
    """A lock for each key, which exists while a task holds it or waits for it. Bound to one event loop."""

    def __init__(self) -> None:
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    @asynccontextmanager
    async def alone(self, *key: str | int) -> AsyncIterator[None]:
        """Holds the key's lock; waits until no other task holds it."""
        lock = self._locks.setdefault("\n".join(map(str, key)), asyncio.Lock())
        async with lock:
            yield
