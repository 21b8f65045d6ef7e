"""Why a check failed, in both languages: the failure, the others, and how the command ended."""

from __future__ import annotations

import pytest

from bot.model import CheckResult, CouldNotRun, Language, RunChecksResult, ShownFailure
from bot.model.reasons import make_reason
from bot.reports.runs.check_error import check_error
from bot.reports.terminal.checks import problem_line, result_lines

FIRST = ShownFailure(name="test_a.py::test_a", message="assert 1 == 2", path="test_a.py", line=2, block="E  1 == 2")
OTHER = ShownFailure(name="test_a.py::test_b", message="boom")
FAILED = CheckResult(
    check="test", passed=False, command="pytest", exit_code=1, error="other", failures=(FIRST, OTHER), failure_count=2
)
LOOKED = (make_reason("looked_for.file", path="go.mod"),)
NO_COMMAND = make_reason("check.no_command", check="lint", looked=LOOKED)


@pytest.mark.parametrize(
    ("language", "also", "ended"),
    [("en", "Also failed", "`pytest` exited with 1"), ("ko", "함께 실패한 항목", "`pytest`: 종료 코드 1")],
)
def test_a_failure_comes_with_the_others_and_the_end_of_the_command(language: Language, also: str, ended: str) -> None:
    head = "test_a.py::test_a — assert 1 == 2 (test_a.py:2)"
    others = f"{also}:\n- test_a.py::test_b — boom"
    assert check_error(FAILED, language) == f"{head}\n\nE  1 == 2\n\n{others}\n\n{ended}"


@pytest.mark.parametrize(
    ("change", "english", "korean"),
    [
        ({"timed_out": True}, "timed out", "시간 초과"),
        ({"exit_code": None}, "did not run to its end", "끝까지 실행되지 않음"),
        (
            {"could_not_run": CouldNotRun(hindrance="not_found", what="pytest")},
            "could not run: `pytest` was not found",
            "실행하지 못함: `pytest` 명령을 찾을 수 없음",
        ),
    ],
)
def test_a_command_that_did_not_end_names_why(change: dict[str, object], english: str, korean: str) -> None:
    result = FAILED.model_copy(update={"failures": (), **change})
    assert check_error(result, "en") == f"`pytest` {english}"
    assert check_error(result, "ko") == f"`pytest`: {korean}"


def test_a_terminal_shows_no_english_to_a_reader_of_korean() -> None:
    lines = result_lines(RunChecksResult(passed=False, results=(FAILED,)), "ko")
    assert lines[-1] == "E  1 == 2\n\n함께 실패한 항목:\n- test_a.py::test_b — boom\n\n`pytest`: 종료 코드 1"


def test_a_check_without_a_command_names_what_was_looked_for() -> None:
    result = CheckResult(check="lint", passed=False, error="no command …", no_command=NO_COMMAND)
    whole = RunChecksResult(passed=False, results=(result,), error=result.error)
    assert problem_line(whole, "ko") == "`lint` 체크의 명령이 없습니다. 찾아본 것: go.mod 파일"
    assert result_lines(whole, "ko")[-1] == problem_line(whole, "ko")
    assert "no_command" not in whole.model_dump_json()
    assert problem_line(RunChecksResult(passed=False, error="wrong path"), "ko") == "wrong path"


def test_a_long_error_is_cut() -> None:
    long = FAILED.model_copy(update={"failures": (FIRST.model_copy(update={"block": "x" * 9_000}),)})
    assert len(check_error(long, "en")) <= 5_100
