from __future__ import annotations

import asyncio
import itertools
from collections.abc import Awaitable
from dataclasses import dataclass, field
from typing import Any

import pytest

from bot.errors import Transient
from bot.github.clock import ServerClock
from bot.github.rate_limit import HOURLY_WRITES, Priority, RateLimiter
from bot.http import HttpResponse

from .virtual_time import VirtualTime


@dataclass
class Traffic:
    """Writes of one installation and when each began; `takes_s` is how long GitHub needs for one."""

    takes_s: float = 0.2
    time: VirtualTime = field(default_factory=VirtualTime)
    began: list[tuple[float, Priority]] = field(default_factory=list)
    delays: list[float] = field(default_factory=list)
    under_way: int = 0
    most: int = 0

    def __post_init__(self) -> None:
        self.limiter = RateLimiter(ServerClock(self.time.clock()), 1.0)

    async def write(self, priority: Priority, at: float = 0.0) -> None:
        if at > 0:
            await self.time.sleep(at)
        asked = self.time.t
        async with self.limiter.turn(priority):
            self.began.append((self.time.t, priority))
            if priority == "ahead":
                self.delays.append(self.time.t - asked)
            self.under_way += 1
            self.most = max(self.most, self.under_way)
            await self.time.sleep(self.takes_s)
            self.under_way -= 1

    async def go(self, *jobs: Awaitable[Any]) -> None:
        await self.time.run(*jobs)


@pytest.mark.parametrize("takes_s", [0.0, 0.2, 0.5])
@pytest.mark.parametrize("at", [n / 8 for n in range(1, 25)])
async def test_in_a_burst_of_writes_one_that_goes_ahead_waits_half_a_second_at_most(takes_s: float, at: float) -> None:
    traffic = Traffic(takes_s)
    await traffic.go(*(traffic.write("queue") for _ in range(20)), traffic.write("ahead", at))
    assert len(traffic.began) == 21
    assert max(traffic.delays) <= 0.5
    assert traffic.most == 1
    # what queued made up for it: still a pause to each write
    assert traffic.began[-1][0] >= 20 + 19 * takes_s - 1e-6


async def test_it_waits_for_nothing_where_nothing_was_written_lately() -> None:
    traffic = Traffic()
    await traffic.go(traffic.write("ahead", 3.0), traffic.write("queue"), traffic.write("ahead", 0.3))
    assert [round(delay, 6) for delay in traffic.delays] == [0.2, 0.0]


async def test_those_who_go_ahead_keep_the_pause_among_themselves_in_the_long_run() -> None:
    traffic = Traffic()
    await traffic.go(*(traffic.write("ahead") for _ in range(60)), traffic.write("queue"))
    times = [time for time, _ in traffic.began]
    assert all(later - earlier >= 0.5 for earlier, later in itertools.pairwise(times))
    assert all(later - earlier >= 8 for earlier, later in zip(times, times[10:], strict=False))
    assert traffic.most == 1
    assert sum(time < 60 for time in times) <= 61


async def test_writes_that_queue_keep_their_order_and_the_whole_pause() -> None:
    traffic = Traffic()
    order: list[int] = []

    async def numbered(number: int) -> None:
        await traffic.write("queue")
        order.append(number)

    await traffic.go(*(numbered(n) for n in range(10)))
    assert order == list(range(10))
    times = [time for time, _ in traffic.began]
    assert all(later - earlier >= 1.2 - 1e-9 for earlier, later in itertools.pairwise(times))


async def test_while_github_wants_silence_nobody_goes_ahead() -> None:
    traffic = Traffic()

    with pytest.raises(Transient):
        traffic.limiter.heed(HttpResponse(429, {"retry-after": "60"}, b""))
    for priority in ("free", "queue", "ahead"):
        with pytest.raises(Transient) as caught:
            async with traffic.limiter.turn(priority):
                raise AssertionError(priority)
        assert caught.value.retry_after_s == 60


async def test_silence_that_begins_while_one_waits_holds_it_back() -> None:
    traffic = Traffic()

    async def refused(priority: Priority) -> None:
        with pytest.raises(Transient):
            await traffic.write(priority, 0.25)

    async def limit() -> None:
        await traffic.time.sleep(0.3)
        with pytest.raises(Transient):
            traffic.limiter.heed(HttpResponse(429, {"retry-after": "60"}, b""))

    await traffic.go(traffic.write("queue"), refused("queue"), refused("ahead"), limit())
    assert len(traffic.began) == 1


async def test_what_goes_ahead_counts_against_the_hour() -> None:
    traffic = Traffic(0.0)

    async def one_more() -> None:
        await traffic.time.sleep(HOURLY_WRITES * 2)
        for priority in ("queue", "ahead"):
            with pytest.raises(Transient, match="within the hour"):
                await traffic.write(priority)

    lanes: list[Priority] = ["queue", "ahead"]
    await traffic.go(*(traffic.write(lanes[n % 2]) for n in range(HOURLY_WRITES)), one_more())


async def test_one_that_gives_up_its_place_stops_nobody() -> None:
    traffic = Traffic()

    async def impatient(priority: Priority) -> None:
        task = asyncio.ensure_future(traffic.write(priority))
        await traffic.time.sleep(0.1)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    await traffic.go(traffic.write("queue"), impatient("queue"), impatient("ahead"), traffic.write("queue", 0.3))
    assert [round(time, 6) for time, _ in traffic.began] == [0.0, 1.2]
