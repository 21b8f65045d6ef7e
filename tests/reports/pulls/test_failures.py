"""What titles count is tests: each once, by its name, whichever runner printed it and however often."""

from __future__ import annotations

import pytest

from bot.model import ValidationStep
from bot.model.pulls import CheckStatus, PullCheckReport, Verdict
from bot.reports.pulls.check_output import pull_check_output
from bot.reports.pulls.failures import grouped_failures
from bot.rules.failures.failure_origin import shown
from bot.rules.pulls.check_execution import CheckExecution
from bot.rules.pulls.check_runs import CheckRun, CheckRuns
from bot.rules.pulls.evidence import STATIC, TESTS
from tests.rules.failures.golden_logs import TREE, Golden, golden
from tests.rules.failures.read_output import annotations, printed_errors

RUNNERS = [one for one in golden() if one.failed]


def check(head: str, again: str | None = None, base: str | None = None) -> CheckStatus:
    """The check `test` of a head that failed with these logs; an empty log is a run that passed."""
    step = ValidationStep(
        command="test",
        stage="test",
        passed=False,
        exit_code=1,
        output=head,
        annotations=annotations(head, "test", TREE),
    )
    reruns = [] if again is None else [CheckRun("head", shown(not again, printed_errors(again)))] * 3
    on_base = None if base is None else CheckRun("base", shown(not base, printed_errors(base)))
    runs = CheckRuns(
        rule=TESTS,
        first=CheckRun("head", shown(False, printed_errors(head))),
        others=(*reruns, *([on_base] * 3 if on_base else [])),
        base=on_base,
        base_because="" if on_base else "base_unknown",
    )
    printed = {**(printed_errors(again) if again else {}), **printed_errors(head)}
    ran = CheckExecution(step=step, runs=runs, printed=printed)
    return CheckStatus(name="test", status="completed", step=step, failures=ran.failures)


def title(of: CheckStatus) -> str:
    view = PullCheckReport(
        run_id="r1", repo="o/r", github_url="https://github.com", number=1, head_sha="a" * 40, checks=(of,)
    )
    return pull_check_output(view, of)[1].title


def verdicts(of: CheckStatus) -> dict[str, Verdict]:
    return {one.failure.test: one.failure.verdict for one in grouped_failures(of)}


@pytest.mark.parametrize("log", RUNNERS, ids=lambda log: log.name)
def test_a_title_counts_the_failing_tests_of_every_runner(log: Golden) -> None:
    one = check(log.text, log.text, "")
    count = len(log.failed)
    assert title(one).partition(":")[0] == f"{count} new failing test{'s' if count > 1 else ''}"
    assert sorted(verdicts(one)) == list(log.failed)


def pytest_log(**said: str) -> str:
    return "".join(f"FAILED tests/test_a.py::{name} - {text}\n" for name, text in said.items())


def test_a_test_that_fails_otherwise_than_on_the_base_is_no_new_failure() -> None:
    head, base = pytest_log(test_a="assert 3 == 4", test_b="KeyError: 'x'"), pytest_log(test_a="assert 0 == 4")
    names = {"tests/test_a.py::test_a": "existing", "tests/test_a.py::test_b": "new"}
    assert verdicts(check(head, head, base)) == names


def test_a_test_that_fails_with_another_value_each_time_is_one_failure_and_not_flaky() -> None:
    one = check(pytest_log(test_a="assert 0.31 == 4"), pytest_log(test_a="assert 0.87 == 4"), "")
    assert verdicts(one) == {"tests/test_a.py::test_a": "new"}
    assert title(one) == "1 new failing test: `tests/test_a.py::test_a`"


def test_tests_of_one_name_in_two_directories_are_two() -> None:
    log = "FAILED app/test_a.py::test_a - assert 0\nFAILED lib/test_a.py::test_a - assert 0\n"
    assert title(check(log, log, "")) == "2 new failing tests"
    assert verdicts(check(log, log, log.splitlines()[0])) == {
        "app/test_a.py::test_a": "existing",
        "lib/test_a.py::test_a": "new",
    }


def test_two_tests_that_fail_at_one_line_of_a_helper_are_two() -> None:
    called = "_____ {} _____\ntests/test_a.py:{}: in {}\n    check()\n"
    part = f"{called}tests/helper.py:2: in check\n    assert 0\nE   assert 0\n"
    log = "= FAILURES =\n" + part.format("test_a", 3, "test_a") + part.format("test_b", 6, "test_b")
    assert title(check(log, log, "")) == "2 new failing tests"


def test_a_failing_test_is_told_in_its_own_words_and_stands_at_its_line() -> None:
    log = next(one for one in RUNNERS if one.name == "mocha/hooks.log").text
    told = {one.failure.test: (one.words, one.finding) for one in grouped_failures(check(log))}
    words, finding = told["chai joins"]
    assert words == "chai joins: AssertionError: expected '/base/base' to equal '/base/x'"
    assert finding is not None
    assert (finding.path, finding.start_line) == ("mocha/chai.test.mjs", 8)


def test_a_check_that_failed_with_warnings_alone_says_so() -> None:
    alone, beside = (
        next(one.text for one in golden() if one.name == f"eslint/warnings-{name}.log")
        for name in ("alone", "beside-errors")
    )

    def summary(log: str) -> str:
        step = ValidationStep(
            command="lint",
            stage="lint",
            passed=False,
            exit_code=1,
            output=log,
            annotations=annotations(log, "lint", TREE),
        )
        failed = CheckRun("head", shown(False, printed_errors(log)))
        runs = CheckRuns(rule=STATIC, first=failed, others=(failed,), base=CheckRun("base"))
        ran = CheckExecution(step=step, runs=runs, printed=printed_errors(log))
        one = CheckStatus(name="lint", status="completed", step=step, failures=ran.failures)
        view = PullCheckReport(
            run_id="r1", repo="o/r", github_url="https://github.com", number=1, head_sha="a" * 40, checks=(one,)
        )
        output = pull_check_output(view, one)[1]
        return f"{output.title}\n{output.summary}"

    assert summary(alone).startswith("1 new failure\n") and "only warnings" in summary(alone)
    assert summary(beside).startswith("2 new failures\n") and "only warnings" not in summary(beside)
