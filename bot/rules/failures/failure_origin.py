"""Decides whether a failure of a pull request's check is new, flaky, or an existing failure of the base. All three
follow from comparing runs: of the head commit, of the same commit again, and of the base (spec H)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from bot.model.pulls import CheckStatus, Failure, Verdict
from bot.rules.failures.normalize import test_of

WHOLE = ""
"""Stands for a check as a whole, where no error of it can be named."""

NOT_RUN = "(could not run)"
"""Stands for a check that never ran, where errors are listed that a fix need not clear; no error is spelt like it."""


def shown(passed: bool, errors: Iterable[str]) -> tuple[str, ...]:
    """The errors of one run for `judge_failures`: none of a run that passed, else its errors
    (`errors.printed_errors`), or `WHOLE` where it shows none."""
    return () if passed else tuple(errors) or (WHOLE,)


def judge_failures(
    first: Sequence[str], again: Sequence[str] | None, base: Sequence[str] | None
) -> tuple[Failure, ...]:
    """One verdict for each failure of a failed check, in the order in which they were seen.

    `first` and `again` are what the failed run and its rerun at the same commit showed, `base` what the same check
    shows on the base commit, each as `shown` gives it: empty where it passed. None is a run that there was not, or that
    showed nothing. What is in only one of two runs of one tree is flaky; else what the base shows too is the base's.
    A failed test is the same by its name, whatever it fails with; any other error by its text.

    A rerun that failed with other errors than the first cleared nothing: `WHOLE` then stands for the check, which
    failed each time. So all failures are flaky exactly where the rerun passed."""
    runs = [_named(run) for run in (first, again) if run is not None]
    errors: dict[str, str] = {}
    for error in [*first, *(again or ())]:
        if error:
            errors.setdefault(_same(error), error)
    lasting = frozenset.intersection(*runs)
    before = None if base is None else _named(base)
    judged = [Failure(error=error, verdict=_verdict(name in lasting, before, name)) for name, error in errors.items()]
    if not lasting and (not errors or again is None or len(again) > 0):
        judged.append(Failure(error=WHOLE, verdict=_of_the_whole(list(errors), again, base)))
    return tuple(judged)


def _same(error: str) -> str:
    """The identity of a failure: of a test its name."""
    return test_of(error) or error


def _named(run: Iterable[str]) -> frozenset[str]:
    return frozenset(_same(error) for error in run if error)


def _verdict(lasts: bool, base: frozenset[str] | None, name: str) -> Verdict:
    if not lasts:
        return "flaky"
    return "also_on_base" if base is not None and name in base else "new"


def _of_the_whole(errors: Sequence[str], again: Sequence[str] | None, base: Sequence[str] | None) -> Verdict:
    """The base fails likewise where it shows everything that was seen here: with nothing to see, where it is silent."""
    if again is not None and not again:
        return "flaky"
    return "also_on_base" if base is not None and set(errors or (WHOLE,)) <= set(map(_same, base)) else "new"


def green(check: CheckStatus) -> bool:
    """Whether the check needs no re-run: it is completed, and passed or was not to be run."""
    return check.status == "completed" and check.conclusion in ("success", "skipped")


def fixable(checks: Iterable[CheckStatus]) -> tuple[str, ...]:
    """The names of the checks in which something new failed, all that *Fix* may work on (spec H: flaky failures and the
    base's are never "fixed")."""
    return tuple(check.name for check in checks if check.new)
