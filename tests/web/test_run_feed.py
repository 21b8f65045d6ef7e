"""One feed of a run for all its viewers: none misses an event, whatever their number and pace (REQ-RUN-007)."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator

import pytest

from bot.errors import Transient
from bot.model import RunEvent
from bot.web.run_feed import MAX_HELD, MAX_HELD_BYTES, RunFeed, RunFeeds, as_message
from tests.machine import PATIENCE_S
from tests.web.session_world import World

HEARTBEAT_S = 3600.0


class CountingWorld(World):
    """Counts how often the events are read, and can fail."""

    def __init__(self) -> None:
        super().__init__()
        self.reads: list[int] = []
        self.failure: Exception | None = None

    async def events(self, session_id: str, after: int = 0) -> tuple[RunEvent, ...]:
        self.reads.append(after)
        if self.failure is not None:
            raise self.failure
        return await super().events(session_id, after)


@pytest.fixture
def world() -> CountingWorld:
    return CountingWorld()


@pytest.fixture
def run(world: CountingWorld) -> str:
    return world.put("octo/pocket", "fix it").id


@pytest.fixture
def feeds() -> RunFeeds:
    return RunFeeds(HEARTBEAT_S)


def number(message: bytes) -> int:
    return int(message.split(b"\n", 1)[0].removeprefix(b"id: "))


async def rest(stream: AsyncIterator[bytes]) -> list[int]:
    async with asyncio.timeout(PATIENCE_S):
        return [number(message) async for message in stream]


async def take(stream: AsyncIterator[bytes], count: int) -> list[int]:
    async with asyncio.timeout(PATIENCE_S):
        return [number(await anext(stream)) for _ in range(count)]


def wanted(world: CountingWorld, run: str) -> list[int]:
    return [event.id for event in world.told[run]]


async def test_two_hundred_viewers_cost_the_reads_of_one(world: CountingWorld, run: str, feeds: RunFeeds) -> None:
    joined = [feeds.join(world, run, as_message) for _ in range(200)]
    assert len(set(map(id, joined))) == 1
    following = [asyncio.create_task(rest(feed.follow(0))) for feed in joined]
    for _ in range(20):
        world.append(run, "attempt_started")
        await asyncio.sleep(0)
    world.finish(run)
    assert [await each for each in following] == [wanted(world, run)] * 200
    assert len(world.reads) < 200


async def test_each_viewer_goes_on_where_it_was(world: CountingWorld, run: str, feeds: RunFeeds) -> None:
    world.append(run, *["attempt_started"] * 5)
    first = feeds.join(world, run, as_message)
    stream = first.follow(0)
    assert await take(stream, 5) == [1, 2, 3, 4, 5]
    later = feeds.join(world, run, as_message)
    world.finish(run)
    assert (await rest(stream), await rest(later.follow(3)), await rest(first.follow(6))) == ([6], [4, 5, 6], [])


async def test_who_is_slower_than_what_is_held_misses_nothing(world: CountingWorld, run: str, feeds: RunFeeds) -> None:
    luck = random.Random(5)
    feed = feeds.join(world, run, as_message)
    quick, slow = feed.follow(0), feed.follow(0)
    world.append(run, "session_started")
    seen = {"quick": await take(quick, 1), "slow": await take(slow, 1)}
    for _ in range(4):
        world.append(run, *["attempt_started"] * MAX_HELD)
        seen["quick"] += await take(quick, MAX_HELD)
        seen["slow"] += await take(slow, luck.randint(1, MAX_HELD))
    world.append(run, *["attempt_started"] * 3)  # the store has more than the feed has read
    late = feed.follow(0)
    seen["late"] = await take(late, len(wanted(world, run)))
    world.finish(run)
    for name, stream in (("quick", quick), ("slow", slow), ("late", late)):
        seen[name] += await rest(stream)
    assert seen == dict.fromkeys(("quick", "slow", "late"), wanted(world, run))


async def test_what_is_held_is_limited_in_number_and_size(world: CountingWorld, run: str) -> None:
    for note, count in (("x", MAX_HELD * 2), ("x" * (MAX_HELD_BYTES // 4), 12)):
        feed = RunFeed(world, run, as_message, HEARTBEAT_S)
        feed.join()
        stream = feed.follow(len(world.told[run]))
        world.append(run, *["changes_applied"] * count, note=note)
        await take(stream, count)
        assert len(feed._held) <= MAX_HELD and feed._bytes <= MAX_HELD_BYTES
        assert feed._bytes == sum(len(message) for _, message in feed._held)
        feed.leave()


async def test_a_position_in_the_future_spoils_nothing_for_others(
    world: CountingWorld, run: str, feeds: RunFeeds
) -> None:
    ahead = asyncio.create_task(rest(feeds.join(world, run, as_message).follow(10**9)))
    stream = feeds.join(world, run, as_message).follow(0)
    world.append(run, "session_started", "attempt_started")
    assert await take(stream, 2) == [1, 2]
    world.finish(run)
    assert (await rest(stream), await ahead) == ([3], [])


async def test_a_busy_store_ends_the_streams_and_none_skips_what_is_not_held(
    world: CountingWorld, run: str, feeds: RunFeeds
) -> None:
    feed = feeds.join(world, run, as_message)
    stream, slow = feed.follow(0), feed.follow(0)
    world.append(run, "session_started")
    assert (await take(stream, 1), await take(slow, 1)) == ([1], [1])
    world.append(run, *["attempt_started"] * (MAX_HELD + 5))
    await take(stream, MAX_HELD + 5)
    world.failure = Transient("locked")
    world.append(run, "attempt_started")
    for each in (stream, slow):
        async with asyncio.timeout(PATIENCE_S):
            assert [message async for message in each] == [b": come back and resume: locked\n\n"]
    world.failure = None
    again = feeds.join(world, run, as_message)
    assert again is not feed
    world.finish(run)
    assert await rest(again.follow(1)) == wanted(world, run)[1:]


async def test_a_bug_is_raised_to_each_viewer(world: CountingWorld, run: str, feeds: RunFeeds) -> None:
    world.failure = ValueError("a bug")
    with pytest.raises(ValueError, match="a bug"):
        await rest(feeds.join(world, run, as_message).follow(0))


async def test_a_feed_without_viewers_reads_no_more_and_is_forgotten(
    world: CountingWorld, run: str, feeds: RunFeeds
) -> None:
    first, second = feeds.join(world, run, as_message), feeds.join(world, run, as_message)
    assert feeds.join(world, run, lambda _: b"") is not first  # of another kind of message
    world.append(run, "session_started")
    assert await take(first.follow(0), 1) == [1]
    feeds.leave(first)
    assert first._reading is not None and not first._reading.cancelled()
    feeds.leave(second)
    await asyncio.wait((first._reading,))
    assert feeds.join(world, run, as_message) is not first
