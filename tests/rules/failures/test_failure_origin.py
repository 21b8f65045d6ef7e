"""What a failed check shows, and what its failures lead to (spec H)."""

from __future__ import annotations

from typing import Any

import pytest

from bot.model import ValidationStep
from bot.model.pulls import CheckStatus, FailedOf, Failure
from bot.rules.failures.errors import fingerprints
from bot.rules.failures.failure_origin import WHOLE, fixable, shown


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
        (check("unsure", passed=True), "neutral"),
        (check("unsure", "existing", "not_reached"), "neutral"),
        (check("flaky_before", "existing", "new"), "failure"),
        (check("new", timed_out=True), "timed_out"),
        (check("existing", timed_out=True), "neutral"),
        (check(), "failure"),
        (check(timed_out=True), "timed_out"),
        (check("new", over_memory_mb=6144), "failure"),
        (check(skipped=True), "skipped"),
        (CheckStatus(name="test", status="completed", because="paused"), "skipped"),
        (check(kept="pull-1"), "success"),
        (CheckStatus(name="test", status="completed", kept_from="pull-1", because="paths"), "skipped"),
        (check("unsure", kept="pull-1"), "neutral"),
        (check("new", kept="pull-1"), "failure"),
    ],
)
def test_the_conclusion_is_as_grave_as_the_gravest_verdict(of: CheckStatus, expected: str) -> None:
    assert of.conclusion == expected


def test_only_what_is_new_is_worked_on() -> None:
    """H-2."""
    others = check("unsure", "existing", "flaky_before", "not_reached", "new_flaky")
    broken = check("unsure", "new").model_copy(update={"name": "lint"})
    assert fixable([others, broken, check(passed=True)]) == ("lint",)


def test_a_new_flaky_failure_fails_the_check_only_where_the_change_touches_the_test() -> None:
    for touched, conclusion in ((True, "failure"), (False, "neutral")):
        failure = Failure(error="e", verdict="new_flaky", touched=touched)
        of = check().model_copy(update={"failures": (failure,)})
        assert (of.conclusion, fixable([of])) == (conclusion, ("test",) if touched else ())


def test_a_broken_setup_fails_the_check_and_offers_no_fix() -> None:
    of = check().model_copy(update={"broken_setup": FailedOf(failed=9, ran=10)})
    assert (of.conclusion, fixable([of])) == ("failure", ())
