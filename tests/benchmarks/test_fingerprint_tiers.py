"""The benchmark of the look-up counts what each step finds, and what of that is another error."""

from __future__ import annotations

from pathlib import Path

from benchmarks.error_messages import Corpus, Message, golden_messages
from benchmarks.failing_tests import failing_test_errors
from benchmarks.fingerprint_tiers import look_up


def _messages(*rows: tuple[str, str]) -> tuple[Message, ...]:
    return tuple(Message("tool", truth, text) for truth, text in rows)


def test_each_step_counts_what_it_finds_and_what_of_that_is_another_error() -> None:
    earlier = _messages(("unused", "unused import alpha is not needed"), ("few", "no value for 'x' in the list"))
    later = _messages(
        ("unused", "unused import alpha is not needed"),
        ("unused", "unused import beta is not needed"),
        ("other", "no value for 'y' in the list"),
        ("few", "something else altogether"),
    )
    figures = look_up([Corpus("tool", earlier, later)], reference=False)
    assert (figures.known, figures.unknown) == (3, 1)
    assert dict(figures.found) == {"same": 1, "template": 1, "similar": 1}
    assert figures.wrong["similar"] == figures.wrong.total() == 1


def test_the_recorded_logs_have_messages_of_many_tools() -> None:
    corpora = list(golden_messages())
    assert len({corpus.tool for corpus in corpora}) > 30


def test_the_same_tests_fail_in_both_runs_with_other_values(tmp_path: Path) -> None:
    for runner, first, second in failing_test_errors(tmp_path):
        assert {test for test, _ in first} == {test for test, _ in second}, runner
        assert first != second, runner
