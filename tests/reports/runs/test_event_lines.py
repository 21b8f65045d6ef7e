"""A run's events as lines for a terminal."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from bot.model import Phase, RunEvent
from bot.reports.runs.event_lines import event_line

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
BELOW = "make: *** [Makefile:8: test] Error 1\nmake: Leaving directory '/srv/x/duration'\n"


def test_a_check_without_a_command_is_told_in_a_short_line() -> None:
    output = "no command: looked for `checks.lint.command`, a script and much else"
    step = {"stage": "lint", "passed": True, "skipped": True, "durationMs": 0, "output": output}
    data = {"step": step, "attempt": 1}
    event = RunEvent(id=1, type="validation_command_completed", ts=NOON, iteration=1, data=data)
    assert event_line(event) == "  lint: skipped, no command"


def test_a_check_that_is_left_alone_is_no_success() -> None:
    step = {"stage": "lint", "passed": True, "tolerated": True, "skipped": False, "durationMs": 5, "output": "1 error"}
    event = RunEvent(id=1, type="validation_command_completed", ts=NOON, iteration=0, data={"step": step})
    assert event_line(event) == "  – lint (before any change): fails with nothing that this run is to fix"


def test_an_answer_of_an_agent_is_told_with_how_long_it_took() -> None:
    data = {"agent": "command", "paths": ["a.py"]}
    event = RunEvent(id=2, type="changes_applied", ts=NOON, phase=Phase.IMPLEMENTATION, iteration=1, data=data)
    assert event_line(event, since=NOON - timedelta(seconds=90)) == "  command changed a.py (90.0 s)"
    assert event_line(event) == "  command changed a.py"


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
