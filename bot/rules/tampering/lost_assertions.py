"""Compares the tests and assertions before a change with those after it: which are gone, which stand elsewhere, and
which have become rows of a table."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence

from bot.rules.tampering.readings import Case, ChangedTests, Reading

_LITERAL = re.compile(r"\"([^\"]*)\"|(?<![\w.])(\d+(?:\.\d+)?|True|False|None|true|false|null|nil)\b")
_CALLED = re.compile(r"([A-Za-z_$]\w*)!?\(")
_API = re.compile(
    r"(?i)^(?:\w*assert\w*|\w*expect\w*|to[A-Z_]\w*|to|is|isEqualTo|equal|\w*[eE]quals?|should|be|eq|raises)$"
)
_WORD = re.compile(r"[\w.]+")


def unpaired(files: Sequence[ChangedTests]) -> tuple[dict[str, list[Case]], list[Case]]:
    """(cases whose name is nowhere any more, by path; cases whose name is new), counting equal names."""
    left = Counter(case.name for file in files for case in file.after.cases)
    left.subtract(case.name for file in files for case in file.before.cases)
    gone: dict[str, list[Case]] = {}
    come: list[Case] = []
    for file in files:
        here = Counter(case.name for case in file.after.cases)
        for case in file.before.cases:
            here[case.name] -= 1
            if here[case.name] < 0 and left[case.name] < 0:
                left[case.name] += 1
                gone.setdefault(file.path, []).append(case)
        known = {case.name for case in file.before.cases}
        come += [case for case in file.after.cases if case.name not in known and left[case.name] > 0]
    return gone, come


def lost(files: Sequence[ChangedTests], only_cases: bool = False) -> Counter[str]:
    """The assertions that stand nowhere any more or less often; in cases, or anywhere."""
    before = Counter(line for file in files for line in _assertions(file.before, only_cases))
    before.subtract(line for file in files for line in _assertions(file.after, only_cases))
    return +before


def _assertions(reading: Reading, only_cases: bool) -> list[str]:
    in_cases = [line for case in reading.cases for line in case.assertions]
    return in_cases if only_cases else [*in_cases, *reading.loose]


def lives_on(case: Case, missing: Counter[str], come: Sequence[Case]) -> bool:
    """Whether the case's assertions all stand elsewhere, or a new case is this one under another name."""
    if case.assertions and not any(line in missing for line in case.assertions):
        return True
    wanted = Counter(case.assertions or case.lines)
    for other in come:
        same = wanted & Counter(other.assertions if case.assertions else other.lines)
        enough = len(other.assertions) >= len(case.assertions)
        if (case.lines, case.assertions) == (other.lines, other.assertions):
            return True
        if enough and wanted and 2 * same.total() >= wanted.total():
            return True
    return False


def namesake(case: Case, cases: Sequence[Case]) -> Case | None:
    """The case of the same name, in the same groups where there are several."""
    same = [other for other in cases if other.name == case.name]
    return next((other for other in same if other.groups == case.groups), same[0] if same else None)


class NewRows:
    """The rows that a change adds to tables. An assertion has become a row where the row has its literals, and a test
    with an assertion calls what it called. Each row stands for one assertion."""

    def __init__(self, files: Sequence[ChangedTests]) -> None:
        rows = Counter(row for file in files for row in file.after.rows)
        rows.subtract(row for file in files for row in file.before.rows)
        self._rows = [Counter(_WORD.findall(row)) for row in (+rows).elements()]

    def take(self, assertions: Iterable[str], cases: Sequence[Case]) -> int:
        """How many of the assertions have become rows of these cases."""
        if not self._rows:
            return 0
        called = [_called(case.assertions) for case in cases if case.assertions]
        return sum(self._take(line) for line in assertions if any(_called([line]) <= names for names in called))

    def _take(self, assertion: str) -> bool:
        literals = Counter(word for pair in _LITERAL.findall(assertion) for word in _WORD.findall(pair[0] or pair[1]))
        row = next((row for row in self._rows if literals and not literals - row), None)
        if row is not None:
            self._rows.remove(row)
        return row is not None


def _called(assertions: Iterable[str]) -> set[str]:
    return {name for line in assertions for name in _CALLED.findall(line) if not _API.match(name)}
