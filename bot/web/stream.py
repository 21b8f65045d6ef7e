"""A session's events as they happen, by server-sent events (HTML standard, *Server-sent events*; REQ-RUN-007).

What is sent is what is stored, so a stream that breaks goes on where it was: each event carries its id, and the
client says the last it saw."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any, Protocol

from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import StreamingResponse
from starlette.types import Receive, Scope, Send

from bot.errors import Transient
from bot.model import RunEvent, Session
from bot.reports.locale.reasons import english_json
from bot.web.api import as_json, error_response, parse_number

MOST_STREAMS = 100
HEARTBEAT_S = 15.0
SEND_TIMEOUT_S = 30.0
"""A client that takes nothing for so long is given up; it may come back and resume."""

_HEADERS = {"Cache-Control": "no-cache", "X-Accel-Buffering": "no"}


class Followed(Protocol):
    """What a stream needs of the sessions; see `web.sessions.Sessions`."""

    async def get(self, session_id: str) -> Session | None: ...

    async def events(self, session_id: str, after: int = 0) -> tuple[RunEvent, ...]: ...

    async def changed(self, session_id: str, after: int, timeout_s: float) -> bool: ...


class Streams:
    """The open streams of one server, which may be many but not endlessly many."""

    def __init__(self, most: int = MOST_STREAMS, heartbeat_s: float = HEARTBEAT_S) -> None:
        self.most = most
        self.heartbeat_s = heartbeat_s
        self.open = 0
        self.closing = asyncio.Event()
        self.loop: asyncio.AbstractEventLoop | None = None

    def close(self) -> None:
        """End all streams, since the server stops; from any thread. Clients will come back and resume."""
        if self.loop is None or self.loop.is_closed():
            self.closing.set()
        else:
            self.loop.call_soon_threadsafe(self.closing.set)


class EventStream(StreamingResponse):
    """One stream. It ends when its session does, when its client goes away, and when the server stops."""

    media_type = "text/event-stream"

    def __init__(self, streams: Streams, sessions: Followed, session_id: str, after: int) -> None:
        super().__init__(follow(sessions, session_id, after, streams.heartbeat_s), headers=_HEADERS)
        self._streams = streams

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        streams = self._streams
        streams.loop = asyncio.get_running_loop()
        if streams.open >= streams.most or streams.closing.is_set():
            full = f"{streams.most} streams are open, and there may be no more: close one, or ask again in a moment"
            return await error_response(503, full, {"Retry-After": "5"})(scope, receive, send)
        streams.open += 1
        writing = asyncio.create_task(self.stream_response(_patient(send)))
        others = (asyncio.create_task(self.listen_for_disconnect(receive)), asyncio.create_task(streams.closing.wait()))
        try:
            await asyncio.wait((writing, *others), return_when=asyncio.FIRST_COMPLETED)
            if not writing.done():
                await _end(writing)
                if streams.closing.is_set():
                    await send({"type": "http.response.body", "body": b"", "more_body": False})
            elif not isinstance(writing.exception(), TimeoutError):
                writing.result()
        finally:
            streams.open -= 1
            for task in (writing, *others):
                await _end(task)
        return None


def _patient(send: Send) -> Send:
    async def send_in_time(message: Any) -> None:
        async with asyncio.timeout(SEND_TIMEOUT_S):
            await send(message)

    return send_in_time


async def _end(task: asyncio.Task[Any]) -> None:
    task.cancel()
    await asyncio.wait((task,))


async def follow(sessions: Followed, session_id: str, after: int, heartbeat_s: float) -> AsyncIterator[bytes]:
    """The events of a session with an id larger than `after`, as they are stored, until its last; a comment where
    there was none for `heartbeat_s`, so that nobody on the way takes the connection for dead."""
    woken = False
    while True:
        try:
            fresh = await sessions.events(session_id, after)
            for event in fresh:
                yield as_message(event)
                after = event.id
            if woken and not fresh and await _is_over(sessions, session_id):
                for event in await sessions.events(session_id, after):  # what came while we asked
                    yield as_message(event)
                return
            woken = await sessions.changed(session_id, after, heartbeat_s)
        except Transient as error:
            yield f": come back and resume: {' '.join(str(error).split())}\n\n".encode()
            return
        if not woken:
            yield b": still here\n\n"


async def _is_over(sessions: Followed, session_id: str) -> bool:
    session = await sessions.get(session_id)
    return session is None or session.status.final


def as_message(event: RunEvent) -> bytes:
    return b"id: %d\nevent: %s\ndata: %s\n\n" % (event.id, event.type.encode(), as_json(english_json(event.as_json())))


def last_seen(request: Request) -> int:
    """The id after which a client wants events: what it saw last beats what its address says, since a browser
    reconnects to the same address. Raises Rejected."""
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
    """How much a type is wanted: its quality, how exactly it was named, and how early."""
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
