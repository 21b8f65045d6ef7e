"""The benchmark of verdicts simulates causes that it knows, and the same seed gives the same cases."""

from __future__ import annotations

import math

import pytest

from benchmarks import verdict
from bot.model.pulls import RunCounts


def test_a_small_one_is_measured_end_to_end() -> None:
    result = verdict.measure(verdict.Size(cases=200, tuning=5, fixed=100))
    assert all(math.isfinite(row.value) and row.value >= 0 for row in result.rows)
    assert sum(row.goal is not None for row in result.rows) == 3


def test_cases_are_the_same_for_the_same_seed_and_have_all_causes() -> None:
    cases = list(verdict.simulated(300, 5))
    assert cases == list(verdict.simulated(300, 5)) != list(verdict.simulated(300, 6))
    assert {case.cause for case in cases} == {"flaky", "race", "worse", "break", "existing"}
    for case in cases:
        assert case.head == case.base if case.cause in ("flaky", "existing") else case.head > case.base
        assert case.before.total in range(51)


@pytest.mark.parametrize(
    ("case", "ours", "theirs"),
    [
        (verdict.Case("break", 1.0, 0.0, RunCounts(), 1), ("new", 8), ("new", 3)),
        (verdict.Case("existing", 1.0, 1.0, RunCounts(), 1), ("existing", 6), ("existing", 3)),
        (verdict.Case("race", 0.0, 0.0, RunCounts(), 1), ("unsure", 18), ("flaky", 2)),
    ],
)
def test_a_case_without_chance_has_one_course(
    case: verdict.Case, ours: tuple[str, int], theirs: tuple[str, int]
) -> None:
    for rule, expected in ((verdict.judged, ours), (verdict.reference, theirs)):
        found = rule(case)
        assert (found.verdict, found.runs) == expected


def test_the_brier_score_is_the_distance_from_the_truth() -> None:
    case = verdict.Case("break", 1.0, 0.0, RunCounts(), 1)
    assert verdict.brier([verdict.Judged(case, "new", 1.0, 8)]) == pytest.approx(0.25)
    assert verdict.brier([verdict.reference(case)]) == 0
