"""Wakes those who wait for a run's next event as soon as this process has written one.

Other processes may write too, and nobody tells us: so a wait also looks again by itself, once a second."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Awaitable, Callable

POLL_S = 1.0


class Changes:
    """One bell for all runs: who is woken looks for himself. Any thread may ring, any event loop may wait."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._count = 0
        self._waiting: set[asyncio.Future[None]] = set()

    @property
    def count(self) -> int:
        """How often it rang. Read it before you look, and `wait` will not miss what came meanwhile."""
        with self._lock:
            return self._count

    def notify(self) -> None:
        """Wake everyone who waits; call it once the change can be read."""
        with self._lock:
            self._count += 1
            woken, self._waiting = self._waiting, set()
        for future in woken:
            try:
                future.get_loop().call_soon_threadsafe(_wake, future)
            except RuntimeError:  # its loop was closed, and whoever waited there is gone with it
                continue

    async def wait(self, timeout_s: float, seen: int | None = None) -> None:
        """Return at the next ring, at once if it rang since `count` was `seen`, or when the time is over."""
        future = asyncio.get_running_loop().create_future()
        with self._lock:
            if seen is not None and seen != self._count:
                return
            self._waiting.add(future)
        try:
            await asyncio.wait((future,), timeout=timeout_s)
        finally:
            with self._lock:
                self._waiting.discard(future)

    async def until(self, look: Callable[[], Awaitable[bool]], timeout_s: float, poll_s: float = POLL_S) -> bool:
        """Whether `look` came true within the time. It is asked at once, at each ring, and every `poll_s`."""
        end = time.monotonic() + timeout_s
        while True:
            seen = self.count
            if await look():
                return True
            rest = end - time.monotonic()
            if rest <= 0:
                return False
            await self.wait(min(rest, poll_s), seen)


def _wake(future: asyncio.Future[None]) -> None:
    if not future.done():
        future.set_result(None)
