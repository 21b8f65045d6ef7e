"""Reads the lists in which a runner names its tests for programs: the listener's lines, and JUnit XML.
Both are written by untrusted code; what can't be read says nothing, and never ends the check."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import cast

from bot.rules.failures.annotations import Unreadable
from bot.rules.failures.junit import read_junit
from bot.rules.test_results.suite_result import CaseOutcome, SuiteResult, by_id

__all__ = ["read_junit_tests", "read_listener"]

_OUTCOMES = frozenset({"passed", "failed", "skipped"})


def read_listener(text: str) -> SuiteResult:
    """The tests of the pytest listener's file; without names where it is empty or broken."""
    return by_id(_lines(text))


def _lines(text: str) -> Iterator[tuple[str, CaseOutcome]]:
    for line in text.splitlines():
        try:
            found = json.loads(line)
        except (ValueError, RecursionError):
            continue  # a line that was cut when its process ended
        match found:
            case [str(name), str(outcome)] if outcome in _OUTCOMES:
                yield name, cast(CaseOutcome, outcome)
            case _:
                continue


def read_junit_tests(text: str) -> SuiteResult:
    """The tests of a JUnit report, as `FILE::CLASS::NAME` as far as it tells; without names where it is none."""
    reader = _Cases()
    if isinstance(read_junit(text, reader), Unreadable):
        return SuiteResult()
    return by_id(reader.found)


class _Cases:
    """Collects every case that the parser comes by, with its outcome."""

    def __init__(self) -> None:
        self.found: list[tuple[str, CaseOutcome]] = []
        self._name = ""
        self._outcome: CaseOutcome = "passed"

    def start(self, name: str, values: dict[str, str]) -> None:
        if name == "testcase":
            around = [values.get("file", ""), _class(values.get("classname", ""))]
            self._name = "::".join(part for part in (*around, values.get("name", "")) if part)
            self._outcome = "passed"
        elif name in ("failure", "error"):
            self._outcome = "failed"
        elif name == "skipped" and self._outcome == "passed":
            self._outcome = "skipped"

    def end(self, name: str) -> None:
        if name == "testcase":
            self.found.append((self._name, self._outcome))

    def data(self, text: str) -> None:
        return


def _class(name: str) -> str:
    """node's own reporter gives every test the class `test`, which says nothing."""
    return "" if name == "test" else name
