"""A run's events as lines for a terminal."""

from __future__ import annotations

from datetime import timedelta

import pytest

from bot.model.pipeline import PipelineStage
from bot.reports.locale.reasons import english
from bot.reports.runs.event_lines import event_line
from bot.rules.reasons import make_reason
from bot.rules.runs.pipeline import skipped_step
from tests.run_events import NOON, run_event

BELOW = "make: *** [Makefile:8: test] Error 1\nmake: Leaving directory '/srv/x/duration'\n"


def test_a_check_without_a_command_is_told_in_a_short_line() -> None:
    output = "no command: looked for `checks.lint.command`, a script and much else"
    step = {"command": "", "stage": "lint", "passed": True, "skipped": True, "durationMs": 0, "output": output}
    event = run_event("validation_command_completed", iteration=1, step=step, attempt=1)
    assert event_line(event) == "  lint: skipped, no command"
    assert event_line(event, "ko") == "  lint: 건너뜀, 명령 없음"


def test_a_check_that_could_not_run_on_the_base_is_left_out() -> None:
    why = english(make_reason("pipeline.left_out"))
    step = skipped_step(PipelineStage(name="lint"), why, "flake8").model_dump(mode="json", by_alias=True)
    event = run_event("validation_command_completed", iteration=1, step=step, attempt=1)
    assert event_line(event) == "  lint: skipped, left out: it could not run on the base"


def test_a_check_that_could_not_run_is_shown_with_what_it_lacks() -> None:
    step = {
        "command": "c",
        "stage": "lint",
        "passed": True,
        "skipped": True,
        "durationMs": 9,
        "output": "flake8: install_deps> python -I -m pip install flake8\nWARNING: Retrying",
        "couldNotRun": {"hindrance": "no_module", "what": "flake8"},
    }
    event = run_event("validation_command_completed", iteration=0, step=step)
    assert event_line(event) == "  lint: could not run: the Python module `flake8` is not installed"


def test_a_check_after_which_the_change_is_refused_is_no_success() -> None:
    """REQ-STOP-006: the line has the reason of the refusal."""
    step = {"command": "c", "stage": "test", "passed": True, "durationMs": 5, "output": "1 passed"}
    event = run_event("validation_command_completed", iteration=1, step=step, refused="only tests changed")
    assert event_line(event) == ("  ✗ test (attempt 1, 0.0 s): 1 passed: the change is refused: only tests changed")


def test_a_check_that_is_left_alone_is_no_success() -> None:
    step = {
        "command": "c",
        "stage": "lint",
        "passed": True,
        "tolerated": True,
        "skipped": False,
        "durationMs": 5,
        "output": "1 error",
    }
    event = run_event("validation_command_completed", iteration=0, step=step)
    assert event_line(event) == "  – lint (before any change): fails with nothing that this run is to fix"


def test_an_answer_of_an_agent_is_told_with_how_long_it_took() -> None:
    event = run_event("changes_applied", agent="command", paths=["a.py"])
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
    step = {"command": "c", "stage": "test", "passed": True, "skipped": False, "durationMs": 400, "output": output}
    event = run_event("validation_command_completed", iteration=1, step=step, attempt=1)
    assert event_line(event) == "  ✓ test (attempt 1, 0.4 s)" + (f": {last}" if last else "")


def test_the_tokens_of_an_agent_have_a_line_where_they_are_known() -> None:
    """REQ-RUN-008."""
    used = {"inputTokens": 1_000, "outputTokens": 1, "costUsd": 0.25}
    assert event_line(run_event("agent_ended", iteration=1, usage=used)) == "  `command` used 1,001 tokens, $0.25"
    assert event_line(run_event("agent_ended", iteration=1, usage={})) is None
