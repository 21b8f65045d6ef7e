"""Which tests ran before a change and after it, and what follows for the change; what runners print and write."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.model import SuiteCounts
from bot.reports.locale.reasons import english
from bot.rules.failures.junit import Unreadable, read_junit
from bot.rules.tampering.weakened_tests import FileTexts
from bot.rules.test_results.comparison import Judgement, brought_along, judge_tests
from bot.rules.test_results.listed_tests import junit_tests, read_listener
from bot.rules.test_results.suite_result import SuiteResult, by_id
from tests.rules.failures.read_output import ran_tests

LOGS = Path(__file__).parents[3] / "fixtures" / "logs"
A, B, C = "tests/test_a.py::test_one", "tests/test_a.py::test_two[1-2]", "tests/test_a.py::Test::test_three"


def ran(passed: tuple[str, ...] = (), failed: tuple[str, ...] = (), skipped: tuple[str, ...] = ()) -> SuiteResult:
    named = {"passed": passed, "failed": failed, "skipped": skipped}
    return by_id((name, outcome) for outcome, names in named.items() for name in names)  # type: ignore[misc]


def judged(
    before: SuiteResult | None, after: SuiteResult | None, *files: FileTexts, red: bool = True, tolerated: bool = False
) -> Judgement:
    return judge_tests(before, after, files, red=red, tolerated=lambda _: tolerated)


def kind(found: Judgement) -> str:
    return found.refused.kind if found.refused else "accepted" if found.compared else "unnamed"


@pytest.mark.parametrize(
    ("after", "expected"),
    [
        (ran((A, B, C)), "accepted"),
        (ran((A, B, C, "tests/test_a.py::test_new")), "accepted"),
        (ran((B, C)), "tests.not_run"),
        (ran((B, C), skipped=(A,)), "tests.not_run"),
        (ran((B, C), failed=(A,)), "tests.not_run"),
        (ran((A, C)), "tests.gone"),
        (ran((A,)), "tests.gone"),
        (ran((A, C), skipped=(B,)), "tests.gone"),
        (ran((A, C, "tests/test_a.py::test_two[9]")), "accepted"),
        (SuiteResult(), "tests.not_run"),
        (None, "tests.not_run"),
        (SuiteResult(counts=SuiteCounts(passed=3)), "unnamed"),
        (SuiteResult(counts=SuiteCounts(passed=2)), "tests.fewer"),
        (SuiteResult(counts=SuiteCounts(passed=2, skipped=1)), "tests.fewer"),
    ],
)
def test_what_failed_must_have_passed_and_what_ran_must_run(after: SuiteResult | None, expected: str) -> None:
    """REQ-STOP-006: a test that no longer runs is no fix."""
    assert kind(judged(ran((B, C), failed=(A,)), after)) == expected


UNITTEST_RED = "FAIL: test_add (tests.test_calc.CalcTest)\nRan 2 tests in 0.001s\n\nFAILED (failures=1)\n"


@pytest.mark.parametrize(
    ("after", "expected"),
    [
        ("Ran 2 tests in 0.001s\n\nOK\n", "unnamed"),
        ("Ran 0 tests in 0.000s\n\nOK\n", "tests.fewer"),
        ("", "tests.fewer"),
    ],
)
def test_a_runner_that_counted_its_tests_and_counts_none_now_has_run_none(after: str, expected: str) -> None:
    """REQ-STOP-006: `python -m unittest` exits with success where a change took its tests from it."""
    assert kind(judged(ran_tests(UNITTEST_RED), ran_tests(after))) == expected


@pytest.mark.parametrize(
    ("line", "ran"),
    [("Tests: 1 failed", None), ("Tests: 1 failed, 1 total", 1), ("Tests  1 failed | 2 passed (3)", 3)],
)
def test_a_sum_of_failures_alone_does_not_say_how_many_tests_ran(line: str, ran: int | None) -> None:
    found = ran_tests(f"  ✕ adds\n{line}\n")
    assert (found.counts.ran if found and found.counts else None) == ran


def test_the_sentence_names_the_tests_and_few_of_many() -> None:
    many = tuple(f"tests/test_a.py::test_{number}" for number in range(9))
    found = judged(ran(many[1:], failed=many[:1]), ran(many[:1]))
    assert found.refused is not None
    assert english(found.refused).startswith(
        "8 tests that passed before did not run afterwards: tests/test_a.py::test_1, "
    )
    assert english(found.refused).endswith(", … (+3); keep them")


def test_without_names_before_nothing_is_compared() -> None:
    for before in (None, SuiteResult(), SuiteResult(outcomes={A: "failed"})):
        assert kind(judged(before, SuiteResult())) == "unnamed"


def test_a_file_that_could_not_be_collected_must_have_a_test_that_passed() -> None:
    before = ran(failed=("tests/test_a.py",))
    assert kind(judged(before, ran((A,)))) == "accepted"
    assert kind(judged(before, ran(("tests/test_b.py::test_x",)))) == "tests.not_run"


def test_of_what_a_pull_request_is_not_blamed_for_it_is_enough_that_it_ran() -> None:
    before = ran((C,), failed=(A, B))
    assert kind(judged(before, ran((A, C), failed=(B,)), tolerated=True)) == "accepted"
    assert kind(judged(before, ran((A, C)), tolerated=True)) == "tests.not_run"


TEXT = (
    "def test_one():\n    assert f(1) == 2\n    assert f(2) == 3\n\n\n"
    "class Test:\n    def test_three(self):\n        f()\n"
)


def test_a_test_renamed_or_moved_as_a_whole_is_the_same() -> None:
    before, path, code = ran((C,), failed=(A,)), "tests/test_a.py", FileTexts("a.py", "x", "y")
    renamed = FileTexts(path, TEXT, TEXT.replace("test_one", "test_two_more"))
    assert kind(judged(before, ran((C, f"{path}::test_two_more")), renamed, code)) == "accepted"
    assert kind(judged(before, ran((C,)), renamed, code)) == "tests.not_run"
    emptied = FileTexts(path, TEXT, TEXT.replace("test_one", "test_x").replace("    assert f(2) == 3\n", ""))
    assert kind(judged(before, ran((C, f"{path}::test_x")), emptied, code)) == "tests.not_run"
    moved = (FileTexts(path, TEXT, None), FileTexts("tests/b/test_b.py", None, TEXT))
    there = ran(("tests/b/test_b.py::test_one", "tests/b/test_b.py::Test::test_three"))
    assert kind(judged(before, there, *moved, code)) == "accepted"
    assert kind(judged(before, ran(("tests/b/test_b.py::test_one",)), *moved, code)) == "tests.gone"


def test_a_change_of_nothing_but_the_tests_that_failed_is_refused() -> None:
    before, after, path = ran((C,), failed=(A,)), ran((A, C)), "tests/test_a.py"
    test, code = FileTexts(path, TEXT, TEXT.replace("== 2", "== 1")), FileTexts("a.py", "x", "y")
    assert kind(judged(before, after, test)) == "tests.only"
    assert kind(judged(None, None, test)) == "tests.only"
    assert kind(judged(before, after, test, code)) == "accepted"
    assert kind(judged(before, after, test, red=False)) == "accepted"
    other = FileTexts("tests/test_b.py", "def test_x():\n    assert g()\n", "def test_x():\n    assert h()\n")
    assert kind(judged(before, after, other)) == "accepted"
    assert kind(judged(before, after, FileTexts("tests/conftest.py", "x = 1\n", "x = 2\n"))) == "accepted"
    assert kind(judged(before, after, test, FileTexts("tests/test_new.py", None, TEXT))) == "tests.only"


def test_unit_tests_in_a_file_of_rust_are_told_from_its_code() -> None:
    code, tests = (
        "fn add() { a - b }\n",
        "\n#[cfg(test)]\nmod tests {\n    #[test]\n    fn adds() {\n        assert_eq!(add(), 5);\n",
    )
    before, after = ran(("tests::x",), failed=("tests::adds",)), ran(("tests::x", "tests::adds"))
    turned = FileTexts("src/lib.rs", code + tests, code + tests.replace("5", "4"))
    assert kind(judged(before, after, turned)) == "tests.only"
    fixed = FileTexts("src/lib.rs", code + tests, code.replace("-", "+") + tests)
    assert kind(judged(before, after, fixed)) == "accepted"
    assert kind(judged(before, after, turned, FileTexts("src/a.rs", "x", "y"))) == "accepted"


def test_who_added_a_test_may_take_it_away() -> None:
    added = FileTexts("tests/test_a.py", TEXT.replace("test_one", "test_old"), TEXT)
    assert brought_along(ran((C,), failed=(A,)), [added]).outcomes == {C: "passed"}


@pytest.mark.parametrize(
    ("log", "passed", "failed", "whole"),
    [
        ("pytest/verbose.log", 1, 15, True),
        ("pytest/run-short.log", 1, 15, False),
        ("jest/default.log", 1, 9, True),
        ("vitest/default.log", 1, 9, True),
        ("vitest/verbose.log", 1, 9, True),
        ("mocha/spec.log", 1, 6, True),
        ("mocha/dot.log", 1, 6, False),
        ("mocha/tap.log", 1, 6, True),
        ("node-test/spec.log", 1, 6, True),
        ("node-test/tap.log", 1, 6, True),
        ("cargo/test.log", 1, 6, True),
        ("unittest/default.log", 0, 7, True),
        ("ava/default.log", 0, 4, True),
    ],
)
def test_what_runners_print_is_counted_and_named(log: str, passed: int, failed: int, whole: bool) -> None:
    found = ran_tests((LOGS / log).read_text())
    assert found is not None and found.counts is not None
    assert (found.counts.passed, found.counts.failed, found.whole) == (passed, failed, whole)


def test_go_names_what_passed_only_if_it_is_verbose() -> None:
    verbose, short = (ran_tests((LOGS / "go" / name).read_text()) for name in ("test-verbose.log", "test.log"))
    assert verbose is not None and verbose.whole and verbose.outcomes["TestFine"] == "passed"
    assert short is not None and not short.whole and "TestTable/case#01" in short.named("failed")


@pytest.mark.parametrize("log", ["go/build.log", "cargo/clippy.log", "jest/suite-fails.log", "node-test/dot.log"])
def test_what_names_no_test_says_nothing(log: str) -> None:
    assert ran_tests((LOGS / log).read_text()) is None


def test_ticks_of_other_tools_are_no_list_of_tests() -> None:
    found = ran_tests("✓ built in 3s\n✓ 34 modules transformed.\n✔ adds (1ms)\nℹ pass 1\nℹ fail 0\n")
    assert found is not None and not found.whole and found.counts == SuiteCounts(passed=1)


def test_a_junit_report_names_every_case() -> None:
    for name in ("pytest/junit-xunit1.xml", "pytest/junit-xunit2.xml", "mocha/xunit.xml"):
        cases = read_junit((LOGS / name).read_text())
        assert not isinstance(cases, Unreadable)
        found = junit_tests(cases)
        assert len(found.named("failed")) == (6 if "mocha" in name else 15) and len(found.named("passed")) == 1
    assert isinstance(read_junit("<!DOCTYPE a><testsuites/>"), Unreadable)


def test_the_listener_is_read_line_by_line_and_the_worst_counts() -> None:
    text = f'["{A}", "passed"]\n["{A}", "failed"]\nbroken\n[1, 2]\n["{B}", "skipped"]\n["{C}", "odd"]\n["cut", "pas'
    assert read_listener(text).outcomes == {A: "failed", B: "skipped"}


def test_names_are_bounded_and_so_is_what_an_event_tells() -> None:
    long = read_listener("\n".join(f'["{"x" * 1000}{number}", "failed"]' for number in range(200)))
    assert len(long.outcomes) == 200 and max(map(len, long.outcomes)) < 320
    assert len(long.summary("").failing) == 50
    many = by_id((f"test {number}", "passed") for number in range(20_001))
    assert len(many.outcomes) == 20_000 and not many.whole


@given(
    st.lists(
        st.sampled_from(
            [
                "ok 1 - a",
                "1..2",
                "# tests 1",
                "    ok 1",
                "✔ a (1ms)",
                "  1) b",
                "▶ s",
                "ℹ pass 1",
                "test a ... ok",
                "--- FAIL: T (0.1s)",
                "Ran 3 tests in 1s",
                "FAILED (failures=1)",
                "3 passed in 1s",
                "x",
            ]
        )
    )
)
def test_any_log_gets_an_answer(lines: list[str]) -> None:
    found = ran_tests("\n".join(lines))
    assert found is None or found.says_something
