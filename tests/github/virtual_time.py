"""A clock for many who sleep at once: their sleeps run side by side, and no real time passes."""

from __future__ import annotations

import asyncio
import heapq
from collections.abc import Awaitable
from dataclasses import dataclass, field
from typing import Any

from bot.github.clock import Clock

TURNS = 60
"""Turns of the loop after which whoever is not asleep has come as far as he can; a request takes some thirty."""


@dataclass
class VirtualTime:
    """Time that passes only when everybody sleeps, and then up to the first who wakes."""

    t: float = 0.0
    _asleep: list[tuple[float, int, asyncio.Future[None]]] = field(default_factory=list)
    _count: int = 0

    def clock(self) -> Clock:
        return Clock(now=lambda: self.t, steady=lambda: self.t, sleep=self.sleep)

    async def sleep(self, seconds: float) -> None:
        self._count += 1
        woken = asyncio.get_running_loop().create_future()
        heapq.heappush(self._asleep, (self.t + seconds, self._count, woken))
        await woken

    async def run(self, *jobs: Awaitable[Any]) -> None:
        tasks = [asyncio.ensure_future(job) for job in jobs]
        while not all(task.done() for task in tasks):
            for _ in range(TURNS):
                await asyncio.sleep(0)
            if self._asleep:
                due, _, woken = heapq.heappop(self._asleep)
                if not woken.cancelled():
                    self.t = due
                    woken.set_result(None)
        for task in tasks:
            task.result()
