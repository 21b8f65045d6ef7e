"""The outcomes of selected tests, from what a runner lists and what its log shows."""

from __future__ import annotations

import pytest

from bot.model import SuiteCounts
from bot.rules.test_results.selected_tests import selected_outcomes
from bot.rules.test_results.suite_result import CaseOutcome, SuiteResult


@pytest.mark.parametrize(
    ("tests", "listed", "failed", "expected"),
    [
        (["a"], {"a": "passed", "b": "failed"}, [], {"a": "passed"}),
        (["a", "b"], {"a": "passed"}, [], {"a": "passed"}),  # one that did not run has no outcome
        (["a"], {"a": "skipped"}, [], {"a": "skipped"}),
        (["a"], {"a": "passed"}, ["a"], {"a": "failed"}),  # the worst counts
        (["x.js › sums › adds"], {"adds": "passed"}, [], {"x.js › sums › adds": "passed"}),
        (["adds"], {}, ["x.js › sums › adds"], {"adds": "failed"}),
        (["adds"], {"subadds": "passed"}, [], {}),
        (["m.C.test_a"], {"test_a (m.C.test_a)": "passed"}, [], {"m.C.test_a": "passed"}),
        (["example.com/m.TestA"], {"TestA": "passed"}, [], {"example.com/m.TestA": "passed"}),
        (["t/test_a.py"], {"t/test_a.py::test_x": "passed", "t/test_a.py::y": "failed"}, [], {"t/test_a.py": "failed"}),
        (["t/test_a.py"], {"t/test_a.py": "failed"}, [], {"t/test_a.py": "failed"}),
        (["t/test_a.py"], {"t/test_ab.py::test_x": "passed"}, [], {}),
    ],
)
def test_outcomes_by_name(
    tests: list[str], listed: dict[str, CaseOutcome], failed: list[str], expected: dict[str, CaseOutcome]
) -> None:
    assert selected_outcomes(tests, SuiteResult(outcomes=listed), failed) == expected


@pytest.mark.parametrize(
    ("counts", "failed", "expected"),
    [
        (SuiteCounts(passed=2), [], {"a": "passed", "b": "passed"}),
        (SuiteCounts(passed=1, failed=1), ["a"], {"a": "failed", "b": "passed"}),
        (SuiteCounts(passed=1, failed=1), [], {}),  # which one failed is not known
        (SuiteCounts(passed=1), [], {}),
        (SuiteCounts(passed=3), [], {}),  # others ran too
        (SuiteCounts(passed=2, skipped=1), [], {}),
        (SuiteCounts(), [], {}),
    ],
)
def test_where_no_test_is_named_the_figures_decide(
    counts: SuiteCounts, failed: list[str], expected: dict[str, CaseOutcome]
) -> None:
    assert selected_outcomes(["a", "b"], SuiteResult(counts=counts), failed) == expected


def test_a_run_that_reports_nothing_has_no_outcomes() -> None:
    assert selected_outcomes(["a"], None, []) == {}
