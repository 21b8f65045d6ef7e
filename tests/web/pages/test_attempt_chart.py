"""The chart of errors by attempt."""

from __future__ import annotations

from bot.model.report_views import Attempt, ErrorDelta
from bot.web.pages.attempt_chart import HEIGHT, draw


def attempt(number: int, fixed: int, remaining: int, introduced: int) -> Attempt:
    names = {"fixed": fixed, "remaining": remaining, "introduced": introduced}
    delta = ErrorDelta(**{name: tuple(map(str, range(count))) for name, count in names.items()})
    return Attempt(attempt=number, result="failed", error_delta=delta)


def test_parts_are_as_high_as_their_counts_on_both_sides_of_the_line() -> None:
    chart = draw([attempt(1, 0, 3, 1), Attempt(attempt=2, result="not_applied"), attempt(3, 4, 0, 0)])
    assert chart is not None
    first, second = chart.columns
    heights = {part.kind: part.height for part in first.parts}
    assert heights == {"introduced": HEIGHT / 8, "remaining": 3 * HEIGHT / 8}
    assert all(part.y + part.height <= chart.baseline + 0.01 for part in first.parts)
    assert (second.attempt, second.parts[0].kind, second.parts[0].y) == (3, "fixed", chart.baseline)


def test_without_errors_there_is_no_chart() -> None:
    assert draw([]) is None and draw([attempt(1, 0, 0, 0)]) is None
