"""Whether one output is better than another (REQ-STOP-002), and what became of fingerprints (REQ-STOP-006)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.rules.stop.output_progress import made_progress

PROGRESS = [
    ("error: first\nerror: second", "error: first"),
    ("error: 2 tests failed", "error: 1 test failed"),
    ("9 failed, 3 passed in 0.31s", "5 failed, 7 passed in 0.30s"),
    ("Found 12 errors in 3 files", "Found 3 errors in 3 files"),
    ("FAILED (failures=3)", "FAILED (failures=2)"),
    ("Tests:       2 failed, 3 total", "Tests:       0 failed, 3 total"),
    ("Running tests...", "Running tests... ✓ All tests passed"),
    ("Error in file.ts", "Fixed error in file.ts"),
    ("Feature broken", "Feature is now working"),
    ("3 passed", "4 passed"),
    ("error", "success"),
    ("Running", "Done: 0 failed"),
    ("Step 1: Analyzing code", "Step 2: Applying fixes"),
    ("", "something"),
    ("✗ a\n✗ b", "✗ a\n✓ b"),
]
NO_PROGRESS = [
    ("same", "same"),
    ("", ""),
    ("Some output", ""),
    ("Some output", "  \n"),
    ("error: first", "error: first\nerror: second"),
    ("5 failed", "9 failed"),
    ("1 test failed", "2 tests failed"),
    ("error: 1 test failed", "error: 2 tests failed"),
    ("Found 3 errors", "Found 4 errors"),
    ("Build started", "Build started... ✗ Build failed"),
    ("Errors: 1", "Errors: 2"),
    ("Server up", "Server crashed"),
    ("5 failed, 100 passed", "6 failed, 200 passed"),
]


@pytest.mark.parametrize(("previous", "current"), PROGRESS)
def test_better_is_progress(previous: str, current: str) -> None:
    """REQ-STOP-002."""
    assert made_progress(previous, current) is True


@pytest.mark.parametrize(("previous", "current"), NO_PROGRESS)
def test_the_same_or_worse_is_no_progress(previous: str, current: str) -> None:
    """REQ-STOP-002."""
    assert made_progress(previous, current) is False


def test_line_numbers_are_no_counts() -> None:
    assert made_progress("src/a.js\n  2:10  error  'x' is unused", "src/a.js\n  9:99  error  'x' is unused") is True


def test_length_alone_says_nothing() -> None:
    assert made_progress("error: a\n" + "x\n" * 1000, "error: a\nx\n") is True
    assert made_progress("error: a\nx\n", "error: a\n" + "x\n" * 1000) is True


@given(st.integers(0, 999_999), st.integers(0, 999_999))
def test_counts_written_in_the_text_decide(before: int, now: int) -> None:
    """REQ-STOP-002."""
    if before != now:
        assert made_progress(f"{before} failed", f"{now} failed") is (now < before)


@given(st.text())
def test_nothing_is_better_than_itself(text: str) -> None:
    assert made_progress(text, text) is False


@given(st.text(), st.text())
def test_any_two_texts_get_an_answer(previous: str, current: str) -> None:
    assert made_progress(previous, current) in (True, False)
