"""The load client, a process of its own: keep-alive connections that post signed webhooks as fast as they are answered,
or at a fixed pace. It is as light as it can be, since it shares the machine with what it measures.

Reads a `Plan` as JSON on stdin, prints a `Report` as JSON."""

from __future__ import annotations

import asyncio
import gc
import json
import re
import sys
import time
from collections import deque
from dataclasses import asdict, dataclass
from typing import cast

import uvloop

from benchmarks import payload
from benchmarks.result import percentile

_VARIANTS = 16
_ID = b"@DELIVERY-ID@"
_ID_FORM = "%s-%08d"
_LENGTH = re.compile(rb"\r\ncontent-length: *(\d+)\r\n", re.IGNORECASE)
_SLACK_S = 20.0


@dataclass(frozen=True, slots=True)
class Plan:
    """Whom to post to, and for how long. `rate` is deliveries a second over all connections, 0 for no pause at all;
    what is answered in the first `warm_s` seconds is counted as answered but not timed."""

    port: int
    secret: str
    target: int
    prefix: str
    connections: int
    seconds: float
    warm_s: float
    rate: float = 0.0


@dataclass(frozen=True, slots=True)
class Report:
    """`acknowledged` is every 2xx, `refused` every other answer or lost connection; the rest is of the timed part."""

    acknowledged: int
    refused: int
    per_second: float
    p50_ms: float
    p99_ms: float
    worst_ms: float


class Load:
    """Everything the connections share."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        bodies = [payload.body(number) for number in range(_VARIANTS)]
        heads = [payload.head(plan.port, plan.secret, one, _ID.decode(), plan.target).split(_ID) for one in bodies]
        self._parts = [(start, end + content) for (start, end), content in zip(heads, bodies, strict=True)]
        self._sent = 0
        self.began = self.ends = 0.0
        self.acknowledged = self.refused = 0
        self.latencies: list[float] = []
        self.last = 0.0

    def request(self) -> bytes:
        start, rest = self._parts[self._sent % _VARIANTS]
        delivery = _ID_FORM % (self.plan.prefix, self._sent)
        self._sent += 1
        return b"%s%s%s" % (start, delivery.encode(), rest)

    def answered(self, sent_at: float, good: bool) -> None:
        now = time.perf_counter()
        if not good:
            self.refused += 1
            return
        self.acknowledged += 1
        if now - self.began >= self.plan.warm_s:
            self.latencies.append(now - sent_at)
            self.last = now

    def report(self) -> Report:
        ms = [latency * 1000 for latency in self.latencies]
        span = self.last - self.began - self.plan.warm_s
        rate = len(ms) / span if span > 0 else 0.0
        return Report(
            self.acknowledged, self.refused, rate, percentile(ms, 0.5), percentile(ms, 0.99), max(ms, default=0.0)
        )


class Connection(asyncio.Protocol):
    """One keep-alive connection. Answers come in the order of requests (RFC 9112, 9.3.2): a queue of times will do."""

    def __init__(self, load: Load) -> None:
        self._load = load
        self._transport: asyncio.Transport | None = None
        self._sent: deque[float] = deque()
        self._buffer = b""
        self.done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._closing = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)  # uvloop's is not a subclass

    def post(self, at: float | None = None) -> None:
        assert self._transport is not None
        self._sent.append(time.perf_counter() if at is None else at)
        self._transport.write(self._load.request())

    def finish(self) -> None:
        """Post no more; `done` when the last answer is here."""
        self._closing = True
        if not self._sent and not self.done.done():
            self.done.set_result(None)

    def data_received(self, data: bytes) -> None:
        buffer = self._buffer + data if self._buffer else data
        while buffer and (end := _end(buffer)):
            self._load.answered(self._sent.popleft(), buffer.startswith(b"HTTP/1.1 2"))
            buffer = buffer[end:]
            if self._closing:
                self.finish()
            elif not self._load.plan.rate:
                if time.perf_counter() < self._load.ends:
                    self.post()
                else:
                    self.finish()
        self._buffer = buffer

    def connection_lost(self, exc: Exception | None) -> None:
        self._load.refused += len(self._sent)
        self._sent.clear()
        self.finish()


def _end(buffer: bytes) -> int:
    """Where the first answer in `buffer` ends, 0 if it has not arrived yet."""
    head = buffer.find(b"\r\n\r\n")
    if head < 0:
        return 0
    length = _LENGTH.search(buffer, 0, head + 2)
    if length is not None:
        end = head + 4 + int(length[1])
        return end if end <= len(buffer) else 0
    last = buffer.find(b"0\r\n\r\n", head)  # chunked: what these servers say is one short word
    return last + 5 if last >= 0 else 0


async def _run(plan: Plan) -> Report:
    load, loop = Load(plan), asyncio.get_running_loop()
    connections = [
        (await loop.create_connection(lambda: Connection(load), "127.0.0.1", plan.port))[1]
        for _ in range(plan.connections)
    ]
    load.began = time.perf_counter()
    load.ends = load.began + plan.warm_s + plan.seconds
    if plan.rate:
        await _paced(load, connections)
    else:
        for connection in connections:
            connection.post()
    async with asyncio.timeout(plan.warm_s + plan.seconds + _SLACK_S):
        await asyncio.gather(*(connection.done for connection in connections))
    return load.report()


async def _paced(load: Load, connections: list[Connection]) -> None:
    """Post at fixed times, whether or not the last ones are answered; a late answer is late from its due time."""
    for number in range(round(load.plan.rate * (load.plan.warm_s + load.plan.seconds))):
        due = load.began + number / load.plan.rate
        pause = due - time.perf_counter()
        if pause > 0:
            await asyncio.sleep(pause)
        connections[number % len(connections)].post(due)
    for connection in connections:
        connection.finish()


def main() -> None:
    plan = Plan(**json.load(sys.stdin))
    gc.disable()
    print(json.dumps(asdict(uvloop.run(_run(plan)))))


if __name__ == "__main__":
    main()
