"""Recorded traces: what real tools printed after each attempt, and what a person would decide there (REQ-STOP-006).

How they were made stands in `fixtures/traces/README.md`."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from bot.rules.failures import errors
from bot.rules.stop import LoopState, StopConditions, should_stop
from bot.rules.stop.output_progress import made_progress
from bot.rules.stop.trajectory import TrajectoryState, judge_attempt
from bot.rules.tampering.weakened_tests import FileTexts, weakened
from tests.rules.failures.read_output import annotations

FOLDER = Path(__file__).parents[3] / "fixtures" / "traces"
TRACES = {path.stem: json.loads(path.read_text()) for path in sorted(FOLDER.glob("*.json"))}
START = datetime(2026, 1, 1, tzinfo=UTC)


def state_of(step: dict[str, Any]) -> TrajectoryState:
    return TrajectoryState(
        snapshot=step["snapshot"],
        stage=step["stage"],
        fingerprints=frozenset() if step["passed"] else frozenset(errors.fingerprints(step["output"])),
        patch_hash=step["patch"],
        passed=step["passed"],
        flaky=step["flaky"],
        timed_out=step["timed_out"],
        places=0 if step["passed"] else len(annotations(step["output"], "check", "/tmp/shop")),
    )


def stopped_by_limits(attempts: int, no_progress: int, threshold: int) -> str | None:
    conditions = StopConditions(max_iterations=20, no_progress_threshold=threshold)
    found = should_stop(LoopState(attempts, START, no_progress), conditions, now=START)
    return found.reason if found else None


def test_there_are_enough_of_them() -> None:
    """Issue 3: at least 20 recorded traces, each decision with its because."""
    assert len(TRACES) >= 20
    assert all(step["because"] for trace in TRACES.values() for step in trace["steps"])


@pytest.mark.parametrize("name", TRACES)
def test_each_step_is_decided_as_a_person_would(name: str) -> None:
    """REQ-STOP-006, REQ-STOP-001: progress, the best state and the reason to stop, after the base and each attempt."""
    trace = TRACES[name]
    states: list[TrajectoryState] = []
    no_progress = 0
    for index, step in enumerate(trace["steps"]):
        states.append(state_of(step))
        words = index > 0 and made_progress(trace["steps"][index - 1]["output"], step["output"])
        verdict, expected = judge_attempt(states, words), step["expect"]
        no_progress = 0 if verdict.progressed or step["passed"] else no_progress + 1
        stop = verdict.stop.reason if verdict.stop else None
        if stop is None and not step["passed"]:
            stop = stopped_by_limits(index, no_progress, trace["no_progress_threshold"])
        decided = {"moved": verdict.progressed, "stop": stop, "best": verdict.best}
        assert decided == {key: expected[key] for key in decided}, (index, step["because"], verdict)
        if "fixed" in expected:
            assert bool(verdict.fixed) is expected["fixed"], (index, step["because"], verdict)


@pytest.mark.parametrize("name", TRACES)
def test_only_attempts_that_weaken_checks_are_refused(name: str) -> None:
    """REQ-STOP-006: weakened tests are refused with the reason named, and honest attempts are not."""
    for step in TRACES[name]["steps"]:
        found = weakened([FileTexts(**file) for file in step["files"]])
        assert [one.kind for one in found if one.severity == "refuse"] == step["expect"]["refused"], step["because"]


def test_a_trace_ends_where_it_is_decided() -> None:
    """Nothing is recorded past a reason to stop or the first honest green."""
    for trace in TRACES.values():
        for step in trace["steps"][1:-1]:
            assert step["expect"]["stop"] is None
            assert not step["passed"] or step["expect"]["refused"]
