"""A failure is new, flaky, or the base's own, told by which runs show it (spec H)."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.model import ValidationStep
from bot.model.pulls import CheckStatus, Failure
from bot.rules.failures.errors import fingerprints
from bot.rules.failures.failure_origin import WHOLE, fixable, judge_failures, shown

ERRORS = st.lists(st.sampled_from(["a", "b", "c", "d"]), unique=True, max_size=4)
FAILED = ERRORS.map(lambda errors: errors or [WHOLE])
AGAIN = st.none() | st.just([]) | FAILED


def told(first: Any, again: Any, base: Any) -> dict[str, str]:
    return {failure.error: failure.verdict for failure in judge_failures(first, again, base)}


@pytest.mark.parametrize(
    ("first", "again", "base", "verdicts"),
    [
        (["a", "b"], ["a", "b"], ["b"], {"a": "new", "b": "also_on_base"}),
        (["a", "b"], ["b"], [], {"a": "flaky", "b": "new"}),
        (["a"], ["a", "c"], ["c"], {"a": "new", "c": "flaky"}),
        (["a"], [], ["a"], {"a": "flaky"}),
        (["a"], None, None, {"a": "new"}),
        (["a"], None, ["a"], {"a": "also_on_base"}),
        (["a"], ["a"], None, {"a": "new"}),
        ([WHOLE], [], None, {WHOLE: "flaky"}),
        ([WHOLE], [WHOLE], [WHOLE], {WHOLE: "also_on_base"}),
        ([WHOLE], [WHOLE], ["a"], {WHOLE: "new"}),
        ([WHOLE], None, [], {WHOLE: "new"}),
        ([], None, [], {WHOLE: "new"}),
        ([], [], [], {WHOLE: "flaky"}),
    ],
)
def test_what_the_three_runs_show_decides(first: Any, again: Any, base: Any, verdicts: dict[str, str]) -> None:
    """H-2."""
    assert told(first, again, base) == verdicts


@pytest.mark.parametrize(
    ("base", "verdict"),
    [(None, "new"), ([], "new"), (["a"], "new"), ([WHOLE], "new"), (["a", "b", "c"], "also_on_base")],
)
def test_a_check_that_failed_twice_in_different_ways_is_not_excused_as_flaky(base: Any, verdict: str) -> None:
    assert told(["a"], ["b"], base) == {"a": "flaky", "b": "flaky", WHOLE: verdict}
    assert told([WHOLE], ["b"], base)[WHOLE] == ("also_on_base" if base and "b" in base else "new")


@given(FAILED, AGAIN, st.none() | st.just([]) | FAILED)
def test_each_error_gets_one_verdict_and_nothing_of_the_base_alone_appears(first: Any, again: Any, base: Any) -> None:
    failures = judge_failures(first, again, base)
    named = [failure.error for failure in failures]
    seen = {*first, *(again or ())} - {WHOLE}
    assert len(named) == len(set(named)) > 0
    assert set(named) - {WHOLE} == seen


@given(FAILED, AGAIN, st.none() | st.just([]) | FAILED)
def test_flaky_beats_the_base_and_the_base_beats_new(first: Any, again: Any, base: Any) -> None:
    for failure in judge_failures(first, again, base):
        if failure.error != WHOLE:
            flaky = again is not None and (failure.error in first) != (failure.error in again)
            excused = base is not None and failure.error in base
            assert failure.verdict == ("flaky" if flaky else "also_on_base" if excused else "new")


@given(FAILED, AGAIN, st.none() | st.just([]) | FAILED)
def test_only_a_rerun_that_passed_makes_all_of_it_flaky(first: Any, again: Any, base: Any) -> None:
    failures = judge_failures(first, again, base)
    assert all(failure.verdict == "flaky" for failure in failures) == (again == [])


def test_a_failed_run_that_prints_nothing_is_not_taken_for_one_that_passed() -> None:
    assert shown(True, fingerprints("error: left over")) == ()
    assert shown(False, ()) == (WHOLE,)
    assert shown(False, fingerprints("src/a.py:3:1: E501 Line too long")) == ("<PATH>/a.py:<POS>: E501 Line too long",)


def check(*verdicts: Any, passed: bool = False, kept: str = "", status: Any = "completed", **step: Any) -> CheckStatus:
    ran = ValidationStep(command="pytest", stage="test", passed=passed, **step)
    failures = tuple(Failure(error=f"e{at}", verdict=verdict) for at, verdict in enumerate(verdicts))
    return CheckStatus(name="test", status=status, step=None if kept else ran, failures=failures, kept_from=kept)


@pytest.mark.parametrize(
    ("of", "expected"),
    [
        (check(passed=True), "success"),
        (check(passed=True, flaky=True), "neutral"),
        (check("flaky", passed=True), "neutral"),
        (check("flaky", "also_on_base"), "neutral"),
        (check("flaky", "also_on_base", "new"), "failure"),
        (check("new", timed_out=True), "timed_out"),
        (check("also_on_base", timed_out=True), "neutral"),
        (check(), "failure"),
        (check(timed_out=True), "timed_out"),
        (check("new", over_memory_mb=6144), "failure"),
        (check(skipped=True), "skipped"),
        (CheckStatus(name="test", status="completed", because="paused"), "skipped"),
        (check(kept="pull-1"), "success"),
        (CheckStatus(name="test", status="completed", kept_from="pull-1", because="paths"), "skipped"),
        (check("flaky", kept="pull-1"), "neutral"),
        (check("new", kept="pull-1"), "failure"),
    ],
)
def test_the_conclusion_is_as_grave_as_the_gravest_verdict(of: CheckStatus, expected: str) -> None:
    assert of.conclusion == expected


def test_only_what_is_new_is_worked_on() -> None:
    """H-2."""
    flaky, broken = check("flaky", "also_on_base"), check("flaky", "new").model_copy(update={"name": "lint"})
    assert fixable([flaky, broken, check(passed=True)]) == ("lint",)
