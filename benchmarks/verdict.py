"""Benchmark *verdict*: whose failure is a failing test? Simulated flaky tests, races and breaks with known causes.

Half of the cases tune the numbers of `bot.rules.pulls.evidence`, the other half is reported. The reference is the rule
of most systems and of Mendbot before: one re-run on the head, one run on the base."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from math import exp, log
from typing import Literal

from benchmarks.result import Result, Row
from bot.model.pulls import RunCounts, Verdict
from bot.rules.pulls.evidence import TESTS, THRESHOLDS, Evidence, Thresholds, bayes_factor, final_verdict, verdict

Cause = Literal["flaky", "race", "worse", "break", "existing"]
"""What is simulated: a flaky test with one rate on both commits, a race that the change brought in, a test that the
change made flakier, one that it broke, and one that fails on both commits."""

LOWEST, HIGHEST = 0.004, 0.5
_COMMIT_RUNS = 5
"""Runs of a test that are remembered of one commit of the base branch."""
_SHARES: Mapping[Cause, float] = {"flaky": 0.4, "race": 0.3, "worse": 0.1, "break": 0.1, "existing": 0.1}
_FIXED = (0.5, 0.1)
"""Rates for which there is a row of its own."""
_GRID_A, _GRID_B = (0.02, 0.05, 0.1), (0.5, 1.0, 2.0)
_GRID_BEFORE, _GRID_FLAKY = (1 / 3, 0.5, 0.7, 1.0), (20.0, 100.0, 300.0)
_MAX_ACCUSED, _MAX_EXCUSED = 0.01, 0.01
"""The shares of wrong verdicts against and in favor of a change that tuning allows."""
OWN, EXCUSED = ("new", "new_flaky"), ("flaky_before", "existing")


@dataclass(frozen=True, slots=True)
class Size:
    cases: int = 40_000
    """In the half that is reported."""
    tuning: int = 1_500
    """In the half that tunes, which is judged with every combination of numbers."""
    fixed: int = 20_000
    """For each rate with a row of its own."""
    seed: int = 11


@dataclass(frozen=True, slots=True)
class Case:
    """One failing test: its cause, its failure rates, its remembered runs, and the random numbers of its runs."""

    cause: Cause
    head: float
    base: float
    before: RunCounts
    seed: int

    @property
    def guilty(self) -> bool:
        """Whether the change is the cause."""
        return self.cause in ("race", "worse", "break")


@dataclass(frozen=True, slots=True)
class Judged:
    """A case with its verdict, the factor behind it, and the runs that it took."""

    case: Case
    verdict: Verdict | Literal["flaky"]
    factor: float
    runs: int


Rule = Callable[[Case], Judged]


def simulated(count: int, seed: int) -> Iterator[Case]:
    """Cases of all causes, with rates drawn evenly on a logarithmic scale, and with 0, 10 or 50 remembered runs."""
    chance = random.Random(seed)
    causes, weights = list(_SHARES), list(_SHARES.values())
    for _ in range(count):
        rate, lower = sorted((_rate(chance), _rate(chance)), reverse=True)
        cause = chance.choices(causes, weights)[0]
        head, base = {
            "flaky": (rate, rate),
            "race": (rate, 0.0),
            "worse": (max(rate, 3 * lower), lower / 3),
            "break": (1.0, 0.0),
            "existing": (1.0, 1.0),
        }[cause]
        yield _case(cause, (min(head, 1.0), base), chance.choice((0, 10, 50)), chance)


def of_rate(cause: Cause, rate: float, count: int, seed: int, memory: int = 0) -> Iterator[Case]:
    """Cases of one cause and one failure rate."""
    chance = random.Random(seed)
    for _ in range(count):
        yield _case(cause, (rate, rate if cause == "flaky" else 0.0), memory, chance)


def _rate(chance: random.Random) -> float:
    return exp(chance.uniform(log(LOWEST), log(HIGHEST)))


def _case(cause: Cause, rates: tuple[float, float], memory: int, chance: random.Random) -> Case:
    """Remembered commits on which every run failed do not count, as in `bot/store/history/test_runs.py`."""
    before = RunCounts()
    for _ in range(memory // _COMMIT_RUNS):
        failed = sum(chance.random() < rates[1] for _ in range(_COMMIT_RUNS))
        if failed < _COMMIT_RUNS:
            before += RunCounts(failed=failed, passed=_COMMIT_RUNS - failed)
    return Case(cause, *rates, before, chance.getrandbits(48))


def judged(case: Case, thresholds: Thresholds = THRESHOLDS) -> Judged:
    """Our rule: runs on head and base in turn until there is a verdict. The first run on the head failed."""
    chance = random.Random(case.seed)
    head, base = RunCounts(failed=1), RunCounts()
    while True:
        evidence = Evidence(head, base, case.before)
        found = verdict(evidence, TESTS, thresholds)
        if found is None and head.total > TESTS.max_head and base.total > TESTS.max_base:
            found = final_verdict(evidence, TESTS, thresholds)
        if found is not None:
            factor = bayes_factor(head, base + case.before, thresholds)
            return Judged(case, found, factor, head.total + base.total)
        if head.total <= base.total:
            head += _run(chance, case.head)
        else:
            base += _run(chance, case.base)


def _run(chance: random.Random, rate: float) -> RunCounts:
    failed = chance.random() < rate
    return RunCounts(failed=int(failed), passed=int(not failed))


def reference(case: Case) -> Judged:
    """One re-run on the head; where it fails too, one run on the base."""
    chance = random.Random(case.seed)
    if not _run(chance, case.head).failed:
        return Judged(case, "flaky", 1.0, 2)
    on_base = _run(chance, case.base).failed
    return Judged(case, "existing" if on_base else "new", 0.0 if on_base else float("inf"), 3)


def tuned(size: Size) -> tuple[Thresholds, tuple[str, ...]]:
    """The numbers of the grid that give most cases of the first half the right verdict, and a line for each that was
    tried. Numbers that accuse or excuse too many wrongly are left out."""
    cases = list(simulated(size.tuning, size.seed))
    best: tuple[float, Thresholds] = (0.0, THRESHOLDS)
    lines = []
    for a, b, before, flaky in product(_GRID_A, _GRID_B, _GRID_BEFORE, _GRID_FLAKY):
        numbers = Thresholds(prior_failed=a, prior_passed=b, before=before, new_flaky=flaky)
        found = [judged(case, numbers) for case in cases]
        false, excused = share(found, OWN, guilty=False), share(found, EXCUSED, guilty=True)
        right = sum(one.verdict in (OWN if one.case.guilty else EXCUSED) for one in found) / len(found)
        lines.append(
            f"a={a:g} b={b:g} before={before:.2f} flaky={flaky:g}: "
            f"accused {false:.2%}, excused {excused:.2%}, right {right:.1%}, Brier {brier(found):.4f}"
        )
        if false <= _MAX_ACCUSED and excused <= _MAX_EXCUSED:
            best = max(best, (right, numbers), key=lambda one: one[0])
    return best[1], tuple(lines)


def share(found: Sequence[Judged], verdicts: Sequence[str], *, guilty: bool | None = None) -> float:
    """The share of cases with one of these verdicts, of those that the change caused, or did not cause."""
    chosen = [one for one in found if guilty is None or one.case.guilty is guilty]
    return sum(one.verdict in verdicts for one in chosen) / len(chosen) if chosen else 0.0


def probability(one: Judged) -> float:
    """The probability that the change is the cause, where both causes are equally likely beforehand."""
    return 1.0 if one.factor == float("inf") else one.factor / (1 + one.factor)


def brier(found: Sequence[Judged]) -> float:
    """The mean square of the distance between probability and truth."""
    return sum((probability(one) - one.case.guilty) ** 2 for one in found) / len(found)


def calibration(found: Sequence[Judged], bins: int = 5) -> tuple[str, ...]:
    """For each range of the probability: the number of cases, and the share that the change caused."""
    lines = []
    for at in range(bins):
        inside = [one for one in found if min(int(probability(one) * bins), bins - 1) == at]
        if inside:
            mean = sum(map(probability, inside)) / len(inside)
            real = sum(one.case.guilty for one in inside) / len(inside)
            lines.append(
                f"{at / bins:.1f}–{(at + 1) / bins:.1f}: mean {mean:.2f}, real {real:.2f} ({len(inside)} cases)"
            )
    return tuple(lines)


def measure(size: Size) -> Result:
    """The second half of the cases, judged by our rule and by the reference."""
    cases = list(simulated(size.cases, size.seed + 1))
    ours, theirs = [judged(case) for case in cases], [reference(case) for case in cases]
    rows = [
        *_fixed_rows(size),
        *_race_rows(size),
        Row("failures of others called New or New, flaky", 100 * share(ours, OWN, guilty=False), "%"),
        Row("the same, reference", 100 * share(theirs, OWN, guilty=False), "%"),
        Row("failures of the change called New or New, flaky", 100 * share(ours, OWN, guilty=True), "%"),
        Row("the same, reference", 100 * share(theirs, OWN, guilty=True), "%"),
        Row("breaks called New", 100 * share(_of(ours, "break"), ("new",)), "%", "at least", 99.0),
        Row("Brier score", brier(ours)),
        Row("Brier score, reference", brier(theirs)),
        *_run_rows(ours),
        Row("runs per failing test, reference", sum(one.runs for one in theirs) / len(theirs)),
    ]
    numbers, tried = tuned(size)
    notes = (
        "Calibration of K/(1+K), by ranges: " + "; ".join(calibration(ours)) + ".",
        f"Of {len(tried)} combinations, tuning on the first half chooses {_words(numbers)}.",
        f"In use: {_words(THRESHOLDS)}.",
    )
    return Result("verdict", 1, tuple(rows), notes)


def _words(numbers: Thresholds) -> str:
    prior = f"a={numbers.prior_failed:g}, b={numbers.prior_passed:g}"
    return f"{prior}, before={numbers.before:.2f}, new_flaky={numbers.new_flaky:g}"


def _of(found: Sequence[Judged], cause: Cause) -> list[Judged]:
    return [one for one in found if one.case.cause == cause]


def _fixed_rows(size: Size) -> Iterator[Row]:
    for rate in _FIXED:
        cases = list(of_rate("flaky", rate, size.fixed, size.seed + 2))
        goal = 1.0 if rate == 0.5 else None
        ours, theirs = [judged(case) for case in cases], [reference(case) for case in cases]
        yield Row(f"flaky at p = {rate} called New", 100 * share(ours, ("new",)), "%", "at most", goal)
        yield Row(f"flaky at p = {rate} called New, flaky", 100 * share(ours, ("new_flaky",)), "%")
        yield Row(f"flaky at p = {rate} called New, reference", 100 * share(theirs, ("new",)), "%")


def _race_rows(size: Size) -> Iterator[Row]:
    for memory in (0, 10):
        chance = random.Random(size.seed + 3)
        cases = [_case("race", (_rate(chance), 0.0), memory, chance) for _ in range(size.fixed)]
        ours, theirs = [judged(case) for case in cases], [reference(case) for case in cases]
        words = f"races, {memory} remembered runs,"
        goal = 1.0 if memory else None
        yield Row(f"{words} called Flaky before", 100 * share(ours, ("flaky_before",)), "%", "at most", goal)
        yield Row(f"{words} called New, flaky or New", 100 * share(ours, OWN), "%")
        yield Row(f"{words} called Unsure", 100 * share(ours, ("unsure",)), "%")
        yield Row(f"{words} called flaky by the reference", 100 * share(theirs, ("flaky",)), "%")


def _run_rows(found: Sequence[Judged]) -> Iterator[Row]:
    counts = Counter(one.verdict for one in found)
    for name, count in counts.most_common():
        runs = sum(one.runs for one in found if one.verdict == name)
        yield Row(f"runs per verdict {name}", runs / count)
    yield Row("runs per failing test", sum(one.runs for one in found) / len(found))
