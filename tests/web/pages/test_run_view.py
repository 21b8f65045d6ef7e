"""Attempts and events as a page shows them."""

from __future__ import annotations

from bot.model import Usage
from bot.model.report_views import Attempt
from bot.web.pages.rendering import color
from bot.web.pages.run_view import MAX_EVENTS, attempt_views, event_rows
from tests.run_events import pull_check_event, run_event


def test_checks_are_grouped_by_attempt_with_their_state() -> None:
    views = attempt_views(
        [
            run_event("validation_command_failed", iteration=0),
            run_event("attempt_started", iteration=1),
            run_event("agent_started", iteration=1),
            run_event("changes_applied", iteration=1),
            run_event("validation_command_completed", iteration=1),
            run_event("validation_command_started", iteration=1, index=1),
            run_event("phase_failed", "implementation", 2),
        ],
        [Attempt(attempt=2, result="not_applied")],
    )
    assert [(view.iteration, view.state) for view in views] == [(0, "failed"), (1, "running"), (2, "not_applied")]
    assert [check.state for check in views[1].checks.values()] == ["passed", "running"]
    assert views[1].agents == ["command"] and views[1].change is not None and views[2].problems


def test_a_check_after_which_the_change_was_refused_has_not_passed() -> None:
    """Though its command passed, on the page the check is refused and classified as a failed test."""
    refused = run_event("validation_command_completed", iteration=1, refused="only tests changed")
    (view,) = attempt_views([refused, run_event("tests_failed", iteration=1)], [])
    (check,) = view.checks.values()
    assert (view.state, check.state, check.classification) == ("failed", "refused", "test")
    (row,) = event_rows([refused], "en")
    assert row.passed is False and row.text.endswith("the change is refused: only tests changed")


def test_results_of_checks_are_highlighted_with_their_classification() -> None:
    failed = run_event("validation_command_failed", iteration=1, classification="lint")
    row, other = event_rows([failed, run_event("session_started")], "en")
    assert (row.strong, row.passed, row.classification) == (True, False, "lint")
    assert (other.strong, other.passed) == (False, None)


def test_the_last_events_are_listed_of_either_kind_of_run() -> None:
    rows = event_rows([run_event("session_started")] * MAX_EVENTS + [pull_check_event("pull_check_ran")], "en")
    assert len(rows) == MAX_EVENTS and rows[-1].text == "test · c"


def test_an_attempt_shows_what_its_agents_and_models_used() -> None:
    """REQ-RUN-008: the failing test that is asked for before belongs to no attempt of the fix."""
    used = {"durationMs": 1_000, "inputTokens": 10, "outputTokens": 1}
    (view,) = attempt_views(
        [
            run_event("agent_ended", "reproduction", 1, usage=used),
            run_event("agent_ended", "implementation", 1, usage=used),
            run_event("agent_ended", "validation", 1, usage={**used, "costUsd": 0.5}),
        ],
        [],
    )
    assert view.usage == Usage(duration_ms=2_000, input_tokens=20, output_tokens=2, cost_usd=0.5, partial_cost=True)


def test_a_check_with_existing_failures_alone_is_neither_green_nor_red() -> None:
    """Its command failed, but nothing that it shows is new."""
    step = {"command": "ruff check .", "stage": "lint", "passed": True, "tolerated": True, "exitCode": 1}
    (view,) = attempt_views([run_event("validation_command_completed", iteration=1, step=step)], [])
    (check,) = view.checks.values()
    assert (check.state, color(check.state)) == ("tolerated", "neutral")
