"""The chart of errors: a bar for each of the last 30 days, drawn to scale."""

from __future__ import annotations

from bot.store.history.outcomes import DAY_MS, DayOfErrors
from bot.web.pages.error_trend import DAYS, draw, first_day

NOW = 1_795_262_400_000  # 2026-11-21
TODAY = NOW // DAY_MS


def test_bars_are_as_high_as_their_errors() -> None:
    days = [DayOfErrors(day=TODAY - 1, errors=10, failures=3), DayOfErrors(day=TODAY, errors=5, failures=1)]
    chart = draw(days, NOW)
    assert chart is not None and len(chart.bars) == DAYS
    *rest, before, today = chart.bars
    assert before.height == 2 * today.height and before.y + before.height == today.y + today.height == chart.baseline
    assert (today.day, today.label) == ("2026-11-21", "11-21") and before.label == ""
    assert {bar.height for bar in rest} == {0}
    assert (chart.errors, chart.failures, chart.highest) == (15, 4, 10)
    assert today.x + today.width <= chart.width and before.x < today.x


def test_no_failure_makes_no_chart_and_one_without_errors_an_empty_one() -> None:
    assert draw([], NOW) is None
    chart = draw([DayOfErrors(day=first_day(NOW), errors=0, failures=2)], NOW)
    assert chart is not None and chart.bars[0].failures == 2 and chart.bars[0].height == 0
