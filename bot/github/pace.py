"""How fast one installation may be asked: writes one after another with a pause, and silence while GitHub wants it.
One installation's limits never slow another's."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from bot.errors import Transient
from bot.github.answers import limit_wait, limited
from bot.github.clock import ServerClock
from bot.http import Answer

HOURLY_WRITES = 500
"""GitHub's secondary limit for content ("Rate limits for the REST API"); a second's pause keeps the 80 a minute."""
GITHUBS_SPACING_S = 1.0


class Pace:
    """One installation's turn-taking. Bound to one event loop."""

    def __init__(self, server: ServerClock, spacing_s: float) -> None:
        self._server = server
        self._clock = server.clock
        self._spacing_s = spacing_s
        self._writing = asyncio.Lock()
        self._silent_until = float("-inf")
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

    def heed(self, answer: Answer) -> None:
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
    async def turn(self, *, write: bool) -> AsyncIterator[None]:
        """Holds the right to send one request; writes wait for each other and for the pause, from end to start."""
        if not write:
            self.check()
            yield
            return
        async with self._writing:
            self.check()
            wait = self._next_write - self._clock.steady()
            if wait > 0:
                await self._clock.sleep(wait)
                self.check()
            self._spend()
            try:
                yield
            finally:
                self._next_write = self._clock.steady() + self._spacing_s

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
