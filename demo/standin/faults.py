"""Trouble on request: answers that go wrong before or after their effect, for the tests of a bot's endurance."""

from __future__ import annotations

import re
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypedDict, Unpack


@dataclass(slots=True)
class Fault:
    """What goes wrong, `times` times. With `after_effect` the request is carried out first and its answer lost.

    `status` None changes nothing but the delay; `body` None is GitHub's JSON for that status."""

    method: str
    path: re.Pattern[str]
    status: int | None
    after_effect: bool
    times: int
    headers: Mapping[str, str]
    delay_s: float
    body: Any
    hits: int = field(default=0)


class How(TypedDict, total=False):
    """What may be said of a fault; by default it is one 502 before the effect."""

    status: int | None
    after_effect: bool
    times: int
    headers: Mapping[str, str]
    delay_s: float
    body: Any


class Faults:
    """The list of them; safe to change from any thread while requests come in."""

    def __init__(self) -> None:
        self._faults: list[Fault] = []
        self._lock = threading.Lock()

    def add(self, method: str, path_regex: str, **how: Unpack[How]) -> Fault:
        """Let the next `times` requests go wrong whose path matches wholly (`re.fullmatch`); method `*` is any.

        Paths are those of the request log: REST ones without `/api`, git ones as `/owner/name.git/…`."""
        fault = Fault(
            method,
            re.compile(path_regex),
            status=how.get("status", 502),
            after_effect=how.get("after_effect", False),
            times=how.get("times", 1),
            headers=how.get("headers", {}),
            delay_s=how.get("delay_s", 0.0),
            body=how.get("body"),
        )
        with self._lock:
            self._faults.append(fault)
        return fault

    def clear(self) -> None:
        with self._lock:
            self._faults.clear()

    def take(self, method: str, path: str) -> Fault | None:
        """The first fault that is due for this request; counts it."""
        with self._lock:
            for fault in self._faults:
                if fault.method in ("*", method) and fault.hits < fault.times and fault.path.fullmatch(path):
                    fault.hits += 1
                    return fault
        return None
