"""Reads the events of a run once for all who follow it, and holds the newest as messages.

Each viewer has only a position: the id of the last event that it received. A viewer that is too slow for what is held
reads the rest from the store, so none misses an event, and none makes the others wait (REQ-RUN-007)."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Callable, Hashable, Sequence
from typing import Protocol

from bot.errors import Transient
from bot.model.events.base import Event
from bot.reports.locale.reasons import english, english_json
from bot.rules.reasons import error_reason, make_reason
from bot.web.api import as_json

MAX_HELD = 512
MAX_HELD_BYTES = 512 * 1024
"""The messages that one feed holds, in number and size. More are read from the store by who needs them."""

Message = Callable[[Event], bytes]
"""Makes the message of an event."""


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


class RunFeed:
    """The messages of one run, for any number of viewers of one event loop. It reads while somebody follows."""

    def __init__(self, runs: Followed, run_id: str, message: Message, heartbeat_s: float) -> None:
        self._runs = runs
        self._run_id = run_id
        self._message = message
        self._heartbeat_s = heartbeat_s
        self._held: deque[tuple[int, bytes]] = deque()
        self._bytes = 0
        self._floor = 0
        """All events after this id, up to `_last`, are held."""
        self._last = 0
        self._ended = False
        self._error: Exception | None = None
        self._changed = asyncio.Event()
        self._viewers = 0
        self._reading: asyncio.Task[None] | None = None

    @property
    def is_open(self) -> bool:
        """Whether somebody new may follow it: it is still reading, or has not begun."""
        return not self._ended and self._error is None

    def join(self) -> None:
        """Count one more viewer; the first one begins the reading."""
        self._viewers += 1
        if self._reading is None:
            self._reading = asyncio.create_task(self._read())

    def leave(self) -> bool:
        """Count one viewer less; returns whether it was the last, which ends the reading."""
        self._viewers -= 1
        if self._viewers == 0 and self._reading is not None:
            self._reading.cancel()
        return self._viewers == 0

    async def follow(self, after: int) -> AsyncIterator[bytes]:
        """The messages of the events with a larger id than `after`, until the run's last.

        A comment is sent every `heartbeat_s` without an event, so that proxies keep the connection open."""
        while True:
            changed = self._changed
            if after < self._floor:
                known = self._last
                try:
                    events = await self._runs.events(self._run_id, after)
                except Transient as error:
                    yield _comment(error)
                    return
                for event in events:
                    yield self._message(event)
                    after = event.id
                after = max(after, known)
            elif messages := self._after(after):
                for event_id, message in messages:
                    yield message
                    after = event_id
            elif isinstance(self._error, Transient):
                yield _comment(self._error)
                return
            elif self._error is not None:
                raise self._error
            elif self._ended:
                return
            else:
                try:
                    async with asyncio.timeout(self._heartbeat_s):
                        await changed.wait()
                except TimeoutError:
                    yield b": still here\n\n"

    def _after(self, after: int) -> list[tuple[int, bytes]]:
        """The held messages of later events, oldest first."""
        found: list[tuple[int, bytes]] = []
        for event_id, message in reversed(self._held):
            if event_id <= after:
                break
            found.append((event_id, message))
        found.reverse()
        return found

    async def _read(self) -> None:
        """Read events until the run's last."""
        notified = False
        try:
            while True:
                events = await self._runs.events(self._run_id, self._last)
                self._add(events)
                if notified and not events and await self._is_over():
                    self._add(await self._runs.events(self._run_id, self._last))  # stored since the read above
                    self._ended = True
                    self._notify()
                    return
                notified = await self._runs.changed(self._run_id, self._last, self._heartbeat_s)
        except Exception as error:  # the viewers get it: of a store that is busy, or a bug
            self._error = error
            self._notify()

    async def _is_over(self) -> bool:
        run = await self._runs.get(self._run_id)
        return run is None or run.status.final

    def _add(self, events: Sequence[Event]) -> None:
        for event in events:
            message = self._message(event)
            self._held.append((event.id, message))
            self._bytes += len(message)
            self._last = event.id
        while len(self._held) > MAX_HELD or (self._bytes > MAX_HELD_BYTES and len(self._held) > 1):
            self._floor, message = self._held.popleft()
            self._bytes -= len(message)
        if events:
            self._notify()

    def _notify(self) -> None:
        """Wake those who wait."""
        changed, self._changed = self._changed, asyncio.Event()
        changed.set()


class RunFeeds:
    """The feeds that somebody follows, one for each run and kind of message."""

    def __init__(self, heartbeat_s: float) -> None:
        self._heartbeat_s = heartbeat_s
        self._feeds: dict[Hashable, RunFeed] = {}

    def join(self, runs: Followed, run_id: str, message: Message) -> RunFeed:
        """The feed of that run, which the caller must give to `leave`."""
        key = (run_id, message)
        feed = self._feeds.get(key)
        if feed is None or not feed.is_open:
            feed = self._feeds[key] = RunFeed(runs, run_id, message, self._heartbeat_s)
        feed.join()
        return feed

    def leave(self, feed: RunFeed) -> None:
        """A viewer has gone; a feed without viewers is forgotten."""
        if feed.leave():
            self._feeds = {key: other for key, other in self._feeds.items() if other is not feed}


def _comment(error: Transient) -> bytes:
    """A comment of the stream that says why it ends."""
    why = english(make_reason("request.resume", why=error_reason(error)))
    return f": {' '.join(why.split())}\n\n".encode()
