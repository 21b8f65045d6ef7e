"""Sends a session's events as they are stored, as server-sent events (HTML standard; REQ-RUN-007).

Each event carries its id. A client that reconnects names the last id that it received, and gets the later events."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from typing import Any, Protocol

from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import StreamingResponse
from starlette.types import Receive, Scope, Send

from bot.errors import Transient
from bot.model.events.base import Event
from bot.reports.locale.reasons import english, english_json
from bot.rules.reasons import error_reason, make_reason
from bot.web.api import as_json, error_response, parse_number

MAX_STREAMS = 100
HEARTBEAT_S = 15.0
SEND_TIMEOUT_S = 30.0
"""A client that reads nothing for so long is disconnected; it may reconnect and resume."""

Message = Callable[[Event], bytes]
"""Makes the message of an event."""

_HEADERS = {"Cache-Control": "no-cache", "X-Accel-Buffering": "no"}


def as_message(event: Event) -> bytes:
    return b"id: %d\nevent: %s\ndata: %s\n\n" % (event.id, event.type.encode(), as_json(english_json(event.as_json())))


class Ended(Protocol):
    """Whether a run is over."""

    @property
    def final(self) -> bool: ...


class FollowedRun(Protocol):
    """A run or session whose events are followed."""

    @property
    def status(self) -> Ended: ...


class Followed(Protocol):
    """The part of `web.sessions.Sessions` that a stream uses."""

    async def get(self, session_id: str) -> FollowedRun | None: ...

    async def events(self, session_id: str, after: int = 0) -> Sequence[Event]: ...

    async def changed(self, session_id: str, after: int, timeout_s: float) -> bool: ...


class Streams:
    """The open streams of one server, at most `limit`."""

    def __init__(self, limit: int = MAX_STREAMS, heartbeat_s: float = HEARTBEAT_S) -> None:
        self.limit = limit
        self.heartbeat_s = heartbeat_s
        self.open = 0
        self.closing = asyncio.Event()
        self.loop: asyncio.AbstractEventLoop | None = None

    def close(self) -> None:
        """End all streams, as the server stops. Any thread may call it; clients reconnect and resume."""
        if self.loop is None or self.loop.is_closed():
            self.closing.set()
        else:
            self.loop.call_soon_threadsafe(self.closing.set)


class EventStream(StreamingResponse):
    """One stream. It ends when its session ends, the client disconnects, the server stops, or after `max_s` seconds."""

    media_type = "text/event-stream"

    def __init__(
        self,
        streams: Streams,
        sessions: Followed,
        session_id: str,
        after: int,
        message: Message = as_message,
        *,
        max_s: float | None = None,
    ) -> None:
        super().__init__(follow(sessions, session_id, after, streams.heartbeat_s, message), headers=_HEADERS)
        self._streams = streams
        self._max_s = max_s

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        streams = self._streams
        streams.loop = asyncio.get_running_loop()
        if streams.open >= streams.limit or streams.closing.is_set():
            full = make_reason("request.streams", count=streams.limit)
            return await error_response(503, full, {"Retry-After": "5"})(scope, receive, send)
        streams.open += 1
        writing = asyncio.create_task(self.stream_response(_with_timeout(send)))
        others = (asyncio.create_task(self.listen_for_disconnect(receive)), asyncio.create_task(streams.closing.wait()))
        try:
            done, _ = await asyncio.wait((writing, *others), return_when=asyncio.FIRST_COMPLETED, timeout=self._max_s)
            if not writing.done():
                await _end(writing)
                if not done or streams.closing.is_set():
                    await send({"type": "http.response.body", "body": b"", "more_body": False})
            elif not isinstance(writing.exception(), TimeoutError):
                writing.result()
        finally:
            streams.open -= 1
            for task in (writing, *others):
                await _end(task)
        return None


def _with_timeout(send: Send) -> Send:
    async def send_in_time(message: Any) -> None:
        async with asyncio.timeout(SEND_TIMEOUT_S):
            await send(message)

    return send_in_time


async def _end(task: asyncio.Task[Any]) -> None:
    task.cancel()
    await asyncio.wait((task,))


async def follow(
    sessions: Followed, session_id: str, after: int, heartbeat_s: float, message: Message = as_message
) -> AsyncIterator[bytes]:
    """The events of a session with a larger id than `after`, until its last.

    A comment is sent every `heartbeat_s` without an event, so that proxies keep the connection open."""
    notified = False
    while True:
        try:
            events = await sessions.events(session_id, after)
            for event in events:
                yield message(event)
                after = event.id
            if notified and not events and await _is_over(sessions, session_id):
                for event in await sessions.events(session_id, after):  # stored since the read above
                    yield message(event)
                return
            notified = await sessions.changed(session_id, after, heartbeat_s)
        except Transient as error:
            why = english(make_reason("request.resume", why=error_reason(error)))
            yield f": {' '.join(why.split())}\n\n".encode()
            return
        if not notified:
            yield b": still here\n\n"


async def _is_over(sessions: Followed, session_id: str) -> bool:
    session = await sessions.get(session_id)
    return session is None or session.status.final


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
