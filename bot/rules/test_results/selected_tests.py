"""Finds the outcomes of the tests that were selected, in what a runner reports of them.

A runner may print the same test under another name than before: its title alone, or the path of all titles."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from bot.rules.test_results.suite_result import CaseOutcome, SuiteResult
from bot.rules.test_runners.names import is_file, titles

_WORST: Mapping[CaseOutcome, int] = {"skipped": 0, "passed": 1, "failed": 2}
_BOUNDARIES = " ./:"


def selected_outcomes(tests: Sequence[str], suite: SuiteResult | None, failed: Sequence[str]) -> dict[str, CaseOutcome]:
    """The outcomes of these tests, of those that ran; a test without an outcome here did not run, or is not named.

    `suite` is what the runner lists, `failed` the names of the failed tests that its log shows. Where a runner names no
    test that passed, its figures decide: as many tests ran as were selected, and none was skipped."""
    listed: dict[str, CaseOutcome] = dict(suite.outcomes) if suite is not None else {}
    shown: dict[str, CaseOutcome] = dict.fromkeys(failed, "failed")
    keys = {**{name: _key(name) for name in listed}, **{name: _key(name) for name in shown}}
    found: dict[str, CaseOutcome] = {}
    for test in tests:
        own = [listed[test]] if test in listed else []
        own += ["failed"] if test in shown else []
        if not own:
            same = [name for name, key in keys.items() if _is_same(test, _key(test), name, key)]
            own = [each[name] for name in same for each in (listed, shown) if name in each]
        if own:
            found[test] = max(own, key=lambda outcome: _WORST[outcome])
    counts = suite.counts if suite is not None else None
    if counts is not None and not counts.skipped and counts.ran == len(set(tests)):
        silent = [test for test in tests if test not in found]
        if counts.failed == sum(found[test] == "failed" for test in found):
            found.update(dict.fromkeys(silent, "passed"))
    return found


def _key(name: str) -> str:
    """The titles of a test, without its file."""
    return " ".join(titles(name).titles)


def _is_same(test: str, key: str, name: str, other: str) -> bool:
    if is_file(test) and "::" not in test:  # a file that could not be read as tests: each of its tests stands for it
        return name.startswith(f"{test}::")
    short, long = sorted((key, other), key=len)
    return long.endswith(short) and (len(long) == len(short) or long[-len(short) - 1] in _BOUNDARIES)
