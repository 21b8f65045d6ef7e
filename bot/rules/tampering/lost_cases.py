"""Finds cases that a change removes although their tests remain: rows of tables, early returns, ignored failures,
missing calls, tests that no runner collects. Each has its reason."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Literal

from bot.model.reasons import Reason
from bot.rules.reasons import make_reason
from bot.rules.tampering.readings import ChangedTests

LossKind = Literal["fewer_rows", "left_early", "not_collected"]

_SHOWN = 60
_COLLECTED = (
    (re.compile(r"\.pyi?$"), re.compile(r"^test.*\.py$|_test\.py$")),
    (re.compile(r"\.[cm]?[jt]sx?$"), re.compile(r"[._-](?:test|spec|cy|e2e)\.\w+$|^tests?\.\w+$|^test[-_]")),
    (re.compile(r"\.go$"), re.compile(r"_test\.go$")),
    (re.compile(r"\.rb$"), re.compile(r"_(?:test|spec)\.rb$|^test_")),
)


def collected_by_name(path: str) -> bool:
    """Whether runners take the file for one of tests by its name alone, which few other habits override."""
    name = path.rpartition("/")[2]
    return next((pattern.search(name) is not None for suffix, pattern in _COLLECTED if suffix.search(name)), True)


def losses(files: Sequence[ChangedTests]) -> Iterator[tuple[LossKind, str, Reason]]:
    """(kind, path, reason) for each file that loses cases in one of these ways."""
    yield from _rows(files)
    for file in files:
        if file.is_gone:
            continue
        name = _hurried(file)
        if name:
            yield "left_early", file.path, make_reason("weak.quits", path=file.path, name=name)
        if not file.is_new and file.after.exits > file.before.exits:
            yield "left_early", file.path, make_reason("weak.exits", path=file.path)
        if not file.is_new and file.after.hidden > file.before.hidden:
            yield "not_collected", file.path, make_reason("weak.uncollected", path=file.path)
        lost = [name for name in file.before.calls - file.after.calls if _stays(name, file)]
        if lost:
            names = ", ".join(sorted(lost)[:5])
            yield "not_collected", file.path, make_reason("weak.uncalled", path=file.path, names=names)


def _rows(files: Sequence[ChangedTests]) -> Iterator[tuple[LossKind, str, Reason]]:
    lost = Counter(row for file in files for row in file.before.rows)
    lost.subtract(row for file in files for row in file.after.rows)
    for file in files:
        fewer = len(file.before.rows) - len(file.after.rows)
        missing = [row for row in Counter(file.before.rows) - Counter(file.after.rows) if lost[row] > 0]
        if fewer > 0 and missing and not file.is_gone:
            row = _short(missing[0]) + (", …" if len(missing) > 1 else "")
            yield "fewer_rows", file.path, make_reason("weak.rows", path=file.path, count=fewer, row=row)


def _hurried(file: ChangedTests) -> str:
    """The first existing test that ends earlier than before."""
    known = {case.name: case.quits for case in file.before.cases}
    return next((_short(case.name) for case in file.after.cases if case.quits > known.get(case.name, case.quits)), "")


def _stays(name: str, file: ChangedTests) -> bool:
    return any(case.name == name for case in file.after.cases)


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _SHOWN else line[: _SHOWN - 1] + "…"
