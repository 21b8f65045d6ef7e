"""The failures that a log shows: name, message, place and lines, from what real tools printed."""

from __future__ import annotations

import pytest

from bot.rules.shown_failures import first_error_block, shown_failures
from tests.rules.golden_logs import TREE, Golden, golden

LOGS = tuple(one for one in golden() if one.suffix == ".log")
RUNNERS = tuple(one for one in LOGS if one.failed)


@pytest.mark.parametrize("one", RUNNERS, ids=lambda one: one.name)
def test_every_failed_test_is_shown_by_its_name(one: Golden) -> None:
    shown = shown_failures(one.text, TREE)
    assert sorted(failure.name for failure in shown) == list(one.failed)
    assert shown[0].block
    assert all(len(failure.block) <= 3_000 and failure.block.count("\n") < 40 for failure in shown)


def test_places_of_failed_tests_are_those_that_the_log_names() -> None:
    placed = [(one, failure) for one in RUNNERS for failure in shown_failures(one.text, TREE) if failure.line]
    right = [failure for one, failure in placed if (failure.path, failure.line) in one.places]
    assert len(placed) >= 0.9 * sum(len(one.failed) for one in RUNNERS)
    assert len(right) >= 0.98 * len(placed)


def test_a_failure_between_thousands_of_lines_is_found_with_its_values() -> None:
    """The output that a step keeps has lost it; the log has not."""
    before = "".join(f"PASS src/a{number}.test.js\n" for number in range(4_000))
    after = "".join(f"npm warn deprecated left-pad@{number}: no longer maintained\n" for number in range(4_000))
    jest = next(one.text for one in LOGS if one.name == "jest/default.log")
    (first, *_) = shown_failures(before + jest + after, TREE)
    assert (first.name, first.path, first.line) == ("jest.test.js › calc › adds", "jest.test.js", 5)
    assert (first.expected, first.received) == ("4", "0")
    assert "expect(received).toBe(expected)" in first.block


def test_frames_of_frameworks_are_left_out_of_the_lines() -> None:
    spec = next(one.text for one in LOGS if one.name == "node-test/spec.log")
    assert "calc.js:3:9" in shown_failures(spec, TREE)[1].block
    assert all("node:internal" not in failure.block for failure in shown_failures(spec, TREE))


def test_a_log_of_no_known_tool_shows_its_error_and_its_end() -> None:
    log = "start\n\nfatal: it went wrong\n\n" + "work\n" * 200 + "bye\n"
    (only,) = shown_failures(log)
    assert only.message == "fatal: it went wrong"
    assert only.block.startswith("fatal: it went wrong") and only.block.endswith("bye")
    assert shown_failures("") == () and first_error_block("") == ""
