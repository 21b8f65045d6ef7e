"""Failed tests are read from untrusted logs of any length, in time that grows with their length alone."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.rules.failures.log_lines import log_lines
from bot.rules.test_runners.failed_tests import failed_tests
from tests.machine import CPU_S
from tests.rules.failures.read_output import printed_errors

LOGS = Path(__file__).parents[3] / "fixtures" / "logs"
HEADS = [
    "FAILED " + "a::" * 600 + " [",
    "FAILED tests/test_{}.py::test_a[x] - no",
    "_____ test_{} _____\nE   assert 0",
    "FAIL: test_{} (a.A.test_{})\n" + "-" * 70 + "\nAssertionError: no",
    "  ● a {}\n\n    no",
    "FAIL a{}.test.js\n  ● a\n",
    " FAIL  a.test.ts > a {}",
    "  ✘ [fail]: a {}",
    "✖ failing tests:\n✖ a {}",
    "# Subtest: a {}\nnot ok 1 - a {}\n  ---\n",
    "    not ok 1 - a › {}",
    "--- FAIL: TestA/{} (0.00s)",
    "=== RUN   TestA/{}\n    a_test.go:3: no\n--- FAIL: TestA/{} (0.00s)\nFAIL\tpkg{}\t0.1s",
    "---- a::t{} stdout ----",
    "     Running tests/a{}.rs (target)\ntest a::t{} ... FAILED",
    "  2 failing\n\n  1) a {}\n       b:\n     no",
    "Failures:\n  1) a {}\n     no",
    "  1) Failure:\nA#test_{} [a.rb:1]:\nno",
]


@pytest.mark.parametrize("head", HEADS)
def test_a_hostile_log_takes_no_more_time_than_a_long_one(head: str) -> None:
    text = "\n".join(head.replace("{}", str(number)) for number in range(min(20_000, 10_000_000 // len(head))))
    lines = log_lines(text)
    before = time.process_time()
    failed_tests(lines)
    assert time.process_time() - before < CPU_S


@given(st.text(alphabet="FAILED tes_:-[]()● ✖×›=\n0123.py", max_size=400))
def test_any_log_is_read(log: str) -> None:
    found = failed_tests(log_lines(log))
    assert len({test.name for test in found.tests}) == len(found.tests)
    assert all(test.name for test in found.tests)


def test_a_junit_report_that_was_printed_names_the_failed_tests() -> None:
    report = (LOGS / "mocha" / "xunit.xml").read_text()
    names = [printed.test for printed in printed_errors(f"> mocha -R xunit\n\n{report}").values()]
    assert names == [f"calc › {name}" for name in ("adds", "boom", "parses", "objects", "later", "throws")]
    assert printed_errors(report[: len(report) // 2]).keys() != set(names)
