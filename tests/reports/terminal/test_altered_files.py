"""How it is told that a check changed files, and that one could not run."""

from __future__ import annotations

from typing import Any, get_args

import pytest

from bot.model import CheckResult, CouldNotRun, Language, ValidationStep
from bot.model.checks import Hindrance
from bot.reports.runs.validation import hindrance, how_it_ended, restored_note, verdict
from bot.reports.terminal.altered_files import altered_lines


def step(**more: Any) -> ValidationStep:
    return ValidationStep(command="pytest -q", stage="test", **{"passed": True, "exit_code": 0, **more})


def test_five_files_are_named_and_the_others_counted() -> None:
    paths = tuple(f"src/{number}.py" for number in range(20))
    told = restored_note(step(restored=paths, restored_count=43), "en")
    assert (
        told.startswith("The check `test` changed `src/0.py`, `src/1.py`,") and "`src/4.py` and 38 more while" in told
    )
    assert "`src/4.py`, 외 38개 파일을" in restored_note(step(restored=paths, restored_count=43), "ko")
    assert restored_note(step(), "en") == ""


@pytest.mark.parametrize("language", get_args(Language))
@pytest.mark.parametrize("kind", get_args(Hindrance))
def test_each_hindrance_is_told_with_its_name(kind: Hindrance, language: Language) -> None:
    unable = CouldNotRun(hindrance=kind, what="pytest")
    assert kind == "not_set_up" or "pytest" in hindrance(unable, language)
    failed = step(passed=False, exit_code=127, could_not_run=unable)
    assert hindrance(unable, language) in how_it_ended(failed, language)
    assert verdict(failed, language) == {"en": "could not run", "ko": "실행하지 못함"}[language]
    # a fix may go on without it, and still nothing is claimed of it
    assert verdict(step(tolerated=True, could_not_run=unable), language) == verdict(failed, language)


def test_a_terminal_is_told_what_was_restored_and_where_the_rest_is() -> None:
    result = CheckResult(
        check="lint", passed=True, restored=("a.py",), restored_count=1, not_restored=("big.bin",), found_in="/tmp/x"
    )
    assert altered_lines(result, "en") == (
        "  lint changed a.py, which Mendbot restored",
        "  what it wrote is in /tmp/x: copy back what you need, then delete that directory",
        "  lint changed big.bin, too large to be restored: compare with your last commit",
    )
    many = CheckResult(check="lint", passed=True, restored=tuple("abcdefgh"), restored_count=30)
    assert altered_lines(many, "en") == ("  lint changed a, b, c, d, e and 25 more, which Mendbot restored",)
    assert altered_lines(CheckResult(check="lint", passed=True), "en") == ()
