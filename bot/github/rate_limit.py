"""The rate limit of one installation: writes one after another with a pause, and no request while GitHub forbids it.

The limits of one installation never slow another."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Literal

from bot.errors import Transient
from bot.github.answers import RateBudget, limit_wait, limited, rate_budget
from bot.github.clock import ServerClock
from bot.http import HttpResponse
from bot.reports.locale.reasons import english
from bot.rules.reasons import make_reason

HOURLY_WRITES = 500
"""GitHub's secondary limit for content ("Rate limits for the REST API"); a second's pause keeps the 80 a minute."""
GITHUBS_SPACING_S = 1.0

Priority = Literal["free", "queue", "ahead"]
"""How a request waits: not at all; in order of arrival, a pause after the last write; or before all in the queue."""


class RateLimiter:
    """Gives the requests of one installation their turns. Bound to one event loop."""

    def __init__(self, server: ServerClock, spacing_s: float) -> None:
        self._server = server
        self._clock = server.clock
        self._spacing_s = spacing_s
        self._queues: dict[Priority, asyncio.Lock] = {"queue": asyncio.Lock(), "ahead": asyncio.Lock()}
        self._sending = asyncio.Lock()
        self._blocked_until = float("-inf")
        self._began = float("-inf")
        self._next_write = float("-inf")
        self._written: deque[float] = deque()
        self._strikes = 0
        self.budget: RateBudget | None = None
        """What the latest answer said about the hour's requests; None before the first answer that said so."""

    def check(self) -> None:
        """Raises Transient with the remaining seconds while GitHub forbids requests."""
        if self._blocked_until > self._clock.steady():
            raise self._blocked()

    def _blocked(self) -> Transient:
        remaining = max(0.0, self._blocked_until - self._clock.steady())
        reason = make_reason("github.rate_limit", seconds=f"{remaining:.0f}")
        return Transient(english(reason), remaining, because=reason)

    def heed(self, answer: HttpResponse) -> None:
        """Reads the limits of a response; raises Transient if it was refused for a limit, also one that is over."""
        self.budget = rate_budget(answer) or self.budget
        wait = limit_wait(answer, self._server.now(), self._strikes)
        if wait is not None:
            self._blocked_until = max(self._blocked_until, self._clock.steady() + wait)
        if answer.status < 300:
            self._strikes = 0
        if limited(answer):
            self._strikes += 1
            raise self._blocked()

    @asynccontextmanager
    async def turn(self, priority: Priority) -> AsyncIterator[None]:
        """Holds the right to send one request; no two writes are sent at once.

        A `queue` write begins a whole pause after the end of the last write. An `ahead` write begins half a pause after
        the beginning of the last one, and the queue makes up for it: on average each write has one pause. There should
        be few `ahead` writes, as the queue stands still while they come in a stream."""
        if priority == "free":
            self.check()
            yield
            return
        async with self._queues[priority]:
            while True:
                while (wait := self._wait(priority)) > 0:
                    self.check()
                    await self._clock.sleep(wait)
                async with self._sending:
                    if self._wait(priority) > 0:
                        continue  # an `ahead` write was sent meanwhile
                    self.check()
                    self._count_write()
                    self._began = self._clock.steady()
                    try:
                        yield
                    finally:
                        self._next_write = max(self._next_write, self._clock.steady()) + self._spacing_s
                    return

    def _wait(self, priority: Priority) -> float:
        """Seconds until the next write of that priority may begin."""
        due = self._next_write
        if priority == "ahead":
            due = max(self._began + self._spacing_s / 2, due - self._spacing_s)
        return due - self._clock.steady()

    def _count_write(self) -> None:
        """Counts a write against the hour's limit. A pause shorter than GitHub's means a server without limits."""
        if self._spacing_s < GITHUBS_SPACING_S:
            return
        now = self._clock.steady()
        while self._written and self._written[0] <= now - 3600:
            self._written.popleft()
        if len(self._written) >= HOURLY_WRITES:
            remaining = self._written[0] + 3600 - now
            reason = make_reason("github.hourly_writes", limit=HOURLY_WRITES, seconds=f"{remaining:.0f}")
            raise Transient(english(reason), remaining, because=reason)
        self._written.append(now)
