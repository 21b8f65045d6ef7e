"""Events are written and read by one type, under a key that is theirs alone, and shown as they are stored."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from bot.model import KnownError, Phase, Resolution
from bot.model.events.phases import ImplementationFailed, PhaseFailed, PhaseSkipped, PhaseStarted, ValidationFailed
from bot.model.events.pull_checks import PULL_CHECK_EVENTS
from bot.model.events.runs import AgentStarted, AttemptStarted, ChangesApplied, Paused, SessionFinished
from bot.reports.locale.reasons import english_json
from bot.store.runs.rows import event_fields, event_row
from tests.run_events import pull_check_event, run_event

RUN_KINDS = [
    ("session_started", None), ("phase_started", "planning"), ("phase_started", "review"),
    ("phase_completed", "design"), ("resumed", None), ("session_finished", None),
    ("phase_completed", "implementation"), ("phase_failed", "implementation"), ("phase_failed", "validation"),
    ("phase_completed", "review"), ("phase_completed", "packaging"), ("phase_failed", "packaging"),
    ("phase_skipped", "review"), ("setup_started", None), ("setup_completed", None), ("setup_failed", None),
    ("attempt_started", None), ("agent_started", None), ("agent_ended", "validation"),
    ("changes_applied", None), ("tests_failed", "validation"),
    ("validation_command_started", "validation"), ("validation_command_failed", "validation"),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "phase"), RUN_KINDS)
def test_an_event_of_a_run_is_read_as_it_was_written(kind: str, phase: str | None) -> None:
    event = run_event(kind, phase, id=3)
    row = event_row("run-1", "octo/pocket", event.ts.isoformat(), event)
    again = run_event(**_read(row))
    assert again == event and type(again) is type(event)
    assert again.as_json() == event.as_json()


def _read(row: dict[str, Any]) -> dict[str, Any]:
    fields = event_fields({**row, "id": 3})
    return {"kind": fields.pop("type"), **fields}


def test_an_event_of_a_pull_check_is_read_as_it_was_written() -> None:
    event = pull_check_event("pull_check_ran", id=3, errors=("E",), printed={"E": ("words", "test_a")})
    row = event_row("pull-1", "octo/pocket", event.ts.isoformat(), event)
    assert PULL_CHECK_EVENTS.validate_python(event_fields({**row, "id": 3})) == event


def test_what_an_event_has_beside_the_shared_fields_is_its_data_and_what_nobody_set_is_not_in_it() -> None:
    failed = run_event("phase_failed", "implementation", 2, reason="same_patch", message="no")
    assert english_json(failed.as_json()) == {
        "id": 0,
        "type": "phase_failed",
        "ts": "2026-11-01T12:00:00Z",
        "phase": "implementation",
        "iteration": 2,
        "data": {"reason": "same_patch", "message": "no"},
    }
    assert run_event("session_finished", stop=None, salvageRef=None).data() == {
        "status": "success",
        "stop": None,
        "salvageRef": None,
    }


def test_known_errors_keep_the_names_that_programs_read() -> None:
    known = KnownError(id=3, error="E", resolution=Resolution(how="removed it"), use_count=2)
    (shown,) = AttemptStarted(iteration=1, attempt=1, of=3, guidance=(known,)).data()["guidance"]
    assert (shown["use_count"], shown["resolution"]["resolved_by"]) == (2, "")


def test_the_phase_and_the_type_together_choose_the_kind() -> None:
    assert isinstance(run_event("phase_failed", "implementation"), ImplementationFailed)
    assert isinstance(run_event("phase_failed", "validation"), ValidationFailed)
    assert isinstance(run_event("phase_failed", "review"), PhaseFailed)
    for wrong in (
        {"kind": "phase_failed", "phase": "design"},
        {"kind": "somebody_waved"},
        {"kind": "session_finished", "status": "?"},
    ):
        with pytest.raises(ValidationError):
            run_event(**wrong)  # type: ignore[arg-type]


def test_a_key_says_what_an_event_is_about() -> None:
    change = run_event("changes_applied", iteration=2)
    assert isinstance(change, ChangesApplied)
    keys = [
        PhaseStarted(phase=Phase.REVIEW).key,
        PhaseStarted(phase=Phase.VALIDATION, iteration=2).key,
        run_event("phase_completed", "validation", 2).key,
        run_event("phase_completed", "design").key,
        PhaseSkipped(phase=Phase.REVIEW).key,
        change.key,
        AgentStarted(iteration=1, agent="command").key,
        AgentStarted(iteration=1, agent="command", nth=2).key,
        run_event("validation_command_started", iteration=0, index=2).key,
        run_event("validation_command_failed", iteration=0, index=2).key,
        Paused(number=7, by="ada", after=9).key,
        SessionFinished(status="failed").key,  # type: ignore[arg-type]
    ]
    assert keys == [
        "review", "validation:2", "validation_done:2", "design_done", "skipped:review", "changes:2", "agent:1:command",
        "agent:1:command:2", "command:0:2", "command_done:0:2", "paused:9", "session_finished",
    ]  # fmt: skip
