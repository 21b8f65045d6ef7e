"""Detectors of progress between two outputs, and a manager of a loop's state (REQ-STOP-002..004).

They are for loops that have only text to compare; the rule itself is `rules.stop.output_progress`."""

from __future__ import annotations

import inspect
import logging
from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import UTC, datetime
from typing import Protocol

from bot.model import StopReason
from bot.rules.stop import LoopState, StopConditions, should_stop
from bot.rules.stop.output_progress import made_progress

_log = logging.getLogger(__name__)

Judge = Callable[[str, str], bool | Awaitable[bool]]
"""Called with (previous, current); true for progress. A plain function runs on the event loop, so it must be fast."""


class ProgressDetector(Protocol):
    async def detect_progress(self, previous: str, current: str) -> bool: ...


class SimpleProgressDetector:
    """The rule alone; needs no model (REQ-STOP-002)."""

    async def detect_progress(self, previous: str, current: str) -> bool:
        return made_progress(previous, current)


class JudgeProgressDetector:
    """Asks a judge, such as a model; uses the simple rule if the judge fails (REQ-STOP-003)."""

    def __init__(self, judge: Judge) -> None:
        self._judge = judge
        self._simple = SimpleProgressDetector()

    async def detect_progress(self, previous: str, current: str) -> bool:
        """The judge's answer; identical outputs are no progress, so the judge is not asked."""
        if previous == current:
            return False
        try:
            answer = self._judge(previous, current)
            return bool(await answer if inspect.isawaitable(answer) else answer)
        except Exception as error:  # whatever a model's client may raise; the loop must go on
            _log.warning("the progress judge failed, going by the simple rule: %s", error)
            return await self._simple.detect_progress(previous, current)


class StopConditionManager:
    """One loop's state, its limits and its detector (REQ-STOP-004). For one task at a time."""

    def __init__(self, conditions: StopConditions, detector: ProgressDetector | None = None) -> None:
        self._conditions = conditions
        self._detector = detector or SimpleProgressDetector()
        self._state = LoopState(iterations=0, started_at=datetime.now(UTC))
        self._last_output: str | None = None

    async def record_iteration(self, output: str) -> int:
        """Counts one iteration; returns how many in a row made no progress. The first is compared with nothing."""
        previous, self._last_output = self._last_output, output
        self._state = replace(self._state, iterations=self._state.iterations + 1)
        if previous is not None:
            progress = await self._detector.detect_progress(previous, output)
            stuck = 0 if progress else self._state.no_progress_count + 1
            self._state = replace(self._state, no_progress_count=stuck)
        return self._state.no_progress_count

    def should_stop(self, now: datetime | None = None) -> StopReason | None:
        return should_stop(self._state, self._conditions, now)

    def reset_no_progress_count(self) -> None:
        """Resets the count of iterations without progress, as after a check that passed."""
        self._state = replace(self._state, no_progress_count=0)

    def get_state(self) -> LoopState:
        """A copy of the state, which later iterations do not change."""
        return replace(self._state)
