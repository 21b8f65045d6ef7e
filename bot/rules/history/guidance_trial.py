"""The trial of guidance: in one of ten runs, agents get no guidance, so that its effect can be measured."""

from __future__ import annotations

from hashlib import sha256
from math import sqrt

from bot.model import KnownError
from bot.model.events.runs import AttemptStarted
from bot.model.guidance_trial import GuidanceTrial

ONE_IN = 10
"""One of so many runs gets no guidance."""
MIN_SHOWN = 10
"""The minimal number of runs that were shown a known error, before it can be muted."""
MIN_WITHHELD = 5
"""The minimal number of runs from which it was withheld, before it can be muted."""
_Z_REPORTED = 1.96
_Z_MUTED = 3.29
"""99.9 % in place of 95 %, since the figures are looked at again before every attempt."""


def is_withheld(run_id: str) -> bool:
    """Whether a run belongs to the group without guidance; the same at every call."""
    return int.from_bytes(sha256(run_id.encode()).digest()[:8], "big") % ONE_IN == 0


def on_trial(event: AttemptStarted) -> tuple[KnownError, ...]:
    """The known errors of an attempt that count in the trial: all that are not muted."""
    return tuple(known for known in event.guidance if known.id not in event.muted)


def briefed(event: AttemptStarted) -> tuple[KnownError, ...]:
    """The known errors of an attempt that agents get."""
    return () if event.withheld else on_trial(event)


def trial_of(shown: int, shown_passed: int, withheld: int, withheld_passed: int) -> GuidanceTrial:
    """The figures of a trial, with the difference of the groups and its interval."""
    trial = GuidanceTrial(shown=shown, shown_passed=shown_passed, withheld=withheld, withheld_passed=withheld_passed)
    if not (shown and withheld):
        return trial
    low, high = _interval(trial, _Z_REPORTED)
    difference = shown_passed / shown - withheld_passed / withheld
    return trial.model_copy(update={"difference": difference, "low": low, "high": high})


def is_muted(trial: GuidanceTrial) -> bool:
    """Whether the figures of one known error show that runs with its guidance pass more rarely than runs without."""
    if trial.shown < MIN_SHOWN or trial.withheld < MIN_WITHHELD:
        return False
    return _interval(trial, _Z_MUTED)[1] < 0


def _interval(trial: GuidanceTrial, z: float) -> tuple[float, float]:
    """Newcombe's interval of the difference of two proportions, made of the Wilson intervals of both (method 10 in
    *Interval estimation for the difference between independent proportions*, 1998)."""
    one, other = trial.shown_passed / trial.shown, trial.withheld_passed / trial.withheld
    (low_one, high_one), (low_other, high_other) = _wilson(one, trial.shown, z), _wilson(other, trial.withheld, z)
    below = sqrt((one - low_one) ** 2 + (high_other - other) ** 2)
    above = sqrt((high_one - one) ** 2 + (other - low_other) ** 2)
    return one - other - below, one - other + above


def _wilson(share: float, count: int, z: float) -> tuple[float, float]:
    middle = (share + z * z / (2 * count)) / (1 + z * z / count)
    half = z * sqrt(share * (1 - share) / count + z * z / (4 * count * count)) / (1 + z * z / count)
    return middle - half, middle + half
