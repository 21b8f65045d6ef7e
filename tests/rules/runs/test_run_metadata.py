"""A run's end can be checked by a program that knows nothing of the run but its metadata and the rules of that."""

from __future__ import annotations

import json
from dataclasses import replace
from hashlib import sha256
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.model import Phase, Status
from bot.model.proof import ProofLevel
from bot.model.reasons import ExplainedStop
from bot.reports.locale.reasons import english
from bot.rules.reasons import make_reason, quoted
from bot.rules.runs.run_metadata import attempts, run_metadata
from bot.rules.runs.state import RunState
from tests.rules.runs.metadata_checker import faults
from tests.rules.runs.played_run import Story, event, spec
from tests.rules.runs.run_events import begun, changed, checked, decided, told

STOP = ExplainedStop.of("max_iterations", quoted("Reached maximum iterations (3/3)"))


def ended(story: Story, status: Status = Status.FAILED, stop: ExplainedStop | None = STOP) -> RunState:
    data = {"status": status, "stop": stop.model_dump() if stop else None}
    story.write([event("session_finished", "session_finished", **data)])
    return story.state


def issued(story: Story, status: Status = Status.FAILED, stop: ExplainedStop | None = STOP) -> dict[str, Any]:
    details = english(stop.details) if stop else ""
    return run_metadata("run-1", spec(max_attempts=3), ended(story, status, stop), details).as_json()


def digest(error: str) -> str:
    return sha256(error.encode()).hexdigest()[:12]


def test_a_failed_run_asks_for_a_person_and_tells_what_each_attempt_did_to_the_errors() -> None:
    metadata = issued(told(("t1", "p1", ("E2", "E3")), ("t2", "p2", ("E3",)), base=("E1", "E2")))
    assert {key: metadata[key] for key in ("version", "run", "repo", "issues", "decision", "reason", "details")} == {
        "version": 1,
        "run": "run-1",
        "repo": "octo/pocket",
        "issues": [7, 9],
        "decision": "needs-human",
        "reason": "max_iterations",
        "details": "Reached maximum iterations (3/3)",
    }
    assert (metadata["base"], metadata["commit"], metadata["best_attempt"]) == ("b" * 40, None, 2)
    first, second = metadata["attempts"]
    assert first == {
        "attempt": 1,
        "agent": "x",
        "patch": "p1",
        "before": sorted([digest("E1"), digest("E2")]),
        "before_count": 2,
        "after": sorted([digest("E2"), digest("E3")]),
        "after_count": 2,
        "fixed": 1,
        "remaining": 1,
        "introduced": 1,
        "result": "failed",
        "flaky": False,
        "durationMs": 0,
    }
    assert (second["fixed"], second["remaining"], second["introduced"]) == (1, 1, 0)


@pytest.mark.parametrize(
    ("status", "stop", "expected"),
    [
        (Status.SUCCESS, None, ("fixed", "passed", "")),
        (Status.CANCELLED, ExplainedStop.of("cancelled", quoted("by ann")), ("cancelled", "cancelled", "by ann")),
        (Status.FAILED, ExplainedStop.of("push_rejected", quoted("no")), ("needs-human", "push_rejected", "no")),
    ],
)
def test_each_end_has_its_decision(status: Status, stop: ExplainedStop | None, expected: tuple[str, ...]) -> None:
    story = told(("t1", "p1", ()))
    decided(story, 1)
    metadata = issued(story, status, stop)
    assert (metadata["decision"], metadata["reason"], metadata["details"]) == expected
    assert metadata["attempts"][0]["result"] == "passed" and metadata["attempts"][0]["after"] == []
    assert faults(metadata) == []


@pytest.mark.parametrize(
    ("level", "decision"), [("proven", "fixed"), ("covered", "unproven"), ("unproven", "unproven")]
)
def test_only_a_proven_change_is_a_fix(level: ProofLevel, decision: str) -> None:
    """REQ-PROOF-001."""
    story = told(("t1", "p1", ()))
    decided(story, 1, level, "mutants")
    metadata = issued(story, Status.SUCCESS, None)
    assert (metadata["decision"], metadata["shown"]) == (decision, level == "proven")
    assert (metadata["proof"]["level"], metadata["proof"]["because"]) == (level, "mutants")
    assert faults(metadata) == []
    without = issued(told(("t1", "p1", ("E2",))))
    assert {"shown", "proof"}.isdisjoint(without), "no change has passed"


def test_an_attempt_without_a_change_and_one_cut_short_are_told_as_such() -> None:
    story = begun("E1")
    phase = Phase.IMPLEMENTATION
    story.write(
        [
            event("attempt:1", "attempt_started", phase, 1),
            event("implementation_done:1", "phase_failed", phase, 1, reason="bad_patch", message="does not apply"),
        ]
    )
    changed(story, 2, "t2", "p2")
    metadata = issued(story, Status.CANCELLED, ExplainedStop.of("cancelled", quoted("")))
    assert [(one["result"], one["patch"], one["after"]) for one in metadata["attempts"]] == [
        ("not_applied", None, None),
        ("not_checked", "p2", None),
    ]
    assert faults(metadata) == []


