"""The tests that fail in one execution of a check, and whether they say anything about the code under test."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from bot.model import ValidationStep
from bot.model.proof import StageWithoutChange
from bot.rules.failures.errors import Printed
from bot.rules.test_results.suite_result import SuiteResult

_NOT_LOADED = re.compile(
    r"\bImportError\b|\bModuleNotFoundError\b|cannot import name|Cannot find module|ERR_MODULE_NOT_FOUND"
    r"|does not provide an export named|fixture '[^']*' not found|module '[^']*' has no attribute"
    r"|\berrors? during collection\b"
)
"""Messages of a test that never reached the code under test: what it needs is not there before the change."""


def without_change(
    index: int,
    step: ValidationStep,
    errors: Mapping[str, Printed],
    ran: SuiteResult | None,
    after: SuiteResult | None,
) -> StageWithoutChange:
    """What a check shows on the base with only the change's test files: its step, its errors and the tests that `ran`.
    `after` are the tests that ran with the whole change.

    A test counts that failed there and passes with the change. One that could not be loaded there does not: it shows
    that something is new, and not that the fault was there."""
    found = failing_tests(step, errors, ran)
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


def failing_tests(step: ValidationStep, errors: Mapping[str, Printed], ran: SuiteResult | None) -> FailingTests | None:
    """The tests that failed in a check; None where it passed, or did not run."""
    if step.passed or step.skipped or step.could_not_run is not None:
        return None
    named = ran.named("failed") if ran is not None else ()
    unloaded = {printed.test for printed in errors.values() if _NOT_LOADED.search(printed.text)}
    tests = tuple(name for name in named if not _is_any(name, unloaded))
    only_unloaded = bool(named) or bool(_NOT_LOADED.search(step.output))
    return FailingTests(tests, not tests and not step.cut_short and only_unloaded)


def _is_any(name: str, tests: Iterable[str]) -> bool:
    """Whether a test is one of these, which may be named without their directory or in another spelling."""
    return any(test and (test in name or name in test) for test in tests)
