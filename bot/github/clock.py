"""Our clock as a value to pass down, and GitHub's clock by its `Date` headers.

Tokens, JWTs and rate limits are dated by GitHub's clock, from which this machine's may differ."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from email.utils import parsedate_to_datetime


@dataclass(frozen=True, slots=True)
class Clock:
    """Seconds since the epoch, seconds that never jump, and a pause that follows them."""

    now: Callable[[], float] = time.time
    steady: Callable[[], float] = time.monotonic
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep


def http_date(text: str | None) -> float | None:
    """Seconds since the epoch of an HTTP date (RFC 9110, section 5.6.7); None if the text is no date."""
    if not text:
        return None
    try:
        return parsedate_to_datetime(text).timestamp()
    except (ValueError, TypeError, OverflowError):
        return None


class ServerClock:
    """GitHub's time by its latest response; our own until the first response."""

    def __init__(self, clock: Clock) -> None:
        self.clock = clock
        self.skew_s = 0.0

    def observe(self, headers: Mapping[str, str]) -> None:
        """Reads the `Date` of a response."""
        date = http_date(headers.get("date"))
        if date is not None:
            self.skew_s = date - self.clock.now()

    def now(self) -> float:
        """GitHub's seconds since the epoch, to about a second."""
        return self.clock.now() + self.skew_s