def test_what_a_flaky_pass_leaves_stays_open() -> None:
    story = begun("E1")
    changed(story, 1, "t1")
    data = {"command": "c", "stage": "test", "passed": True, "flaky": True, "exit_code": 0}
    for index in range(3):
        story.write([event(f"f{index}", "validation_command_completed", Phase.VALIDATION, 1, step=data)])
    metadata = issued(story, Status.SUCCESS, None)
    assert metadata["attempts"][0]["flaky"] and metadata["attempts"][0]["after"] == [digest("E1")]
    assert faults(metadata) == []


def test_where_the_base_was_not_checked_nothing_is_compared_with() -> None:
    story = Story()
    story.write([event("session_started", "session_started")])
    listed = [stage.model_dump(mode="json") for stage in begun("E1").state.stages]
    begin = {
        "baseSha": "b" * 40,
        "branch": "fix",
        "sandbox": make_reason("sandbox.none"),
        "snapshot": "s0",
        "stages": listed,
    }
    story.write([event("planning", "phase_started", Phase.PLANNING, **begin)])
    changed(story, 1, "t1")
    checked(story, 1, "E1")
    metadata = issued(story)
    assert metadata["attempts"][0]["before"] is None and metadata["attempts"][0]["remaining"] == 1
    assert faults(metadata) == []


def test_no_word_of_a_log_is_in_it_and_it_stays_small() -> None:
    """However many attempts and errors there were, beyond the limits they are counted."""
    secret = "E assert password == hunter2"
    tries: Any = tuple((f"t{at}", f"p{at}", (*(f"E{at} {n}" for n in range(150)), secret)) for at in range(1, 61))
    metadata = issued(told(*tries, base=(secret,)))
    text = json.dumps(metadata)
    assert "hunter2" not in text and len(text) < 40_000
    assert (len(metadata["attempts"]), metadata["attempts_left_out"]) == (50, 10)
    assert metadata["attempts"][0]["attempt"] == 11
    assert metadata["attempts"][-1]["after_count"] == 151 and len(metadata["attempts"][-1]["after"]) == 10
    assert faults(metadata) == []
    few = issued(told(*tries[:2], base=(secret,)))
    assert len(few["attempts"][-1]["after"]) == 50


def test_long_details_are_cut() -> None:
    metadata = issued(told(), stop=ExplainedStop.of("setup_failed", quoted("x" * 9_000)))
    assert len(metadata["details"]) == 500 and metadata["details"].endswith("…")


def test_a_run_that_goes_on_has_none() -> None:
    with pytest.raises(ValueError, match="not over"):
        run_metadata("run-1", spec(), told().state)


def test_a_session_in_a_tree_names_neither_repository_nor_its_path() -> None:
    order = spec(repo=None, workspace="/srv/shop", issues=())
    metadata = run_metadata("run-1", order, ended(told(("t1", "p1", ("E1",))))).as_json()
    assert metadata["repo"] is None and metadata["issues"] == [] and "/srv" not in json.dumps(metadata)


def test_metadata_that_was_tampered_with_is_found_out() -> None:
    good = issued(told(("t1", "p1", ("E2",)), ("t2", "p2", ("E3",))))
    assert faults(good) == []
    first = good["attempts"][0]
    for broken in (
        {**good, "decision": "fixed"},
        {**good, "attempts": [{**first, "fixed": 2}, good["attempts"][1]]},
        {**good, "attempts": [{**first, "after": [digest("E9")]}, good["attempts"][1]]},
        {**good, "attempts": [good["attempts"][1]]},
        {**good, "attempts": [{**first, "result": "passed"}, good["attempts"][1]]},
    ):
        assert faults(broken), broken


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.tuples(st.sets(st.sampled_from("ABCDEF"), max_size=4), st.integers(0, 2)), max_size=8),
    st.sets(st.sampled_from("ABC"), max_size=3),
)
def test_all_run_metadata_keeps_its_rules(outcomes: list[tuple[set[str], int]], base: set[str]) -> None:
    """Whatever stages fail with whatever errors, hidden ones too. G-4."""
    story = begun(*sorted(base))
    for number, (errors, stage) in enumerate(outcomes, 1):
        changed(story, number, f"t{number}")
        checked(story, number, *sorted(errors), stage=max(stage, 1))
    state = ended(story)
    metadata = run_metadata("run-1", spec(), state).as_json()
    assert faults(metadata) == []
    fixed = replace(state, finished=Status.SUCCESS, stop=None)
    assert (faults(run_metadata("run-1", spec(), fixed).as_json()) == []) == (not outcomes or not outcomes[-1][0])
    last = attempts(state)[-1].error_delta if outcomes else None
    seen = state.verdict
    assert last is None or seen is None or (last.fixed, last.remaining) == (seen.fixed, seen.remaining)
