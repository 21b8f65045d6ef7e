"""The benchmark of the dashboard, on a tiny store."""

from __future__ import annotations

from benchmarks import dashboard


def test_the_dashboard_is_loaded_with_many_and_with_few_runs() -> None:
    result = dashboard.measure(dashboard.Size(runs=120, few=60, requests=2))
    assert [row.unit for row in result.rows] == ["×", "ms", "ms", "ms", "ms"]
    assert all(row.value > 0 for row in result.rows)
