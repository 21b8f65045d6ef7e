"""The benchmark of setups installs real packages, and the second tree is given what the first one installed."""

from __future__ import annotations

import math

from benchmarks import setup


def test_both_kinds_of_project_are_measured_on_small_ones() -> None:
    result = setup.measure(setup.Size(rounds=1, node={"ms": "2.1.3"}, python=("iniconfig",)))
    assert all(math.isfinite(row.value) and row.value > 0 for row in result.rows)
    assert [row.what for row in result.rows if row.goal == 0.1] == [
        "npm: second run : first run",
        "npm: second run : its own command",
        "Python: second run : first run",
        "Python: second run : its own command",
    ]
