"""The end of a session as `mendbot fix` says it: nothing is claimed that the checks have not shown."""

from __future__ import annotations

from typing import Any, get_args

import pytest

from bot.model import ChangedFile, Language, Proof, SessionSummary, Status, Validation, ValidationStep
from bot.model.reasons import ExplainedStop
from bot.reports.locale.reasons import english
from bot.reports.runs.proof import proof_line
from bot.reports.terminal.session import session_lines
from bot.rules.reasons import make_reason
from tests.reports.views_proof import COVERED, STYLE_ONLY, TEST_PASSES, UNPROVEN
from tests.reports.views_steps import counted

HOME = "/srv/home/artifacts/session-1"


def validation(*steps: ValidationStep) -> Validation:
    return Validation(passed=all(step.passed for step in steps), summary="", steps=steps)


def step(stage: str, passed: bool = True, **more: Any) -> ValidationStep:
    return ValidationStep(stage=stage, command=f"run {stage}", passed=passed, exit_code=int(not passed), **more)


def summary(**more: Any) -> SessionSummary:
    made: dict[str, Any] = {"status": Status.SUCCESS, "attempt": 2, "most": 3, "proof": TEST_PASSES, "directory": HOME}
    return SessionSummary(**{**made, **more})


def test_a_fix_is_told_with_its_files_and_its_checks() -> None:
    before = validation(
        step("lint"), step("test", passed=False, output="2 failed, 1 passed", test_counts=counted("2 failed, 1 passed"))
    )
    after = validation(step("lint"), step("typecheck", skipped=True), step("test", flaky=True), step("custom"))
    files = (ChangedFile(path="a.py", added=1, removed=2), ChangedFile(path="b\n.py", added=0, removed=0))
    told = session_lines(summary(before=before, after=after, changed=files, diff=f"{HOME}/change.diff"), "en")
    assert told == (
        "fixed in attempt 2 of 3: the checks pass",
        "proof: proven. tests/test_cart.py::test_total_of_none failed before the change and passes with it. "
        "The checks were red before the change.",
        "changed, not committed: a.py (+1 -2), b .py (+0 -0)",
        "before: lint passed, test 2 failed",
        "after: lint passed, typecheck skipped, test flaky: passed on a re-run, `run custom` passed",
        f"diff: {HOME}/change.diff",
        f"logs: {HOME}",
    )


@pytest.mark.parametrize("language", get_args(Language))
@pytest.mark.parametrize("proof", [COVERED, UNPROVEN, STYLE_ONLY])
def test_what_is_not_proven_is_never_called_fixed(proof: Proof, language: Language) -> None:
    told = session_lines(summary(proof=proof), language)
    assert "fixed" not in "\n".join(told) and "수정했습니다" not in "\n".join(told)
    assert {"en": "the change is not proven", "ko": "증명되지 않았습니다"}[language] in told[0]
    assert told[1] == proof_line(proof, language)


def test_a_failure_names_its_reason_and_what_is_kept_in_the_readers_language() -> None:
    stop = ExplainedStop.of("no_checks", make_reason("no_checks", looked="lint: package.json"))
    failed = summary(status=Status.FAILED, proof=None, stop=stop, best_attempt=1, best_diff=f"{HOME}/attempt-1.diff")
    told = session_lines(failed, "en")
    assert told[0] == "not fixed in 2 of 3 attempts; the tree is as it was"
    assert told[1] == f"stopped by no_checks: {english(stop.details)}"
    assert told[-2:] == (f"attempt 1 came further: {HOME}/attempt-1.diff", f"logs: {HOME}")
    korean = session_lines(failed, "ko")
    assert korean[1].startswith("중단 사유 no_checks: ") and english(stop.details) not in korean[1]


def test_a_change_that_was_refused_after_its_checks_has_not_passed() -> None:
    after = Validation(passed=False, summary="", steps=(step("lint"), step("test")))
    only = make_reason("tests.only", names="tests/test_cart.py")
    told = session_lines(summary(status=Status.FAILED, proof=None, after=after, refused=only), "en")
    assert told[2:4] == (
        "after: lint passed, test passed, but the change was refused",
        f"the last change was refused: {english(only)}",
    )


def test_many_files_are_counted() -> None:
    files = tuple(ChangedFile(path=f"{number}.py", added=1, removed=0) for number in range(25))
    (line,) = [
        line for line in session_lines(summary(changed=files), "en") if line.startswith("changed, not committed: ")
    ]
    assert line.endswith("19.py (+1 -0), 5 more")


@pytest.mark.parametrize("status", [Status.FAILED, Status.CANCELLED])
def test_before_the_first_attempt_there_is_nothing_to_say_of_one(status: Status) -> None:
    told = session_lines(summary(status=status, proof=None, attempt=0), "en")
    assert told[0] in ("not fixed; the tree is as it was", "cancelled; the tree is as it was")
    assert told[1:] == ("before: the checks did not run", f"logs: {HOME}")
