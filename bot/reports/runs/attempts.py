"""The attempts of a run: a table of their results, and how each changed the open errors.

Pull requests and check runs show only checked changes (`reports.runs.validation`); here attempts without one count
too."""

from __future__ import annotations

from collections.abc import Mapping

from bot.model import Language, RunView, Validation
from bot.model.report_views import Attempt
from bot.reports.format.error_line import readable
from bot.reports.format.markdown import details, table, within
from bot.reports.format.truncate import inline_code
from bot.reports.locale.catalog import bullets, t
from bot.reports.runs.usage import used
from bot.reports.runs.validation import is_flaky, outcome

_MAX_ROWS = 20
_MAX_PATHS = 5
_MAX_ERRORS = 5
_ERROR_CHARS = 160
_MAX_CHARS = 12_000
_KINDS = ("fixed", "remaining", "introduced")
_LISTED = ("introduced", "fixed")
"""Remaining errors would be in the list of every attempt; they are listed once, for the last one
(`reports.runs.validation`)."""


def attempts_table(view: RunView, language: Language) -> str:
    """Returns a row for each attempt, preceded by the base if it was checked; at most the last 20 attempts.

    Empty if there was no attempt."""
    if not view.attempts:
        return ""
    head = [t(language, key) for key in ("attempt", "agent", "result", "attempts.errors", "time")]
    rows = []
    shown = view.attempts[-_MAX_ROWS:]
    amounts = ["–", *(_used(attempt, language) for attempt in shown)]
    if view.baseline is not None:
        rows.append([t(language, "attempts.before"), "–", *_outcome(view.baseline, "", language)])
    for attempt in shown:
        agent = inline_code(attempt.agent, 60) if attempt.agent else "–"
        rows.append([str(attempt.attempt), agent, *_result(attempt, language)])
    if set(amounts) != {"–"}:
        head.append(t(language, "attempts.used"))
        rows = [[*row, words] for row, words in zip(rows, amounts[-len(rows) :], strict=True)]
    return table(head, rows)


def _used(attempt: Attempt, language: Language) -> str:
    """Returns what the agents of an attempt used, a dash if no model was asked."""
    usage = attempt.usage
    if usage is None or usage.used_no_model:
        return "–"
    return used(usage, language)


def _result(attempt: Attempt, language: Language) -> tuple[str, str, str]:
    if attempt.validation is None:
        return t(language, f"attempts.{attempt.result}"), "–", "–"
    return _outcome(attempt.validation, figures(attempt, language), language)


def _outcome(validation: Validation, errors: str, language: Language) -> tuple[str, str, str]:
    result, time = outcome(validation, language)
    if validation.passed and is_flaky(validation):
        result = t(language, "result.flaky")
    return result, errors or "–", time


def figures(attempt: Attempt, language: Language) -> str:
    """Returns the counts of errors, `1 fixed · 2 remaining · 3 new`, without zeros; empty if there are none."""
    if attempt.error_delta is None:
        return ""
    counts = ((kind, len(getattr(attempt.error_delta, kind))) for kind in _KINDS)
    return " · ".join(t(language, f"errors.{kind}", count=number) for kind, number in counts if number)


def attempts_folded(view: RunView, language: Language, *, min_attempts: int = 1, listed: int = 0) -> str:
    """Returns the table and what each attempt did, folded; empty for fewer than `min_attempts` attempts.

    `listed` is passed to `attempts_account`."""
    if len(view.attempts) < min_attempts:
        return ""
    account = attempts_account(view, language, listed=listed)
    return details(f"{t(language, 'attempts')} ({len(view.attempts)})", account)


def attempts_account(view: RunView, language: Language, *, listed: int = 0) -> str:
    """Returns the table, and for each attempt that changed files, the files and the errors fixed or introduced.

    The errors of the last checked attempt are left out if `error_delta` lists them all: up to `listed` of each kind."""
    last = next((each for each in reversed(view.attempts) if each.error_delta is not None), None)
    already_listed = last if last is not None and _is_listed(last, view, listed) else None
    words = dict(view.printed)
    items = (
        _attempt_details(attempt, words, language, errors=attempt is not already_listed)
        for attempt in view.attempts[-_MAX_ROWS:]
        if attempt.paths
    )
    return "\n\n".join([attempts_table(view, language), *within(items, _MAX_CHARS)])


def _is_listed(attempt: Attempt, view: RunView, max_listed: int) -> bool:
    delta = attempt.error_delta
    return delta == view.error_delta and all(len(getattr(delta, kind)) <= max_listed for kind in _LISTED)


def _attempt_details(attempt: Attempt, words: Mapping[str, str], language: Language, *, errors: bool) -> str:
    shown = [inline_code(path) for path in attempt.paths[:_MAX_PATHS]]
    more_count = len(attempt.paths) - len(shown)
    more = f" {t(language, 'more', count=more_count)}" if more_count else ""
    head = t(language, "attempts.item", attempt=attempt.attempt, paths=", ".join(shown) + more)
    return "\n\n".join([head, *(_errors(attempt, words, language) if errors else ())])


def _errors(attempt: Attempt, words: Mapping[str, str], language: Language) -> tuple[str, ...]:
    """Returns a list of the first five errors that were introduced, and of those that were fixed."""
    if attempt.error_delta is None:
        return ()
    lines = []
    for kind in _LISTED:
        errors = getattr(attempt.error_delta, kind)
        shown = [f"- {t(language, f'errors.of.{kind}', error=_code(error, words))}" for error in errors[:_MAX_ERRORS]]
        lines += [bullets(shown, len(errors), language)] if errors else []
    return ("\n".join(lines),) if lines else ()


def _code(error: str, words: Mapping[str, str]) -> str:
    return inline_code(readable(error, words.get(error, "")), _ERROR_CHARS)
