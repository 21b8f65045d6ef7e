"""Sends a run's events as they are stored, as server-sent events (HTML standard; REQ-RUN-007).

Each event carries its id. A client that reconnects names the last id that it received, and gets the later events."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import StreamingResponse
from starlette.types import Receive, Scope, Send

from bot.rules.reasons import make_reason
from bot.web.api import error_response, parse_number
from bot.web.run_feed import Followed, Message, RunFeed, RunFeeds, as_message
from bot.web.viewers import Viewer

MAX_STREAMS = 500
MAX_PERSON_STREAMS = 20
"""The streams of one person who signed in with GitHub, so that they take no other's."""
HEARTBEAT_S = 15.0
SEND_TIMEOUT_S = 30.0
"""A client that reads nothing for so long is disconnected; it may reconnect and resume."""

_HEADERS = {"Cache-Control": "no-cache", "X-Accel-Buffering": "no"}


class Streams:
    """The open streams of one server, at most `limit`."""

    def __init__(self, limit: int = MAX_STREAMS, heartbeat_s: float = HEARTBEAT_S) -> None:
        self.limit = limit
        self.open = 0
        self.open_by: Counter[str] = Counter()
        """How many streams each person has, by login."""
        self.feeds = RunFeeds(heartbeat_s)
        self.closing = asyncio.Event()
        self.loop: asyncio.AbstractEventLoop | None = None

    def close(self) -> None:
        """End all streams, as the server stops. Any thread may call it; clients reconnect and resume."""
        if self.loop is None or self.loop.is_closed():
            self.closing.set()
        else:
            self.loop.call_soon_threadsafe(self.closing.set)

    def free(self, login: str) -> bool:
        """Whether there may be one more for this person; the operator's login is empty."""
        within = not login or self.open_by[login] < MAX_PERSON_STREAMS
        return within and self.open < self.limit and not self.closing.is_set()

    @contextmanager
    def opened(self, login: str, runs: Followed, run_id: str, message: Message) -> Iterator[RunFeed]:
        """Count a stream while it is open, and lend it the feed of its run."""
        self.open += 1
        self.open_by[login] += 1
        feed = self.feeds.join(runs, run_id, message)
        try:
            yield feed
        finally:
            self.feeds.leave(feed)
            self.open -= 1
            self.open_by[login] -= 1
            self.open_by = +self.open_by


class EventStream(StreamingResponse):
    """One stream. It ends when its run ends, the client disconnects or the server stops; a person's after some time."""

    media_type = "text/event-stream"

    def __init__(
        self,
        streams: Streams,
        runs: Followed,
        run_id: str,
        after: int,
        message: Message = as_message,
        *,
        viewer: Viewer,
    ) -> None:
        super().__init__((), headers=_HEADERS)
        self._streams = streams
        self._after = after
        self._viewer = viewer
        self._source = (runs, run_id, message)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        streams, login = self._streams, self._viewer.session.login
        streams.loop = asyncio.get_running_loop()
        if not streams.free(login):
            full = make_reason("request.streams", count=MAX_PERSON_STREAMS if login else streams.limit)
            return await error_response(503, full, {"Retry-After": "5"})(scope, receive, send)
        with streams.opened(login, *self._source) as feed:
            self.body_iterator = feed.follow(self._after)
            await self._run(receive, send)
        return None

    async def _run(self, receive: Receive, send: Send) -> None:
        streams = self._streams
        writing = asyncio.create_task(self.stream_response(_with_timeout(send)))
        others = (asyncio.create_task(self.listen_for_disconnect(receive)), asyncio.create_task(streams.closing.wait()))
        try:
            first, max_s = asyncio.FIRST_COMPLETED, self._viewer.stream_s
            done, _ = await asyncio.wait((writing, *others), return_when=first, timeout=max_s)
            if not writing.done():
                await _end(writing)
                if not done or streams.closing.is_set():
                    await send({"type": "http.response.body", "body": b"", "more_body": False})
            elif not isinstance(writing.exception(), TimeoutError):
                writing.result()
        finally:
            for task in (writing, *others):
                await _end(task)


def _with_timeout(send: Send) -> Send:
    async def send_in_time(message: Any) -> None:
        async with asyncio.timeout(SEND_TIMEOUT_S):
            await send(message)

    return send_in_time


async def _end(task: asyncio.Task[Any]) -> None:
    task.cancel()
    await asyncio.wait((task,))


def last_seen(request: Request) -> int:
    """The id after which a client wants events. `Last-Event-ID` wins over the query, as a browser reconnects to the
    same address. Raises InvalidRequest."""
    header = request.headers.get("last-event-id", "").strip()
    if header:
        return parse_number(header, "Last-Event-ID")
    for name in ("lastEventId", "after"):
        if text := request.query_params.get(name):
            return parse_number(text, name)
    return 0


def wants_stream(headers: Headers) -> bool:
    """Whether `Accept` prefers an event stream to JSON (RFC 9110, 12.5.1); JSON where it names neither."""
    ranges = [item for line in headers.getlist("accept") for item in line.split(",")]
    stream, plain = _preference(ranges, "text", "event-stream"), _preference(ranges, "application", "json")
    return stream > plain and stream[0] > 0


def _preference(ranges: list[str], kind: str, name: str) -> tuple[float, int, int]:
    """How much a type is preferred: its quality, how exactly it is named, and how early."""
    best = (0, 0, 0.0)
    for place, item in enumerate(ranges):
        media, *parameters = (part.strip().lower() for part in item.split(";"))
        exactness = {f"{kind}/{name}": 3, f"{kind}/*": 2, "*/*": 1}.get(media, 0)
        if exactness > best[0]:
            best = (exactness, -place, _quality(parameters))
    return (best[2], best[0], best[1])


def _quality(parameters: list[str]) -> float:
    for parameter in parameters:
        key, _, value = parameter.partition("=")
        if key.strip() == "q":
            try:
                return min(max(float(value), 0.0), 1.0)
            except ValueError:
                return 0.0
    return 1.0
