"""How fast one installation may be asked: writes one after another with a pause, and silence while GitHub wants it.
One installation's limits never slow another's."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Literal

from bot.errors import Transient
from bot.github.answers import limit_wait, limited
from bot.github.clock import ServerClock
from bot.http import HttpResponse

HOURLY_WRITES = 500
"""GitHub's secondary limit for content ("Rate limits for the REST API"); a second's pause keeps the 80 a minute."""
GITHUBS_SPACING_S = 1.0

Priority = Literal["free", "queue", "ahead"]
"""How a request waits: not at all; in the order of arrival, a pause after the last write; or before all who queue."""


class RateLimiter:
    """One installation's turn-taking. Bound to one event loop."""

    def __init__(self, server: ServerClock, spacing_s: float) -> None:
        self._server = server
        self._clock = server.clock
        self._spacing_s = spacing_s
        self._lines: dict[Priority, asyncio.Lock] = {"queue": asyncio.Lock(), "ahead": asyncio.Lock()}
        self._sending = asyncio.Lock()
        self._silent_until = float("-inf")
        self._began = float("-inf")
        self._next_write = float("-inf")
        self._written: deque[float] = deque()
        self._strikes = 0

    def check(self) -> None:
        """Raises Transient with the seconds left while GitHub wants no requests."""
        if self._silent_until > self._clock.steady():
            raise self._silence()

    def _silence(self) -> Transient:
        left = max(0.0, self._silent_until - self._clock.steady())
        return Transient(f"GitHub's rate limit: nothing may be asked for {left:.0f} s", retry_after_s=left)

    def heed(self, answer: HttpResponse) -> None:
        """Learns from an answer; raises Transient where it was refused for a limit, even one that is over at once."""
        wait = limit_wait(answer, self._server.now(), self._strikes)
        if wait is not None:
            self._silent_until = max(self._silent_until, self._clock.steady() + wait)
        if answer.status < 300:
            self._strikes = 0
        if limited(answer):
            self._strikes += 1
            raise self._silence()

    @asynccontextmanager
    async def turn(self, lane: Priority) -> AsyncIterator[None]:
        """Holds the right to send one request; no two writes are under way at once.

        A write that queues begins a whole pause after the end of the last one. One that goes ahead begins half a pause
        after the last one's beginning, and what queues makes up for it: in the long run there is a pause to each write.
        Those who go ahead are to be few, for as long as they come in a stream the queue stands."""
        if lane == "free":
            self.check()
            yield
            return
        async with self._lines[lane]:
            while True:
                while (wait := self._wait(lane)) > 0:
                    self.check()
                    await self._clock.sleep(wait)
                async with self._sending:
                    if self._wait(lane) > 0:
                        continue  # another went ahead meanwhile
                    self.check()
                    self._spend()
                    self._began = self._clock.steady()
                    try:
                        yield
                    finally:
                        self._next_write = max(self._next_write, self._clock.steady()) + self._spacing_s
                    return

    def _wait(self, lane: Priority) -> float:
        """Seconds until the next write of that lane may begin; one that goes ahead owes at most one pause."""
        due = self._next_write
        if lane == "ahead":
            due = max(self._began + self._spacing_s / 2, due - self._spacing_s)
        return due - self._clock.steady()

    def _spend(self) -> None:
        """Counts a write against the hour. A shorter pause than GitHub's means a server without its limits."""
        if self._spacing_s < GITHUBS_SPACING_S:
            return
        now = self._clock.steady()
        while self._written and self._written[0] <= now - 3600:
            self._written.popleft()
        if len(self._written) >= HOURLY_WRITES:
            left = self._written[0] + 3600 - now
            raise Transient(f"{HOURLY_WRITES} writes within the hour; the next in {left:.0f} s", retry_after_s=left)
        self._written.append(now)
