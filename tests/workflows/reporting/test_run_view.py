"""What reports may tell of a run is what its events say: also what the history knew, and what came of the errors."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from bot.model import Annotation, ErrorDelta, KnownError, Resolution, RunEvent, ValidationStep
from bot.model.reasons import ExplainedStop
from bot.model.report_views import Conflict
from bot.reports.locale.reasons import english, reason_text
from bot.reports.runs.issue_comment import issue_comment
from bot.rules.failures.errors import fingerprints
from bot.rules.reasons import make_reason, quoted
from bot.rules.runs.fold import run_state
from bot.workflows.reporting.run_view import view_of
from tests.workflows.reporting.run_rows import begun, event, row

UNUSED = "shop/cart.py:1:1: F401 `os` imported but unused"
LONG = "shop/cart.py:9:1: E501 line too long (140 > 88)"
FINDING = Annotation(
    path="shop/cart.py", start_line=1, end_line=1, level="failure", message="`os` imported but unused", rule="F401"
)


def failed(at: int, iteration: int, output: str) -> RunEvent:
    step = ValidationStep(
        command="ruff check .", stage="lint", passed=False, exit_code=1, output=output, annotations=(FINDING,)
    )
    told: dict[str, Any] = {"step": step.model_dump(mode="json", by_alias=True), "fingerprints": fingerprints(output)}
    return event(at, "validation_command_failed", "validation", iteration, **told)


def test_a_view_tells_what_the_history_knew_and_what_came_of_the_errors() -> None:
    """REQ-RA-312."""
    known = KnownError(id=3, error=fingerprints(UNUSED)[0], resolution=Resolution(how="removed it"))
    made = {"agent": "command", "snapshot": "t1", "patchHash": "h", "paths": ["a"], "allPaths": ["a"]}
    events = [
        *begun(),
        failed(3, 0, UNUSED),
        event(4, "attempt_started", "implementation", 1, of=3, guidance=[known.model_dump(mode="json")]),
        event(5, "changes_applied", "implementation", 1, notes=["look at `a`"], **made),
        failed(6, 1, f"{UNUSED}\n{LONG}"),
    ]
    view = view_of(row(), run_state(events))
    assert view.guidance == (known,)
    assert view.recognised == ((FINDING, known),)
    assert view.error_delta == ErrorDelta(remaining=fingerprints(UNUSED), introduced=fingerprints(LONG))
    assert view.notes == (quoted("look at `a`"),)
    assert (view.task, view.issues) == ("Count from 1", ())


def test_before_anything_was_checked_there_is_nothing_to_tell() -> None:
    view = view_of(row(), run_state(begun()))
    assert (view.guidance, view.recognised, view.error_delta, view.notes) == ((), (), None, ())


MADE: dict[str, Any] = {"agent": "command", "snapshot": "t1", "patchHash": "h", "paths": ["a"], "allPaths": ["a"]}


def tried_once() -> list[RunEvent]:
    return [
        *begun(),
        failed(3, 0, UNUSED),
        event(4, "attempt_started", "implementation", 1, of=3),
        event(5, "changes_applied", "implementation", 1, **MADE),
        failed(6, 1, f"{UNUSED}\n{LONG}"),
    ]


def test_a_view_tells_of_each_attempt_that_is_over() -> None:
    under_way = run_state([*tried_once(), event(7, "attempt_started", "implementation", 2, of=3)])
    (tried,) = view_of(row(), under_way).attempts
    assert (tried.agent, tried.paths, tried.result) == ("command", ("a",), "failed")
    assert tried.error_delta == ErrorDelta(remaining=fingerprints(UNUSED), introduced=fingerprints(LONG))


def test_only_a_run_that_is_over_has_metadata() -> None:
    assert view_of(row(), run_state(tried_once())).metadata is None
    stop = {"reason": "max_iterations", "details": "1/1"}
    over = view_of(row(), run_state([*tried_once(), event(7, "session_finished", status="failed", stop=stop)]))
    assert over.metadata is not None
    told = {key: over.metadata.as_json()[key] for key in ("run", "decision", "reason", "base")}
    assert told == {"run": "session-1", "decision": "needs-human", "reason": "max_iterations", "base": "b" * 40}


def test_what_the_change_would_conflict_with_is_told() -> None:
    found = Conflict(issues=(12,), pull=45, paths=("a.py",))
    seen = event(7, "conflicts_seen", conflicts=[found.model_dump(mode="json")])
    assert view_of(row(), run_state([*tried_once(), seen])).conflicts == (found,)


def test_how_long_a_run_has_waited_is_told_only_to_who_asks_and_until_it_starts() -> None:
    assert view_of(row(), run_state([]), now_ms=5_000).waited_ms == 5_000
    assert view_of(row(), run_state([])).waited_ms == 0
    assert view_of(row(), run_state(begun()), now_ms=5_000).waited_ms == 0


def test_reasons_waits_and_ends_are_values_and_worded_in_the_readers_language() -> None:
    shared = make_reason("group.shared.file", count=2, key="a.py", number=1)
    alike = make_reason("group.words", low=1, high=2, cosine="0.81", words="x")
    known, waits = row(), make_reason("wait.paused", number=7, by="ada")
    spec = known.spec.model_copy(update={"reasons": (shared, alike)})
    ended = ExplainedStop.of("stuck_error", make_reason("stuck_error", count=3, error="E {assert} @ann"))
    data = {"status": "failed", "stop": ended.model_dump(mode="json"), "salvageRef": None}
    state = run_state([*begun(), event(3, "session_finished", **data)])
    view = view_of(known.model_copy(update={"spec": spec, "waiting_for": waits}), state)
    assert (view.reasons, view.waiting_for, view.stop) == ((shared, alike), waits, ended)
    assert [reason_text(reason, "ko") for reason in view.reasons] == [
        "이슈 2개가 같은 파일을 가리킵니다: a.py",
        "#1, #2: 표현이 비슷합니다 (0.81: x)",
    ]
    assert reason_text(waits, "ko").startswith("`ada` 님이 #7에서 일시 중지했습니다.")
    assert "해결되지 않은" in reason_text(ended.details, "ko") and "E {assert} @ann" in reason_text(ended.details, "ko")
    assert view.metadata is not None and view.metadata.details == english(ended.details)


def test_what_a_run_took_is_told_without_its_pauses() -> None:
    at = datetime(2026, 11, 1, tzinfo=UTC)
    told = [("paused", 10), ("resumed", 70), ("paused", 80), ("session_finished", 200)]
    later = [
        event(number, kind).model_copy(update={"ts": at + timedelta(seconds=second)})
        for number, (kind, second) in enumerate(told, 3)
    ]
    assert view_of(row(), run_state([*begun(), *later])).duration_ms == 20_000


def test_a_comment_that_names_minutes_says_that_a_pause_is_not_among_them() -> None:
    ended = ExplainedStop.of("max_duration", make_reason("max_duration.paused", done="10", most="10", paused="20"))
    data = {"status": "failed", "stop": ended.model_dump(mode="json"), "salvageRef": None}
    state = run_state([*begun(), event(3, "session_finished", **data)])
    assert "The time limit (10min, not counting 20min of pause) was reached" in issue_comment(view_of(row(), state))
    korean = issue_comment(view_of(row(), state), "ko")
    assert "시간 제한(10분, 일시 중지된 20분 제외)에 도달했습니다" in korean
