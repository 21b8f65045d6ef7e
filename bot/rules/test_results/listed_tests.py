"""Reads the lists in which a runner names its tests for programs: the listener's lines, and JUnit XML.
Both are written by untrusted code; what can't be read names nothing, and never ends the check."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import cast

from bot.rules.failures.junit import JunitCase
from bot.rules.test_results.suite_result import CaseOutcome, SuiteResult, by_id

_OUTCOMES = frozenset({"passed", "failed", "skipped"})


def read_listener(text: str) -> SuiteResult:
    """The tests of the pytest listener's file; without names where it is empty or broken."""
    return by_id(_lines(text))


def _lines(text: str) -> Iterator[tuple[str, CaseOutcome]]:
    for found in _values(text):
        match found:
            case [str(name), str(outcome)] if outcome in _OUTCOMES:
                yield name, cast(CaseOutcome, outcome)
            case _:
                continue


def _values(text: str) -> Iterator[object]:
    for line in text.splitlines():
        try:
            yield json.loads(line)
        except (ValueError, RecursionError):
            continue  # a line that was cut when its process ended


def read_selected(text: str) -> int | None:
    """The number of tests that the pytest listener selected, the largest of several processes; None if it did not."""
    found = [line["selected"] for line in _values(text) if isinstance(line, dict) and "selected" in line]
    return max((number for number in found if isinstance(number, int)), default=None)


def junit_tests(cases: Iterable[JunitCase]) -> SuiteResult:
    """The tests of a JUnit report, as `FILE::CLASS::NAME` as far as it names them."""
    return by_id(("::".join(filter(None, (case.file, _class(case), case.name))), case.outcome) for case in cases)


def _class(case: JunitCase) -> str:
    """node's own reporter gives every test the class `test`, which distinguishes nothing."""
    return "" if case.classname == "test" else case.classname
