"""Makes reasons: why issues are together, why a run stopped or waits, why a change was refused.

A reason is a value; `reports.locale` words it. Rules hold no sentence."""

from __future__ import annotations

from collections.abc import Iterable
from functools import reduce

from bot.errors import MendbotError
from bot.model.reasons import Reason, make_reason, quoted

__all__ = ["all_reasons", "any_of", "error_reason", "make_reason", "quoted"]


def error_reason(error: MendbotError) -> Reason:
    """Why it was raised."""
    return quoted(str(error)) if error.because is None else error.because


def all_reasons(reasons: Iterable[Reason], limit: int | None = None) -> Reason:
    """All of them as one, the first `limit` of them in full."""
    every = tuple(reasons)
    if len(every) == 1:
        return every[0]
    if limit is None or len(every) <= limit:
        return make_reason("all", reasons=every)
    return make_reason("all.more", reasons=every[:limit], more=len(every) - limit)


def any_of(names: Iterable[str]) -> Reason:
    """The names as alternatives, of which one is enough; there must be at least one."""
    return reduce(lambda first, other: make_reason("any_of", first=first, other=other), map(quoted, names))
