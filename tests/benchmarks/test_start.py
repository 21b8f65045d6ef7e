"""The start of the server is measured in a new home and in one with a database."""

from __future__ import annotations

from benchmarks import start


def test_both_starts_are_measured_with_their_processor_time() -> None:
    result = start.measure(start.Size(rounds=1))
    fresh, again, fresh_cpu, again_cpu = (row.value for row in result.rows)
    assert [row.goal for row in result.rows[:2]] == [start.GOAL_S] * 2
    assert min(fresh, again, fresh_cpu, again_cpu) > 0
