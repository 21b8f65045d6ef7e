"""The errors of the last 30 days as a bar chart: a bar for each day, drawn to scale."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from bot.store.history.outcomes import DAY_MS, DayOfErrors

DAYS = 30
WIDTH, HEIGHT = 600, 96
_LEFT, _RIGHT, _TOP, _BOTTOM, _GAP = 36, 12, 10, 20, 4
_LABELLED = 7
"""Every seventh day has its date below, counted back from today."""


@dataclass(frozen=True, slots=True)
class Bar:
    """One day. `height` is 0 for a day without errors; `label` is empty for days whose date is not printed."""

    day: str
    x: float
    y: float
    width: float
    height: float
    errors: int
    failures: int
    label: str


@dataclass(frozen=True, slots=True)
class Trend:
    """The chart: sizes in pixels of its own coordinates, and the sums that describe it in words."""

    width: int
    height: int
    left: int
    baseline: int
    top: int
    highest: int
    bars: tuple[Bar, ...]
    errors: int
    failures: int


def first_day(now_ms: int) -> int:
    """The first day of the chart; days count from 1970-01-01."""
    return now_ms // DAY_MS - DAYS + 1


def draw(days: Sequence[DayOfErrors], now_ms: int) -> Trend | None:
    """The chart of these days; None if no check failed in them."""
    by_day = {day.day: day for day in days}
    if not by_day:
        return None
    first = first_day(now_ms)
    highest = max(1, *(day.errors for day in days))
    step = (WIDTH - _LEFT - _RIGHT) / DAYS
    bars = []
    for number in range(DAYS):
        at = first + number
        known = by_day.get(at, DayOfErrors(day=at, errors=0, failures=0))
        height = round(known.errors / highest * HEIGHT, 1)
        date = f"{datetime.fromtimestamp(at * DAY_MS / 1000, UTC):%Y-%m-%d}"
        label = date[5:] if (DAYS - 1 - number) % _LABELLED == 0 else ""
        x = round(_LEFT + number * step + _GAP / 2, 1)
        y = round(_TOP + HEIGHT - height, 1)
        bars.append(Bar(date, x, y, round(step - _GAP, 1), height, known.errors, known.failures, label))
    sums = sum(day.errors for day in days), sum(day.failures for day in days)
    return Trend(WIDTH, _TOP + HEIGHT + _BOTTOM, _LEFT, _TOP + HEIGHT, _TOP, highest, tuple(bars), *sums)
