"""The tests that one execution of a check ran, and their outcomes, on which the claim of a fix is based. Names come
from untrusted output, so their length and number are limited (REQ-STOP-006)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from hashlib import sha256
from typing import Literal

from pydantic import Field

from bot.model import Model, SuiteCounts
from bot.model.pipeline import SuiteSummary
from bot.rules.failures.log_lines import plain

CaseOutcome = Literal["passed", "failed", "skipped"]

MAX_TESTS = 20_000
"""The limit of test names that are kept of one execution; of a larger suite only the counts are compared."""

_NAME_CHARS = 300
_SHOWN_FAILING = 50
_WORST: Mapping[CaseOutcome, int] = {"skipped": 0, "passed": 1, "failed": 2}


class SuiteResult(Model):
    """The tests of one execution, by name. `whole`: every test that ran has its name here. `counts` are the runner's
    own figures, or those of the names where these are whole; None where neither is known."""

    outcomes: dict[str, CaseOutcome] = Field(default_factory=dict)
    counts: SuiteCounts | None = None
    whole: bool = False

    def named(self, outcome: CaseOutcome) -> tuple[str, ...]:
        """The tests that came out so, in their order."""
        return tuple(name for name, found in self.outcomes.items() if found == outcome)

    @property
    def says_something(self) -> bool:
        """Whether it has names or counts to compare with."""
        return bool(self.outcomes) or (self.counts is not None and self.counts.ran > 0)

    def summary(self, log: str) -> SuiteSummary:
        """The part that an event stores: figures, the first failing names and a digest of all. The whole list is in
        that log."""
        counts = self.counts or SuiteCounts()
        text = "\n".join(f"{outcome} {name}" for name, outcome in sorted(self.outcomes.items()))
        return SuiteSummary(
            **counts.model_dump(),
            named=self.whole,
            failing=tuple(self.named("failed")[:_SHOWN_FAILING]),
            digest=sha256(text.encode("utf-8", "replace")).hexdigest()[:16],
            list=log,
        )


def by_id(found: Iterable[tuple[str, CaseOutcome]]) -> SuiteResult:
    """Of a list in which a name is one test, whichever of its parts is named; the worst of its outcomes counts."""
    outcomes: dict[str, CaseOutcome] = {}
    for name, outcome in found:
        name = _bounded(name)
        known = outcomes.get(name)
        if known is None and len(outcomes) >= MAX_TESTS:
            return SuiteResult(outcomes=outcomes)
        if name and (known is None or _WORST[outcome] > _WORST[known]):
            outcomes[name] = outcome
    return SuiteResult(outcomes=outcomes, counts=_counted(outcomes), whole=True)


def by_order(found: Iterable[tuple[str, CaseOutcome]]) -> dict[str, CaseOutcome]:
    """The same for a list in which a name that comes again is another test: it gets a number."""
    outcomes: dict[str, CaseOutcome] = {}
    seen: dict[str, int] = {}
    for name, outcome in found:
        name = _bounded(name)
        if not name or len(outcomes) >= MAX_TESTS:
            continue
        seen[name] = seen.get(name, 0) + 1
        outcomes[name if seen[name] == 1 else f"{name} ({seen[name]})"] = outcome
    return outcomes


def joined(results: Iterable[SuiteResult]) -> SuiteResult | None:
    """The results of several runners of one execution, joined; None where there are none."""
    known = [one for one in results if one.says_something]
    if not known:
        return None
    outcomes = {name: outcome for one in known for name, outcome in one.outcomes.items()}
    counts = [one.counts for one in known if one.counts is not None]
    total = SuiteCounts(
        passed=sum(one.passed for one in counts),
        failed=sum(one.failed for one in counts),
        skipped=sum(one.skipped for one in counts),
    )
    complete = len(counts) == len(known)
    return SuiteResult(outcomes=outcomes, counts=total if complete else None, whole=all(one.whole for one in known))


def _counted(outcomes: Mapping[str, CaseOutcome]) -> SuiteCounts:
    found = list(outcomes.values())
    return SuiteCounts(passed=found.count("passed"), failed=found.count("failed"), skipped=found.count("skipped"))


def _bounded(name: str) -> str:
    """On one line and not too long; what is cut off still distinguishes two names."""
    line = " ".join(plain(name).split())
    if len(line) <= _NAME_CHARS:
        return line
    return f"{line[:_NAME_CHARS]}…{sha256(line.encode('utf-8', 'replace')).hexdigest()[:8]}"
