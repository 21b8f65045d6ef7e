"""A run's events as lines for a terminal."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from bot.model import RunEvent
from bot.reports.course import event_line

BELOW = "make: *** [Makefile:8: test] Error 1\nmake: Leaving directory '/srv/x/duration'\n"


@pytest.mark.parametrize(
    ("output", "last"),
    [
        pytest.param(f"E  boom\n1 failed, 7 passed in 0.02s\n{BELOW}", "1 failed, 7 passed in 0.02s", id="below"),
        pytest.param("ok\nmake[1]: Leaving directory '/srv/x'\n", "ok", id="nested"),
        pytest.param("make: Nothing to be done for 'test'.\n", "make: Nothing to be done for 'test'.", id="alone"),
        pytest.param(" \n", None, id="silent"),
    ],
)
def test_a_check_is_summed_up_in_the_tools_last_line_and_not_in_makes(output: str, last: str | None) -> None:
    step = {"stage": "test", "passed": True, "skipped": False, "durationMs": 400, "output": output}
    event = RunEvent(
        id=1,
        type="validation_command_completed",
        ts=datetime(2026, 1, 1, tzinfo=UTC),
        iteration=1,
        data={"step": step, "attempt": 1},
    )
    assert event_line(event) == "  ✓ test (attempt 1, 0.4 s)" + (f": {last}" if last else "")
