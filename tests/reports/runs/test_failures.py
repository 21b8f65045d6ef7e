"""Failures as people and agents read them: the error first, then its lines, then the others by name."""

from __future__ import annotations

from bot.agent.protocol import build_prompt
from bot.model import AgentTask, Annotation, ShownFailure, Validation, ValidationStep
from bot.reports.format.truncate import cut_around
from bot.reports.runs.check_output import check_output
from bot.reports.runs.event_lines import event_line
from bot.reports.runs.failures import describe_failures, headline
from bot.reports.runs.outcome import what_failed
from tests.reports.views_runs import ONE
from tests.run_events import run_event

BLOCK = "____ test_y ____\nE   AssertionError: assert 3 == 4"
FIRST = ShownFailure(
    name="tests/test_x.py::test_y",
    message="AssertionError: assert 3 == 4",
    path="tests/test_x.py",
    line=12,
    block=BLOCK,
)
SECOND = ShownFailure(name="calc › adds", message="not equal", expected="4", received="3", path="calc.js", line=2)
HEAD = "tests/test_x.py::test_y — AssertionError: assert 3 == 4 (tests/test_x.py:12)"
STEP = ValidationStep(
    command="pytest",
    stage="test",
    passed=False,
    exit_code=1,
    output="collected 900 items\n" * 200 + "900 warnings",
    classification="test",
    failures=(FIRST, SECOND),
    failure_count=30,
)
FAILED = Validation(passed=False, summary="", steps=(STEP,))


def test_a_headline_is_test_error_and_place() -> None:
    assert headline(FIRST) == HEAD
    assert headline(SECOND) == "calc › adds — not equal: expected 4, received 3 (calc.js:2)"
    assert headline(SECOND, "ko") == "calc › adds — not equal: 기대한 값 4, 실제 값 3 (calc.js:2)"
    assert headline(ShownFailure(path="a.py")) == "a.py"
    assert headline(ShownFailure(name="no-undef", message="'x' is not defined", path="a.js", line=3)) == (
        "no-undef — 'x' is not defined (a.js:3)"
    )


def test_the_first_failure_is_told_in_full_and_the_others_by_name() -> None:
    told = describe_failures((FIRST, SECOND), 30)
    assert told.startswith(f"{HEAD}\n\n{BLOCK}\n\nAlso failed:\n- calc › adds — not equal")
    assert told.endswith("- and 28 more")
    assert describe_failures((), 0) == ""


def test_the_brief_of_an_agent_has_the_failure_and_not_the_head_of_the_log() -> None:
    task = AgentTask(run_id="r", attempt=1, max_attempts=3, task="t", baseline=FAILED)
    brief = build_prompt(task)
    assert HEAD in brief and "    E   AssertionError: assert 3 == 4" in brief and "calc › adds" in brief
    assert "collected 900 items" not in brief


def test_what_failed_lists_the_other_failures() -> None:
    view = ONE.model_copy(update={"validations": (FAILED,), "evidence": BLOCK})
    told = what_failed(view, "en")
    assert BLOCK in told
    assert "Also failed:\n\n- `calc › adds — not equal: expected 4, received 3 (calc.js:2)`\n- and 28 more" in told
    assert "함께 실패한 항목:" in what_failed(view, "ko")


def test_the_text_of_a_check_run_begins_with_the_failure() -> None:
    _, output = check_output(ONE.model_copy(update={"validations": (FAILED,)}), "test")
    assert output.text.startswith(f"```text\n{HEAD}\n\n{BLOCK}")
    assert "collected 900 items" in output.text


def test_the_line_of_a_check_that_failed_says_the_error() -> None:
    event = run_event("validation_command_failed", "validation", 1, classification="test", step=STEP, attempt=1)
    assert (event_line(event) or "").endswith(f"classified `test`: {HEAD}")


def test_a_cut_keeps_what_must_not_be_lost() -> None:
    text = "head\n" + "a\n" * 5_000 + f"{BLOCK}\n" + "b\n" * 5_000 + "tail"
    cut = cut_around(text, BLOCK, 1_000)
    assert len(cut) <= 1_000
    assert cut.startswith("head") and cut.endswith("tail") and BLOCK in cut
    assert cut_around("short", "short", 1_000) == "short"
    huge = cut_around(text, "x" * 9_000, 1_000)
    assert len(huge) <= 1_000 and huge.endswith("tail")


def test_a_cut_annotation_says_so_in_the_readers_language() -> None:
    long = Annotation(path="a.py", start_line=1, end_line=1, level="failure", message="x" * 9000)
    step = STEP.model_copy(update={"annotations": (long,)})
    view = ONE.model_copy(update={"validations": (Validation(passed=False, summary="", steps=(step,)),)})
    for language, word in (("en", "cut"), ("ko", "생략")):
        (shown,) = check_output(view, "test", language)[1].annotations  # type: ignore[arg-type]
        assert word in shown.message
