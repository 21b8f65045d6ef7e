"""One check that was executed on the head, with all later runs of its failures, as its events tell."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from bot.model import ShellCommand, ValidationStep
from bot.model.events.pull_checks import PullBaseChecked, PullCheckRan, PullReachMeasured, PullTestsRan
from bot.model.pulls import Failure
from bot.model.reasons import Reason
from bot.rules.failures.errors import Printed
from bot.rules.failures.normalize import test_error
from bot.rules.pulls.check_runs import CheckRun, CheckRuns, failures_of_runs, identity
from bot.rules.pulls.evidence import CUT_SHORT, STATIC, TESTS

TEST_STAGE = "test"
"""The check whose outcome may depend on chance, because it executes the project's code."""


@dataclass(frozen=True, slots=True)
class CheckExecution:
    """The execution of a check on the head commit, and the runs of its failures."""

    step: ValidationStep
    runs: CheckRuns
    printed: Mapping[str, Printed] = field(default_factory=dict)
    """The errors in the tool's own words."""
    tests: Mapping[str, str] = field(default_factory=dict)
    """The names of tests as their runner prints them, by the identity of their failure."""
    unmeasured: Reason | None = None
    """Why it is unknown whether the failing tests execute a changed line."""

    @property
    def has_failures(self) -> bool:
        """Whether something failed that needs a verdict: in the check itself, or in repeated runs of changed tests."""
        return self.step.could_not_run is None and bool(self.runs.evidence)

    @property
    def needs_base(self) -> bool:
        """Whether the base has to be checked: for the verdicts, or to see whether the change took away what the check
        needs."""
        if self.step.could_not_run is not None:
            return self.runs.base is None and not self.runs.base_because
        return self.has_failures and self.runs.needs_base

    @property
    def failures(self) -> tuple[Failure, ...]:
        """The failures with their verdicts; none where the check passed, could not run, or has a broken setup."""
        found = failures_of_runs(self.runs) if self.has_failures else ()
        return tuple(_in_words(one, self.printed.get(one.error)) for one in found)

    @property
    def flaky(self) -> bool:
        """Whether every failure also passed on the same commit."""
        failures = self.failures
        return bool(failures) and all(one.head.passed for one in failures)

    def with_base(self, event: PullBaseChecked) -> CheckExecution:
        """With the result of the check on the merge base."""
        if event.errors is None:
            return replace(self, runs=replace(self.runs, base_because=event.because))
        base = CheckRun("base", event.errors, absent=frozenset(event.absent))
        return replace(self, runs=replace(self.runs, base=base, base_cached=event.cached))

    def with_reach(self, event: PullReachMeasured) -> CheckExecution:
        """With what was measured of the lines that failing tests execute."""
        runs = replace(self.runs, reached=event.reached, reach_measured=True)
        return replace(self, runs=runs, unmeasured=event.unused)

    def with_tests(self, event: PullTestsRan) -> CheckExecution:
        """With one more run of failing tests."""
        run = CheckRun(
            place=event.place,
            errors=event.errors,
            tests=frozenset(event.tests) or None,
            absent=frozenset(event.absent),
            usable=event.usable,
            duration_ms=event.duration_ms,
        )
        runs = replace(self.runs, others=(*self.runs.others, run))
        printed = {**_words(event.printed), **self.printed}
        return replace(self, runs=runs, printed=printed, tests={**_names(printed), **self.tests})


def execution_of(event: PullCheckRan, command: ShellCommand | None) -> CheckExecution:
    """The execution of a check by this command."""
    ended_early = event.step.cut_short or event.step.exit_code is None
    runs = CheckRuns(
        rule=CUT_SHORT if ended_early else TESTS if event.stage == TEST_STAGE else STATIC,
        first=CheckRun("head", event.errors, duration_ms=event.step.duration_ms),
        remembered=event.remembered,
        changed=frozenset(unit_of(test) for test in event.changed),
        tests=event.tests,
        limit_ms=1000 * command.timeout_s if command is not None else 0.0,
    )
    printed = _words(event.printed)
    tests = {**{unit_of(test): test for test in event.changed}, **_names(printed)}
    return CheckExecution(step=event.step, runs=runs, printed=printed, tests=tests)


def unit_of(test: str) -> str:
    """The identity of the failure of a test that has this name."""
    return identity(test_error(test, ""))


def _names(printed: Mapping[str, Printed]) -> dict[str, str]:
    return {identity(error): words.test for error, words in printed.items() if words.test}


def _words(printed: Mapping[str, tuple[str, str]]) -> dict[str, Printed]:
    return {error: Printed(*words) for error, words in printed.items()}


def _in_words(failure: Failure, printed: Printed | None) -> Failure:
    return failure if printed is None else failure.model_copy(update={"test": printed.test, "said": printed.text})
