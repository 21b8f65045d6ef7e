"""Wakes tasks that wait for a run's next event as soon as this process has written one.

Writes of other processes cause no notification, so each waiting task also polls once a second."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Awaitable, Callable

POLL_S = 1.0


class Changes:
    """Notifications of changes to any run; a woken task must check whether its own run has changed.

    `notify` may be called from any thread, and `wait` from any event loop."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._count = 0
        self._waiting: set[asyncio.Future[None]] = set()

    @property
    def count(self) -> int:
        """How many notifications there were. Read it before you query, so that `wait` misses no later change."""
        with self._lock:
            return self._count

    def notify(self) -> None:
        """Wake all waiting tasks; call it after the commit of the change."""
        with self._lock:
            self._count += 1
            woken, self._waiting = self._waiting, set()
        for future in woken:
            try:
                future.get_loop().call_soon_threadsafe(_wake, future)
            except RuntimeError:  # its event loop was closed, so no task waits there any more
                continue

    async def wait(self, timeout_s: float, seen: int | None = None) -> None:
        """Return at the next notification or at the timeout; at once if `count` is no longer `seen`."""
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

    async def until(self, condition: Callable[[], Awaitable[bool]], timeout_s: float, poll_s: float = POLL_S) -> bool:
        """Whether `condition` became true within the time. It is checked at once, at each notification, and every
        `poll_s` seconds."""
        end = time.monotonic() + timeout_s
        while True:
            seen = self.count
            if await condition():
                return True
            remaining_s = end - time.monotonic()
            if remaining_s <= 0:
                return False
            await self.wait(min(remaining_s, poll_s), seen)


def _wake(future: asyncio.Future[None]) -> None:
    if not future.done():
        future.set_result(None)
