"""What one execution of the tests on the base, with only the change's test files, shows of a change (REQ-PROOF-001)."""

from __future__ import annotations

import pytest

from bot.rules.failures.errors import Printed
from bot.rules.runs.failing_tests import failing_tests, new_names, without_change
from bot.rules.tampering.weakened_tests import FileTexts
from bot.rules.test_results.suite_result import SuiteResult
from tests.rules.runs.proof_states import MISSING, step


def suite(*failed: str, passed: tuple[str, ...] = ()) -> SuiteResult:
    return SuiteResult(outcomes={**dict.fromkeys(failed, "failed"), **dict.fromkeys(passed, "passed")}, whole=True)


FAILED = step(code=1, output="1 failed")
LOST = Printed("ImportError: cannot import name 'x' from 'a'", "test_new")


def test_a_check_that_passes_or_does_not_start_shows_no_failing_test() -> None:
    for harmless in (step(), step(skipped=True), MISSING.steps[1]):
        assert failing_tests(harmless, {}, None) is None
        assert not without_change(1, harmless, {}, None, None).failed


def test_a_test_counts_if_it_fails_without_the_change_and_passes_with_it() -> None:
    errors = {"E1": Printed("assert 1 == 2", "test_new"), "E2": Printed("boom", "test_other")}
    found = without_change(1, FAILED, errors, suite("test_new", "test_other"), suite(passed=("test_new",)))
    assert (found.failed, found.tests, found.errors, found.not_loaded) == (True, ("test_new",), ("E1", "E2"), False)


def test_tests_that_no_longer_run_with_the_change_show_nothing() -> None:
    found = without_change(1, FAILED, {}, suite("test_old"), suite(passed=("test_new",)))
    assert (found.tests, found.not_loaded) == ((), True)


@pytest.mark.parametrize(
    "text",
    [
        "ImportError: cannot import name 'x' from 'a'",
        "ModuleNotFoundError: No module named 'b'",
        "Error: Cannot find module './b'",
        "SyntaxError: The requested module './a' does not provide an export named 'x'",
        "fixture 'shop' not found",
        "AttributeError: module 'a' has no attribute 'x'",
    ],
)
def test_a_test_that_cannot_be_loaded_does_not_show_the_fault(text: str) -> None:
    found = failing_tests(FAILED, {"E1": Printed(text, "test_new")}, suite("tests/test_a.py::test_new"))
    assert found is not None and (found.tests, found.not_loaded) == ((), True)
    unnamed = failing_tests(step(code=2, output=text), {"E1": Printed(text)}, None)
    assert unnamed is not None and unnamed.not_loaded


def test_a_failure_beside_one_that_cannot_be_loaded_counts() -> None:
    errors = {"E1": LOST, "E2": Printed("assert 1 == 2", "test_total")}
    found = failing_tests(FAILED, errors, suite("test_new", "test_total"))
    assert found is not None and (found.tests, found.not_loaded) == (("test_total",), False)


@pytest.mark.parametrize(
    "text",
    [
        "AttributeError: 'Calc' object has no attribute 'helper'",
        "TypeError: add() got an unexpected keyword argument 'helper'",
        "NameError: name 'helper' is not defined",
        "TypeError: calc.helper is not a function",
        "TypeError: (0 , _calc.helper) is not a function",
        "TS2339: Property 'helper' does not exist on type 'Calc'.",
        "./calc_test.go:5:2: undefined: calc.helper",
        "c.helper undefined (type Calc has no field or method helper)",
        "error[E0425]: cannot find function `helper` in module `calc`",
        "error[E0599]: no method named `helper` found for struct `Calc`",
        "NoMethodError: undefined method `helper?' for an instance of Calc",
        "Error: Call to undefined method App\\\\Calc::helper()",
        "  symbol:   method helper()",
    ],
)
def test_a_test_that_misses_what_only_the_change_brings_could_not_be_loaded(text: str) -> None:
    errors = {"E1": Printed(text, "test_new")}
    found = failing_tests(FAILED, errors, suite("test_new"), new={"helper"})
    assert found is not None and (found.tests, found.not_loaded) == ((), True)
    fault = failing_tests(FAILED, errors, suite("test_new"), new={"other"})
    assert fault is not None and (fault.tests, fault.not_loaded) == (("test_new",), False)


def test_new_names_are_those_that_no_changed_file_had_before() -> None:
    files = [FileTexts("a.py", "old = 1\n", "old = 1\nnew = moved\n"), FileTexts("b.py", "moved = 2\n", None)]
    assert new_names(files) == {"new"}
