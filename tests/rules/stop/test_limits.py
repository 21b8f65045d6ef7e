"""Stop conditions: the seed's behaviours (REQ-STOP-001, 005) and the edges around each limit."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.errors import ConfigError
from bot.rules.stop import (
    DEFAULT_STOP_CONDITIONS,
    LoopState,
    StopConditions,
    load_stop_conditions,
    loop_run_to_state,
    should_stop,
)

CONDITIONS = StopConditions(max_iterations=10, max_duration_ms=60_000, no_progress_threshold=3)
NOW = datetime(2025, 1, 17, 10, 0, tzinfo=UTC)


def state(iterations: int = 5, age_s: float = 0, stuck: int = 0) -> LoopState:
    return LoopState(iterations=iterations, started_at=NOW - timedelta(seconds=age_s), no_progress_count=stuck)


def test_the_defaults_are_those_of_the_specification() -> None:
    """REQ-STOP-001."""
    assert StopConditions(10, 1_800_000, 3) == DEFAULT_STOP_CONDITIONS


def test_a_loop_within_its_limits_goes_on() -> None:
    assert should_stop(state(stuck=1), CONDITIONS, NOW) is None


def test_it_stops_at_the_last_iteration_and_names_the_figures() -> None:
    """REQ-STOP-001."""
    reason = should_stop(state(iterations=10), CONDITIONS, NOW)
    assert reason is not None
    assert reason.reason == "max_iterations"
    assert "10/10" in reason.details


def test_one_iteration_before_the_limit_goes_on() -> None:
    assert should_stop(state(iterations=9), CONDITIONS, NOW) is None


def test_it_stops_at_the_time_limit_and_names_the_figures() -> None:
    """REQ-STOP-001."""
    reason = should_stop(state(age_s=120), CONDITIONS, NOW)
    assert reason is not None
    assert reason.reason == "max_duration"
    assert "2min/1min" in reason.details


def test_the_time_limit_is_reached_to_the_millisecond() -> None:
    assert should_stop(state(age_s=59.999), CONDITIONS, NOW) is None
    assert should_stop(state(age_s=60), CONDITIONS, NOW) is not None


def test_a_limit_under_a_minute_is_not_told_as_nothing_of_nothing() -> None:
    reason = should_stop(state(age_s=45), StopConditions(max_duration_ms=30_000), NOW)
    assert reason is not None
    assert "0.75min/0.50min" in reason.details


def test_it_stops_without_progress_and_names_the_figure() -> None:
    """REQ-STOP-001."""
    reason = should_stop(state(stuck=3), CONDITIONS, NOW)
    assert reason is not None
    assert reason.reason == "no_progress"
    assert "3" in reason.details


def test_iterations_come_before_duration_and_duration_before_progress() -> None:
    """REQ-STOP-001."""
    everything = should_stop(state(iterations=10, age_s=120, stuck=5), CONDITIONS, NOW)
    two = should_stop(state(age_s=120, stuck=5), CONDITIONS, NOW)
    assert everything is not None
    assert two is not None
    assert (everything.reason, two.reason) == ("max_iterations", "max_duration")


def test_the_present_moment_is_the_default() -> None:
    long_ago = LoopState(1, datetime.now(UTC) - timedelta(minutes=2), 0)
    assert should_stop(LoopState(1, datetime.now(UTC), 0), CONDITIONS) is None
    reason = should_stop(long_ago, CONDITIONS)
    assert reason is not None
    assert reason.reason == "max_duration"


def test_times_of_other_zones_and_naive_ones_compare() -> None:
    elsewhere = LoopState(1, (NOW - timedelta(minutes=5)).astimezone(timezone(timedelta(hours=9))))
    naive = LoopState(1, (NOW - timedelta(minutes=5)).replace(tzinfo=None))
    for loop in (elsewhere, naive):
        reason = should_stop(loop, CONDITIONS, NOW)
        assert reason is not None
        assert "5min/1min" in reason.details


def test_a_clock_that_went_back_stops_nothing() -> None:
    assert should_stop(state(age_s=-3600), CONDITIONS, NOW) is None
    assert should_stop(state(age_s=-3600), StopConditions(max_duration_ms=0), NOW) is not None


@given(
    st.integers(0, 50),
    st.integers(0, 7200),
    st.integers(0, 20),
    st.integers(0, 50),
    st.integers(1, 7200),
    st.integers(0, 20),
)
def test_it_stops_exactly_where_a_limit_is_reached(
    iterations: int, age_s: int, stuck: int, most: int, most_s: int, threshold: int
) -> None:
    """REQ-STOP-001."""
    conditions = StopConditions(most, most_s * 1000, threshold)
    reason = should_stop(state(iterations, age_s, stuck), conditions, NOW)
    reached = [
        name
        for name, is_reached in (
            ("max_iterations", iterations >= most),
            ("max_duration", age_s >= most_s),
            ("no_progress", stuck >= threshold),
        )
        if is_reached
    ]
    assert (reason.reason if reason else None) == (reached[0] if reached else None)


@pytest.mark.parametrize("config", [None, {}, {"ralph": None}, {"ralph": {}}, SimpleNamespace()])
def test_without_a_section_the_defaults_hold(config: object) -> None:
    """REQ-STOP-005."""
    assert load_stop_conditions(config) == DEFAULT_STOP_CONDITIONS


def test_configured_limits_win_and_other_keys_are_let_be() -> None:
    """REQ-STOP-005."""
    section = {"max_iterations": 20, "max_duration_ms": 3_600_000, "no_progress_threshold": 5, "cooldown_ms": 1}
    assert load_stop_conditions({"ralph": section}) == StopConditions(20, 3_600_000, 5)


def test_a_missing_limit_has_its_default() -> None:
    """REQ-STOP-005."""
    assert load_stop_conditions({"ralph": {"max_iterations": 15}}) == StopConditions(max_iterations=15)


def test_a_limit_of_zero_is_a_limit_and_not_missing() -> None:
    assert load_stop_conditions({"ralph": {"max_iterations": 0}}).max_iterations == 0


def test_a_configuration_may_be_an_object() -> None:
    config = SimpleNamespace(ralph=SimpleNamespace(no_progress_threshold=7))
    assert load_stop_conditions(config) == StopConditions(no_progress_threshold=7)


@pytest.mark.parametrize("value", ["10", -1, 1.5, True])
def test_a_wrong_limit_is_named(value: object) -> None:
    """REQ-STOP-005."""
    with pytest.raises(ConfigError, match=r"^ralph\.max_iterations must be a whole number"):
        load_stop_conditions({"ralph": {"max_iterations": value}})


@pytest.mark.parametrize("text", ["2025-01-17T10:00:00.000Z", "2025-01-17T19:00:00+09:00", "2025-01-17 10:00:00"])
def test_a_stored_run_becomes_a_state(text: str) -> None:
    """REQ-STOP-005."""
    run = {"id": "loop-1", "iterations": 5, "max_iterations": 10, "started_at": text, "ended_at": None}
    assert loop_run_to_state(run) == LoopState(iterations=5, started_at=NOW, no_progress_count=0)


def test_a_stored_run_may_be_an_object() -> None:
    """REQ-STOP-005."""
    assert loop_run_to_state(SimpleNamespace(iterations=2, started_at=NOW)) == LoopState(2, NOW, 0)


def test_a_run_without_a_date_is_refused() -> None:
    with pytest.raises(ValueError, match=r"started_at|isoformat"):
        loop_run_to_state({"iterations": 1, "started_at": None})
