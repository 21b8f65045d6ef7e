"""The eyes are measured end to end with tiny numbers; what they take is asserted nowhere, as machines differ."""

from __future__ import annotations

import math

from benchmarks import eyes


def test_eyes_are_seen_idle_and_busy() -> None:
    result = eyes.measure(eyes.Size(comments=1, pause_s=0.1, burst=1, during=1))
    assert all(math.isfinite(row.value) and row.value > 0 for row in result.rows)
