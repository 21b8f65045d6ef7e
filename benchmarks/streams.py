"""*Event streams*: 200 viewers follow one run over HTTP, while its events are stored one after the other.
Some of them go away and come back with the last id that they received. None may miss an event or get one twice."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from statistics import median

from benchmarks.page_server import PageServer, page_server
from benchmarks.result import Result, Row, percentile
from bot.model import Issue, Repo, Status
from bot.model.events.runs import AttemptStarted, SessionFinished
from bot.rules.runs.spec import RunSpec
from bot.store.runs.runs import Runs

RUN = "watched"


@dataclass(frozen=True, slots=True)
class Size:
    """How many viewers there are, how many events they get, and how many of them come back after some events."""

    viewers: int = 200
    events: int = 100
    returning: int = 20


@dataclass(slots=True)
class Viewer:
    """One viewer: the ids that came, and when. It comes back once after `leaves_after` events; never if that is 0."""

    leaves_after: int = 0
    seen: list[tuple[int, float]] = field(default_factory=list)

    async def follow(self, port: int, token: str, connected: asyncio.Semaphore) -> None:
        if self.leaves_after:
            await self._read(port, token, connected, self.leaves_after)
        await self._read(port, token, connected, None)

    async def _read(self, port: int, token: str, connected: asyncio.Semaphore, most: int | None) -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=1 << 20)
        last = self.seen[-1][0] if self.seen else 0
        lines = (f"GET /api/sessions/{RUN}/events HTTP/1.1", "Host: localhost", "Accept: text/event-stream",
                 f"Authorization: Bearer {token}", f"Last-Event-ID: {last}", "", "")  # fmt: skip
        writer.write("\r\n".join(lines).encode())
        status = await reader.readline()
        assert b" 200 " in status, status
        connected.release()
        before = len(self.seen)
        while line := await reader.readline():
            if line.startswith(b"id: "):
                self.seen.append((int(line[4:]), time.perf_counter()))
            if line.startswith(b"0\r") or (most is not None and len(self.seen) - before >= most):
                break
        writer.close()


def measure(size: Size) -> Result:
    """Let the viewers follow, store the events, and compare what each received with what is stored."""
    viewers = [Viewer(size.events // 2 if number < size.returning else 0) for number in range(size.viewers)]
    with page_server() as running:
        before = time.process_time()
        stored = asyncio.run(_watch(running, viewers, size.events))
        cpu = time.process_time() - before
    return _result(size, viewers, stored, cpu)


async def _watch(running: PageServer, viewers: Sequence[Viewer], count: int) -> dict[int, float]:
    """When each event was stored, by its id."""
    runs = Runs(running.database, running.worker.changes)
    repo = Repo(owner="octo", name="pocket", installation_id=1)
    spec = RunSpec(repo=repo, issues=(Issue(number=1, title="It breaks"),), base_branch="main", agents=("fixers",))
    assert await runs.create(RUN, spec)
    connected = asyncio.Semaphore(0)
    following = [asyncio.create_task(viewer.follow(running.port, running.token, connected)) for viewer in viewers]
    for _ in viewers:
        await connected.acquire()
    times: list[float] = []
    for number in range(1, count):
        await runs.append(RUN, [AttemptStarted(iteration=number, attempt=number, of=count)])
        times.append(time.perf_counter())
    await runs.append(RUN, [SessionFinished(status=Status.CANCELLED)])
    times.append(time.perf_counter())
    await asyncio.gather(*following)
    return dict(zip([event.id for event in await runs.events(RUN)], times, strict=True))


def _result(size: Size, viewers: Sequence[Viewer], stored: dict[int, float], cpu: float) -> Result:
    wanted = list(stored)
    lost = sum(len(set(wanted) - {event for event, _ in viewer.seen}) for viewer in viewers)
    doubled = sum(len(viewer.seen) - len({event for event, _ in viewer.seen}) for viewer in viewers)
    unordered = sum(
        [event for event, _ in viewer.seen] != sorted(event for event, _ in viewer.seen) for viewer in viewers
    )
    waits = [(at - stored[event]) * 1000 for viewer in viewers for event, at in viewer.seen]
    last = max(at for viewer in viewers for _, at in viewer.seen) - stored[wanted[-1]]
    what = f"{size.viewers} viewers, {size.events} events"
    rows = (
        Row(f"{what}: events lost", lost, "", "at most", 0),
        Row(f"{what}: events received twice", doubled, "", "at most", 0),
        Row(f"{what}: viewers with another order", unordered, "", "at most", 0),
        Row(f"{what}: from an event's commit to a viewer, p50", median(waits), "ms"),
        Row(f"{what}: from an event's commit to a viewer, p95", percentile(waits, 0.95), "ms"),
        Row(f"{what}: from the last commit to the last viewer", last * 1000, "ms"),
        Row(f"{what}: processor time of server and viewers", cpu * 1000, "ms"),
    )
    return Result("streams", size.viewers * size.events, rows)
