"""The tests that fail in one execution of a check, and whether they say anything about the code under test."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from bot.model import ValidationStep
from bot.model.proof import StageWithoutChange
from bot.rules.failures.errors import Printed
from bot.rules.tampering.weakened_tests import FileTexts
from bot.rules.test_results.suite_result import SuiteResult

_NOT_LOADED = re.compile(
    r"\bImportError\b|\bModuleNotFoundError\b|cannot import name|Cannot find module|ERR_MODULE_NOT_FOUND"
    r"|does not provide an export named|fixture '[^']*' not found|module '[^']*' has no attribute"
    r"|\berrors? during collection\b|unittest\.loader\._FailedTest"
)
"""Messages of a test that never reached the code under test: what it needs is not there before the change."""

_MISSING = re.compile(
    r"has no attribute '(\w+)'|unexpected keyword argument '(\w+)'|\bname '(\w+)' is not defined"  # Python
    r"|([\w$]+)\)? is not (?:a function|a constructor|defined)\b"  # JavaScript
    r"|\bProperty '([\w$]+)' does not exist|no exported member (?:named )?'([\w$]+)'"  # TypeScript
    r"|Cannot find name '([\w$]+)'"
    r"|\bundefined: (?:\w+\.)?(\w+)|\.(\w+) undefined \(|unknown field (\w+)"  # Go
    r"|cannot find [\w, ]+ `(\w+)`|no [\w ]+ named `(\w+)`|no `(\w+)` in"  # Rust
    r"|undefined (?:local variable or )?method [`'](\w+)[?!]?'|uninitialized constant (?:\w+::)*(\w+)"  # Ruby
    r"|undefined (?:method|function) (?:[\w\\]+::)?(\w+)\(|symbol: +(?:method|class|variable) (\w+)"  # PHP, Java
)
"""Messages about a name that is not there, with the name in one of the groups."""
_NAME = re.compile(r"[A-Za-z_$][\w$]*")


def without_change(
    index: int,
    step: ValidationStep,
    errors: Mapping[str, Printed],
    ran: SuiteResult | None,
    after: SuiteResult | None,
    new: Collection[str] = (),
) -> StageWithoutChange:
    """What a check shows on the base with only the change's test files: its step, its errors and the tests that `ran`.
    `after` are the tests that ran with the whole change, `new` the names that only the change brings.

    A test counts that failed there and passes with the change. One that could not be loaded there does not: it shows
    that something is new, and not that the fault was there."""
    found = failing_tests(step, errors, ran, new)
    if found is None:
        return StageWithoutChange(index=index, failed=False)
    names, not_loaded = found.tests, found.not_loaded
    if after is not None and after.outcomes and found.tests:
        passing = frozenset(after.named("passed"))
        names = tuple(name for name in names if name in passing)
        not_loaded = not names and not step.cut_short
    return StageWithoutChange(index=index, failed=True, errors=tuple(errors), tests=names, not_loaded=not_loaded)


@dataclass(frozen=True, slots=True)
class FailingTests:
    """The tests that failed in one execution of a check, as far as it names them. `not_loaded`: it failed only because
    tests could not be loaded."""

    tests: tuple[str, ...]
    not_loaded: bool


def failing_tests(
    step: ValidationStep, errors: Mapping[str, Printed], ran: SuiteResult | None, new: Collection[str] = ()
) -> FailingTests | None:
    """The tests that failed in a check; None where it passed, or did not run. A test that misses a `new` name could not
    be loaded."""
    if step.passed or step.skipped or step.could_not_run is not None:
        return None
    named = ran.named("failed") if ran is not None else ()
    unloaded = {printed.test for printed in errors.values() if _is_unloaded(printed.text, new)}
    tests = tuple(name for name in named if not _is_any(name, unloaded) and not _NOT_LOADED.search(name))
    only_unloaded = bool(named) or _is_unloaded(step.output, new)
    return FailingTests(tests, not tests and not step.cut_short and only_unloaded)


def new_names(files: Iterable[FileTexts]) -> frozenset[str]:
    """The names in these files that none of them had before the change."""
    before, after = set[str](), set[str]()
    for file in files:
        before.update(_NAME.findall(file.before or ""))
        after.update(_NAME.findall(file.after or ""))
    return frozenset(after - before)


def missing_names(text: str) -> frozenset[str]:
    """The names that messages in the text call missing."""
    return frozenset(name for match in _MISSING.finditer(text) for name in match.groups() if name)


def _is_unloaded(text: str, new: Collection[str]) -> bool:
    return _NOT_LOADED.search(text) is not None or any(name in new for name in missing_names(text))


def _is_any(name: str, tests: Iterable[str]) -> bool:
    """Whether a test is one of these, which may be named without their directory or in another spelling."""
    return any(test and (test in name or name in test) for test in tests)
