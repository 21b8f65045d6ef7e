"""Names what a failed check shows, and which checks of a head need a re-run or may be fixed (spec H). Whose failure it
is follows from runs on head and base (`rules.pulls.check_runs`)."""

from __future__ import annotations

from collections.abc import Iterable

from bot.model.pulls import CheckStatus

WHOLE = ""
"""Stands for a check as a whole, where no error of it can be named."""

NOT_RUN = "(could not run)"
"""Stands for a check that never ran, where errors are listed that a fix need not clear; no error is spelt like it."""


def shown(passed: bool, errors: Iterable[str]) -> tuple[str, ...]:
    """The errors of one run: none of a run that passed, else its errors
    (`errors.printed_errors`), or `WHOLE` where it shows none."""
    return () if passed else tuple(errors) or (WHOLE,)


def green(check: CheckStatus) -> bool:
    """Whether the check needs no re-run: it is completed, and passed or was not to be run."""
    return check.status == "completed" and check.conclusion in ("success", "skipped")


def fixable(checks: Iterable[CheckStatus]) -> tuple[str, ...]:
    """The names of the checks with failures of the pull request, all that *Fix* may work on (spec H: other failures are
    never "fixed")."""
    return tuple(check.name for check in checks if check.new)
