"""The trial of guidance: who is in which group, what the difference is, and when a known error is muted."""

from __future__ import annotations

import random

import pytest

from bot.rules.history.guidance_trial import is_muted, is_withheld, trial_of


def test_one_of_ten_runs_gets_no_guidance_always_the_same() -> None:
    runs = [f"fix-{number:06x}" for number in range(10_000)]
    withheld = [run for run in runs if is_withheld(run)]
    assert 900 < len(withheld) < 1_100
    assert withheld == [run for run in runs if is_withheld(run)]


@pytest.mark.parametrize(
    ("figures", "difference", "low", "high"),
    [
        # examples of Newcombe 1998, table II, method 10
        ((56, 70, 48, 80), 0.2000, 0.0524, 0.3339),
        ((6, 7, 2, 7), 0.5714, 0.0582, 0.8062),
        ((10, 10, 0, 20), 1.0, 0.6791, 1.0),
    ],
)
def test_the_interval_is_newcombes(
    figures: tuple[int, int, int, int], difference: float, low: float, high: float
) -> None:
    """REQ-RA-313."""
    passed, shown, withheld_passed, withheld = figures
    trial = trial_of(shown, passed, withheld, withheld_passed)
    assert trial.difference == pytest.approx(difference, abs=1e-4)
    assert trial.low == pytest.approx(low, abs=1e-4)
    assert trial.high == pytest.approx(high, abs=1e-4)


def test_an_empty_group_has_no_difference() -> None:
    assert trial_of(9, 5, 0, 0).difference is trial_of(0, 0, 9, 5).low is None


def test_a_known_error_is_muted_where_runs_without_it_pass_and_runs_with_it_do_not() -> None:
    assert is_muted(trial_of(30, 0, 6, 6))
    assert not is_muted(trial_of(30, 15, 6, 6))
    assert not is_muted(trial_of(30, 30, 6, 0))
    assert not is_muted(trial_of(9, 0, 6, 6))
    assert not is_muted(trial_of(900, 0, 4, 4))


def test_guidance_without_effect_is_hardly_ever_muted_although_it_is_judged_after_each_run() -> None:
    rng = random.Random(1)

    def ever_muted(with_guidance: float, without: float) -> bool:
        shown = shown_passed = withheld = withheld_passed = 0
        for _ in range(300):
            if rng.random() < 0.1:
                withheld, withheld_passed = withheld + 1, withheld_passed + (rng.random() < without)
            else:
                shown, shown_passed = shown + 1, shown_passed + (rng.random() < with_guidance)
            if is_muted(trial_of(shown, shown_passed, withheld, withheld_passed)):
                return True
        return False

    assert sum(ever_muted(share, share) for share in (0.3, 0.5, 0.8) for _ in range(100)) <= 6
    assert sum(ever_muted(0.1, 0.7) for _ in range(20)) >= 18
