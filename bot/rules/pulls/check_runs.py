"""The runs of one failed check on the head and on the merge base: what they show of each failure, and which run is
next.

A failure is a failed test, whatever it fails with, or an error that belongs to no test (spec H, REQ-PROOF-004)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

from bot.model.pulls import NO_RUNS, FailedOf, Failure, RunCounts, Verdict
from bot.rules.failures.failure_origin import WHOLE
from bot.rules.failures.normalize import test_of
from bot.rules.pulls.evidence import BaseState, Evidence, RunRule, final_verdict, verdict

Place = Literal["head", "base"]

MAX_ALONE = 50
"""The limit of tests that run alone together; for more, the whole check runs."""
CHANGED_RUNS = 10
"""Runs of a test that the pull request adds or alters, though it passes."""
TIME_SHARE = 0.1
"""The share of a check's time limit that repeated runs may take."""
MIN_BROKEN_TESTS = 5
"""The minimal number of tests of a suite that can be called broken."""
BROKEN_SHARE = 0.8
"""The share of failing tests from which on a suite is broken."""


@dataclass(frozen=True, slots=True)
class CheckRun:
    """One run of a check. `errors` are what failed, as `failure_origin.shown` gives it. `tests` are the failures whose
    tests ran alone; None is a run of the whole check. `absent` are those whose test did not run. An unusable run was
    stopped or could not start."""

    place: Place
    errors: tuple[str, ...] = ()
    tests: frozenset[str] | None = None
    absent: frozenset[str] = frozenset()
    usable: bool = True
    duration_ms: int = 0

    @property
    def failed(self) -> frozenset[str]:
        """The failures of this run, by their identity."""
        return frozenset(identity(error) for error in self.errors if error)

    def counts(self, name: str) -> RunCounts:
        """What this run adds to the runs of a failure."""
        if not self.usable or name in self.absent or (self.tests is not None and name not in self.tests):
            return NO_RUNS
        failed = name in self.failed
        return RunCounts(failed=int(failed), passed=int(not failed))


@dataclass(frozen=True, slots=True)
class NextRun:
    """The next run: of the failures in `tests` alone where that is possible, else of the whole check."""

    place: Place
    tests: tuple[str, ...] = ()


def identity(error: str) -> str:
    """The identity of a failure: of a failed test its name, else the error."""
    return test_of(error) or error


def is_broken(tests: FailedOf) -> bool:
    """Whether so many tests fail that their setup may be the cause."""
    return tests.ran >= MIN_BROKEN_TESTS and tests.failed >= BROKEN_SHARE * tests.ran


