"""A validation's stages come in order, the first failure ends it, and what has no command is said to be skipped."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.model import Command, ValidationStep
from bot.rules.pipeline import Stage, close, next_index, skipped_step

STAGES = tuple(Stage(name=name, command=Command(run=name, timeout_s=1)) for name in ("lint", "typecheck", "test"))


def step(stage: str = "test", passed: bool = True, **more: object) -> ValidationStep:
    return ValidationStep.model_validate({"command": stage, "stage": stage, "passed": passed, "exitCode": 0, **more})


@given(st.lists(st.booleans(), max_size=3))
def test_stages_run_in_order_until_one_fails_or_none_is_left(verdicts: list[bool]) -> None:
    steps: list[ValidationStep] = []
    asked = []
    while (index := next_index(STAGES, steps)) is not None:
        asked.append(index)
        steps.append(step(STAGES[index].name, passed=verdicts[index] if index < len(verdicts) else True))
    first_failure = next((at for at, verdict in enumerate(verdicts) if not verdict), 2)
    assert asked == list(range(first_failure + 1))
    assert close(steps).passed == all(verdicts)


def test_nothing_to_run_is_over_at_once() -> None:
    assert next_index((), ()) is None


def test_a_skipped_stage_lets_the_next_one_run_and_says_what_was_looked_for() -> None:
    skipped = skipped_step(Stage(name="lint", looked_for=("ruff", "eslint")))
    assert skipped.passed and skipped.skipped
    assert "ruff, eslint" in skipped.output
    assert next_index(STAGES, [skipped]) == 1


def test_the_first_failure_gives_the_whole_its_class() -> None:
    closed = close([step("lint"), step("typecheck", False, classification="type", exitCode=2)])
    assert (closed.passed, closed.classification, closed.summary) == (False, "type", "typecheck failed: exit 2")


def test_a_success_names_what_ran_and_not_what_was_skipped() -> None:
    closed = close([skipped_step(Stage(name="lint")), step("test")])
    assert (closed.passed, closed.summary, closed.classification) == (True, "passed: test", None)
    assert close([skipped_step(Stage(name="lint"))]).summary == "passed: nothing to run"


@pytest.mark.parametrize(
    ("how", "said"),
    [
        ({"timedOut": True, "exitCode": None}, "test failed: timed out"),
        ({"exitCode": None}, "test failed: did not start"),
        ({"exitCode": -9}, "test failed: exit -9"),
    ],
)
def test_a_summary_says_how_the_command_ended(how: dict[str, object], said: str) -> None:
    assert close([step("test", False, **how)]).summary == said
