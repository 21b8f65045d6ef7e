"""The timeline is drawn to scale."""

from __future__ import annotations

from datetime import timedelta

from bot.web.pages.timeline import LABELS, MAX_ROWS, WIDTH, Span, draw, fix_spans, pull_spans
from tests.run_events import NOON, pull_check_event, run_event


def at(seconds: float) -> timedelta:
    return NOON + timedelta(seconds=seconds)


def test_bars_are_as_long_as_what_they_show_took() -> None:
    picture = draw([Span("a", at(0), at(10), "completed", "a"), Span("b", at(10), at(40), "failed", "b")], "en")
    assert picture is not None
    (first,), (second,) = (lane.bars for lane in picture.lanes)
    assert abs(second.width / first.width - 3) < 0.01
    assert first.x == LABELS and abs(second.x - (first.x + first.width)) < 0.2
    assert second.x + second.width <= WIDTH
    assert [tick.label for tick in picture.ticks] == ["0.0 s", "10 s", "20 s", "30 s", "40 s"]
    assert second.text == "b: 30 s"


def test_the_last_rows_are_shown_and_nothing_for_nothing() -> None:
    assert draw([], "en") is None
    picture = draw([Span(str(number), at(number), at(number), "completed", "") for number in range(MAX_ROWS + 5)], "en")
    assert picture is not None and len(picture.lanes) == MAX_ROWS and picture.left_out == 5
    assert all(bar.x + bar.width <= WIDTH and bar.width > 0 for lane in picture.lanes for bar in lane.bars)


def test_a_run_has_spans_for_its_setup_phases_and_checks() -> None:
    events = [
        run_event("setup_started", ts=at(0)),
        run_event("setup_completed", ts=at(5)),
        run_event("phase_started", "implementation", 1, ts=at(5)),
        run_event("phase_failed", "implementation", 1, ts=at(7)),
        run_event("validation_command_started", iteration=0, ts=at(7)),
        run_event("validation_command_failed", iteration=0, ts=at(9)),
        run_event("phase_started", "review", ts=at(9)),
    ]
    spans = fix_spans(events, at(20), "en")
    assert [(span.row, (span.end - span.start).total_seconds(), span.state) for span in spans] == [
        ("Setup", 5, "completed"),
        ("Attempt 1: Implementation", 2, "failed"),
        ("Before any change", 2, "failed"),
        ("Review", 11, "running"),
    ]


def test_the_bar_of_a_check_names_that_the_change_was_refused() -> None:
    events = [
        run_event("validation_command_started", iteration=1, ts=at(0)),
        run_event("validation_command_completed", iteration=1, ts=at(2), refused="only tests changed"),
    ]
    (span,) = fix_spans(events, at(3), "en")
    assert (span.state, span.what) == ("refused", "test (refused)")


def test_a_pull_check_has_spans_by_check() -> None:
    events = [
        pull_check_event("pull_started", ts=at(0)),
        pull_check_event("pull_check_ran", ts=at(3)),
        pull_check_event("pull_base_checked", ts=at(5), index=0, errors=None),
    ]
    spans = pull_spans(events, at(9), "en", live=True)
    assert [(span.row, span.what) for span in spans] == [
        ("test", "head commit"),
        ("test", "merge base"),
        ("now", "now"),
    ]
    assert len(pull_spans(events, at(9), "en", live=False)) == 2