@dataclass(frozen=True)
class CheckRuns:
    """All runs of a check whose first run on the head failed."""

    rule: RunRule
    first: CheckRun
    others: tuple[CheckRun, ...] = ()
    """Later runs on both commits, in their order."""
    base: CheckRun | None = None
    """The run of the whole check on the merge base; None while there is none, or where `base_because` says why."""
    base_because: str = ""
    base_cached: bool = False
    remembered: Mapping[str, tuple[RunCounts, RunCounts]] = field(default_factory=dict)
    reached: Mapping[str, bool] = field(default_factory=dict)
    """Whether a failing test executed a changed line, where that was measured."""
    reach_measured: bool = False
    changed: frozenset[str] = frozenset()
    """Tests that the pull request adds or alters, by the identity of their failure."""
    tests: FailedOf | None = None
    limit_ms: float = 0.0

    @cached_property
    def evidence(self) -> Mapping[str, Evidence]:
        """The evidence of each failure, in the order in which they were seen; `WHOLE` where no single failure explains
        why the check fails each time."""
        found = {name: self._evidence(name) for name in self._names}
        if self._is_whole and all(one.head.passed for one in found.values()):
            found[WHOLE] = self._whole_evidence()
        return found

    @property
    def has_broken_setup(self) -> bool:
        """Whether most tests fail, and the base does not show whose failures they are: it is unknown, or most tests
        fail there in another way. With the same failures on the base they are existing ones. Where the base passes,
        the change is the only difference, so its failures get verdicts as usual."""
        tests = self.tests
        if tests is None or not is_broken(tests):
            return False
        if self.base is None:
            return self.base_because not in ("", "base_absent")
        on_base = self.base.failed
        return len(on_base) >= BROKEN_SHARE * tests.ran and not on_base & self.first.failed

    def verdicts(self) -> Mapping[str, Verdict]:
        """The verdict of each failure, if no more runs are made."""
        return {name: final_verdict(one, self.rule) for name, one in self.evidence.items()}

    def undecided(self) -> tuple[str, ...]:
        """The failures for which the runs so far allow no verdict."""
        return tuple(name for name, one in self.evidence.items() if verdict(one, self.rule) is None)

    @property
    def needs_base(self) -> bool:
        """Whether the check has to run on the merge base, which it has not done."""
        if self.base is not None or self.base_because or self._needs_rerun:
            return False
        return any(self.rule.max_base > 0 or not self.evidence[name].head.passed for name in self.undecided())

    @property
    def next_run(self) -> NextRun | None:
        """The next repeated run; None where there is none, or where the merge base has to be checked first.

        Head and base run in turn, so that a failure of the machine falls on both."""
        if self._needs_rerun:
            return self._run("head", self.undecided())
        if self.needs_base or self.has_broken_setup or not all(run.usable for run in self.others):
            return None
        passing = self._changed_to_repeat()
        if passing and (repeated := self._affordable(NextRun("head", passing))) is not None:
            return repeated
        heads = [name for name in self.undecided() if self._side(name) == "head"]
        bases = [name for name in self.undecided() if self._side(name) == "base"]
        last = self.others[-1].place if self.others else "head"
        if heads and (last == "base" or not bases):
            return self._affordable(self._run("head", heads))
        return self._affordable(self._run("base", bases)) if bases else None

    @property
    def tests_to_measure(self) -> tuple[str, ...]:
        """The failing tests of which it should be measured whether they execute a changed line: those without a verdict
        once head and base were compared."""
        if self.reach_measured or self._needs_rerun or self.needs_base or self.rule.max_base == 0:
            return ()
        found = () if self.has_broken_setup else self.undecided()
        return found if len(found) <= MAX_ALONE and all(map(test_of, found)) else ()

    def _changed_to_repeat(self) -> tuple[str, ...]:
        """The changed tests that passed so far in fewer runs than such tests get."""
        if not self.rule.max_head:
            return ()
        on_head = self._on("head")
        return tuple(
            name
            for name in sorted(self.changed)[:MAX_ALONE]
            if name not in self._names
            and sum(run.counts(name).total for run in on_head) < CHANGED_RUNS
            and not any(name in run.absent for run in on_head)
        )

    @property
    def _needs_rerun(self) -> bool:
        return bool(self.rule.max_head and self.first.usable and not self._has_rerun() and self.undecided())

    @property
    def _names(self) -> tuple[str, ...]:
        errors = [error for run in self._on("head") for error in run.errors if error]
        return tuple(dict.fromkeys(map(identity, errors)))

    def _on(self, place: Place) -> tuple[CheckRun, ...]:
        first = self.first if place == "head" else self.base
        return (*filter(None, [first]), *(run for run in self.others if run.place == place))

    def _has_rerun(self) -> bool:
        return any(run.place == "head" for run in self.others)

    def _count(self, place: Place, name: str) -> int:
        """The number of repeated runs of a failure on a commit, with those in which its test did not run."""
        return sum(run.place == place and (run.tests is None or name in run.tests) for run in self.others)

    def _evidence(self, name: str) -> Evidence:
        here, before = self.remembered.get(name, (NO_RUNS, NO_RUNS))
        runs = self._on("base")
        if self.base_cached and (here.total or self._is_absent(name)):
            runs = runs[1:]  # it is remembered already, or did not run the test
        base = sum((run.counts(name) for run in runs), here)
        head = sum((run.counts(name) for run in self._on("head")), NO_RUNS)
        state = self._base_state(name, base)
        return Evidence(head, base, before, state, self.reached.get(name), name in self.changed)

    def _base_state(self, name: str, base: RunCounts) -> BaseState:
        if self.base_because:
            return "absent" if self.base_because == "base_absent" else "unknown"
        if base.total or self.base is None or not self._is_absent(name):
            return "compared"
        # a file of tests that could not be read hides its tests
        hidden = any(name.startswith(failed) and failed != name for failed in self.base.failed if test_of(failed))
        return "unknown" if hidden else "absent"

    def _is_absent(self, name: str) -> bool:
        return any(name in run.absent for run in self._on("base"))

    @property
    def _is_whole(self) -> bool:
        """Whether the check as a whole may be what fails: nothing in it is named, or every run of all of it on the head
        failed."""
        whole = [run for run in self._on("head") if run.tests is None and run.usable]
        if not self.first.errors:
            return False
        return not self._names or (len(whole) > 1 and all(run.errors for run in whole))

    def _whole_evidence(self) -> Evidence:
        """The base fails likewise where it shows all that the head showed; with nothing to see, where it is silent."""
        names = frozenset(self._names) or {WHOLE}
        on_head = [run for run in self._on("head") if run.tests is None and run.usable]
        on_base = [run for run in self._on("base") if run.tests is None and run.usable]
        failed = sum(names <= {identity(error) for error in run.errors} for run in on_base)
        base = RunCounts(failed=failed, passed=len(on_base) - failed)
        failed = sum(bool(run.errors) for run in on_head)
        head = RunCounts(failed=failed, passed=len(on_head) - failed)
        return Evidence(head, base, base_state=self._base_state(WHOLE, base))

    def _side(self, name: str) -> Place | None:
        """The commit on which a failure has fewer runs, below the limits."""
        one, rule = self.evidence[name], self.rule
        head = one.head.total <= rule.max_head and self._count("head", name) < rule.max_head
        base = one.base.total <= rule.max_base and self._count("base", name) < rule.max_base
        base = base and one.base_state == "compared" and self.base is not None
        if head and base:
            return "head" if one.head.total <= one.base.total else "base"
        return "head" if head else "base" if base else None

    def _run(self, place: Place, names: Iterable[str]) -> NextRun:
        names = tuple(names)
        alone = len(names) <= MAX_ALONE and all(map(test_of, names))
        return NextRun(place, names if alone else ())

    def _affordable(self, run: NextRun) -> NextRun | None:
        """The run, unless it would exceed the time. The runs that *New* needs may take the whole time limit of the
        check, else a slow check could never show that a change broke a test."""
        spent = sum(one.duration_ms for one in self.others)
        expected = (self.others[-1] if self.others else self.first).duration_ms
        share = 1.0 if any(map(self._may_become_new, self.undecided())) else TIME_SHARE
        return run if spent + expected <= share * self.limit_ms else None

    def _may_become_new(self, name: str) -> bool:
        one, rule = self.evidence[name], self.rule
        if one.head.passed or one.base.failed:
            return False
        return one.head.failed < rule.min_head or one.base.passed < rule.min_base


def failures_of_runs(runs: CheckRuns) -> tuple[Failure, ...]:
    """The failures of a check with their verdicts and figures; none where its setup is broken."""
    if runs.has_broken_setup:
        return ()
    shown: dict[str, str] = {}
    for run in (runs.first, *(run for run in runs.others if run.place == "head")):
        for error in run.errors:
            shown.setdefault(identity(error), error)
    return tuple(
        Failure(
            error=shown.get(name, name),
            verdict=found,
            head=runs.evidence[name].head,
            base=runs.evidence[name].base,
            before=runs.evidence[name].before,
            base_absent=runs.evidence[name].base_state == "absent",
            touched=runs.evidence[name].touches,
        )
        for name, found in runs.verdicts().items()
    )
