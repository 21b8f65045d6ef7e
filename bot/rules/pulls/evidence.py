"""Weighs runs of a failing test on the head commit against runs on the base: did the change cause the failure?

`bayes_factor` compares two explanations of the runs on the head: a failure rate of its own, and the rate of the
base. The thresholds are the result of `benchmarks/verdict.py` (docs/decisions/0113)."""

from __future__ import annotations

from dataclasses import dataclass
from math import exp, lgamma
from typing import Literal

from bot.model.pulls import NO_RUNS, RunCounts, Verdict

BaseState = Literal["compared", "absent", "unknown"]
"""Whether the merge base has runs to compare with: it does not have the test (`absent`), or it could not be checked
(`unknown`)."""


@dataclass(frozen=True, slots=True)
class Thresholds:
    """The numbers of the decision. The rate of the base has the prior Beta(`prior_failed`, `prior_passed`), because
    most tests never fail on a base branch; the rate of a changed test has the uniform one."""

    prior_failed: float = 0.05
    prior_passed: float = 1.0
    before: float = 0.5
    """Up to this factor the failure was there before."""
    new: float = 20.0
    """From this factor on the change caused a failure that every run on the head shows."""
    new_flaky: float = 300.0
    """The same for a failure that only some runs on the head show, as chance explains those more often."""


THRESHOLDS = Thresholds()


@dataclass(frozen=True, slots=True)
class RunRule:
    """How many runs a verdict needs. *New* needs `min_head` failures without a pass on the head, and `min_base` passes
    without a failure on the merge base. Beyond the first run, each commit gets at most `max_head` and `max_base`
    more."""

    min_head: int
    min_base: int
    max_head: int
    max_base: int


TESTS = RunRule(min_head=4, min_base=4, max_head=8, max_base=8)
STATIC = RunRule(min_head=2, min_base=1, max_head=1, max_base=0)
"""Linters and type checkers read files, so chance plays no part: one more run on the head is enough."""
CUT_SHORT = RunRule(min_head=1, min_base=1, max_head=0, max_base=0)
"""A check that exceeded a limit is not repeated, as it would exceed it again."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """What is known about one failing test, or one error that belongs to no test. `base` are runs on the merge base,
    `before` are remembered runs on other commits of the base branch, except commits on which every run failed: those
    were broken, and may be repaired since. `reached` is whether the test executed a changed line; None where this was
    not measured. `changed`: the change adds or alters the test itself."""

    head: RunCounts
    base: RunCounts = NO_RUNS
    before: RunCounts = NO_RUNS
    base_state: BaseState = "compared"
    reached: bool | None = None
    changed: bool = False

    @property
    def touches(self) -> bool:
        """Whether the change concerns the test: it alters the test, or the test executes a changed line."""
        return self.changed or self.reached is True or self.base_state == "absent"


def bayes_factor(head: RunCounts, base: RunCounts, thresholds: Thresholds = THRESHOLDS) -> float:
    """How much better a rate of its own explains the runs on the head than the rate of the base does."""
    a, b = thresholds.prior_failed, thresholds.prior_passed
    own = _log_beta(1 + head.failed, 1 + head.passed)
    shared = _log_beta(a + base.failed + head.failed, b + base.passed + head.passed)
    return exp(own - shared + _log_beta(a + base.failed, b + base.passed))


def _log_beta(a: float, b: float) -> float:
    return lgamma(a) + lgamma(b) - lgamma(a + b)


def verdict(evidence: Evidence, rule: RunRule = TESTS, thresholds: Thresholds = THRESHOLDS) -> Verdict | None:
    """The verdict that the runs so far allow; None where more runs may decide."""
    head, earlier = evidence.head, evidence.base + evidence.before
    factor = bayes_factor(head, earlier, thresholds)
    if min(factor, bayes_factor(head, evidence.base, thresholds)) <= thresholds.before and earlier.failed:
        return "flaky_before" if head.passed or evidence.base.passed or not evidence.base.failed else "existing"
    if evidence.reached is False and not evidence.changed:
        return "not_reached"
    if evidence.base_state != "compared":
        return _uncompared(evidence, rule)
    if evidence.base.failed or evidence.base.passed < rule.min_base:
        return None
    if head.passed:
        return "new_flaky" if factor >= thresholds.new_flaky else None
    return "new" if head.failed >= rule.min_head and factor >= thresholds.new else None


def final_verdict(evidence: Evidence, rule: RunRule = TESTS, thresholds: Thresholds = THRESHOLDS) -> Verdict:
    """The verdict where no more runs are made: that of the runs, else `existing` where every run on both commits
    failed, else `unsure`."""
    decided = verdict(evidence, rule, thresholds)
    if decided is not None:
        return decided
    return "existing" if evidence.base.failed and not (evidence.base.passed or evidence.head.passed) else "unsure"


def _uncompared(evidence: Evidence, rule: RunRule) -> Verdict | None:
    """A test that the base does not have is the change's own, so its failures are, too. An unknown base excuses only
    what passed on the head at times: a failure in every run counts as new, and the report gives the reason."""
    if evidence.head.passed:
        return "new_flaky" if evidence.base_state == "absent" else None
    return "new" if evidence.head.failed >= rule.min_head else None
