"""An output is parsed once into all that is kept of it."""

from __future__ import annotations

import pytest

from bot.model import SuiteCounts
from bot.rules.parsed_output import parse_output, warnings_if
from tests.reports.views_steps import PYTEST_LOG

GOFMT = "cmd/main.go\ncmd/main.go\npkg/a.go\nsee the manual\n"
RUFF = "a.py:1:8: F401 unused import\na.py:2:1: W291 warning: trailing white space\n"


def test_a_failed_check_gives_places_errors_failures_and_tests() -> None:
    found = parse_output(PYTEST_LOG, "test")
    assert [(one.path, one.start_line) for one in found.annotations] == [("tests/test_cart.py", 12)]
    (error,) = found.errors
    assert error.startswith("FAILED tests/test_cart.py::test_total_of_none")
    assert found.failures[0].name == "tests/test_cart.py::test_total_of_none"
    assert "assert None == 0" in found.first_error_block
    assert found.tests.counts == SuiteCounts(passed=11, failed=1)


def test_a_passed_check_has_no_errors_and_only_a_linter_warns() -> None:
    lint = parse_output(RUFF, "lint", passed=True)
    assert not lint.errors and not lint.failures
    assert all(one.level != "failure" for one in lint.annotations)
    assert parse_output("a.py:2:1: warning: odd\n", "lint", passed=True).annotations
    assert not parse_output("a.py:2:1: warning: odd\n", "test", passed=True).annotations


def test_of_a_report_only_the_warnings_of_a_passed_linter_stay() -> None:
    notes = parse_output("a.py:2:1: warning: odd\na.py:3:1: error: bad\n", "lint").annotations
    assert [note.level for note in warnings_if(True, "lint", notes)] == ["warning"]
    assert warnings_if(True, "test", notes) == ()
    assert warnings_if(False, "test", notes) == notes


def test_files_alone_on_a_line_are_listed_once() -> None:
    assert parse_output(GOFMT, "lint").listed_files == ("cmd/main.go", "pkg/a.go")


def test_the_limit_that_ended_a_command_is_an_error_but_no_failure_of_the_tool() -> None:
    found = parse_output("collecting\n", "test", note="`pytest` timed out after 5 s")
    assert any("timed out" in error for error in found.errors)
    assert not any("timed out" in failure.message for failure in found.failures)


@pytest.mark.parametrize(
    ("output", "counts"),
    [
        ("  2 failed\n  5 passed (3.1s)\n", SuiteCounts(passed=5, failed=2)),
        ("test result: ok. 3 passed; 0 failed; 1 ignored;\n" * 2, SuiteCounts(passed=6, skipped=2)),
        ("all good\n", SuiteCounts()),
    ],
)
def test_the_runners_own_figures_are_kept(output: str, counts: SuiteCounts) -> None:
    assert parse_output(output, "test").tests.counts == counts
