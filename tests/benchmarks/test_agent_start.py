"""The start of a coding agent is measured beside a bare one."""

from __future__ import annotations

from benchmarks import agent_start


def test_the_start_in_the_sandbox_is_compared_with_a_bare_one() -> None:
    result = agent_start.measure(agent_start.Size(rounds=2))
    beyond, bare, whole = (row.value for row in result.rows)
    assert result.rows[0].goal == agent_start.GOAL_MS
    assert abs(beyond - (whole - bare)) < 1e-6
    assert 0 < bare < whole
