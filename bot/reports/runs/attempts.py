"""What each attempt of a run came to: the table of attempts, and what each did to the errors that were open.

Pull requests and check runs tell of checked changes alone (`reports.runs.validation`); here attempts without one
count."""

from __future__ import annotations

from collections.abc import Mapping

from bot.model import Language, RunView, Validation
from bot.model.report_views import Attempt
from bot.reports.format.error_line import readable
from bot.reports.format.markdown import details, table, within
from bot.reports.format.truncate import inline_code
from bot.reports.locale.catalog import bullets, t
from bot.reports.runs.validation import is_flaky, outcome

_ROWS = 20
_PATHS = 5
_ERRORS = 5
_ERROR_CHARS = 160
_ROOM = 12_000
_KINDS = ("fixed", "remaining", "introduced")
_LISTED = ("introduced", "fixed")
"""What remains would stand in every attempt's list; it is told once, of the last one (`reports.runs.validation`)."""


def attempts_table(view: RunView, language: Language) -> str:
    """A row for each attempt, the base first where it was checked; the last 20 where there were more. Empty where
    nothing was tried."""
    if not view.attempts:
        return ""
    head = [t(language, key) for key in ("attempt", "agent", "result", "attempts.errors", "time")]
    rows = []
    if view.baseline is not None:
        rows.append([t(language, "attempts.before"), "–", *_outcome(view.baseline, "", language)])
    for one in view.attempts[-_ROWS:]:
        agent = inline_code(one.agent, 60) if one.agent else "–"
        rows.append([str(one.attempt), agent, *_result(one, language)])
    return table(head, rows)


def _result(one: Attempt, language: Language) -> tuple[str, str, str]:
    if one.validation is None:
        return t(language, f"attempts.{one.result}"), "–", "–"
    return _outcome(one.validation, figures(one, language), language)


def _outcome(validation: Validation, errors: str, language: Language) -> tuple[str, str, str]:
    result, time = outcome(validation, language)
    if validation.passed and is_flaky(validation):
        result = t(language, "result.flaky")
    return result, errors or "–", time


def figures(one: Attempt, language: Language) -> str:
    """`1 fixed · 2 remaining · 3 new`, without what is none; empty where there is nothing to tell."""
    if one.error_delta is None:
        return ""
    counts = ((kind, len(getattr(one.error_delta, kind))) for kind in _KINDS)
    return " · ".join(t(language, f"errors.{kind}", count=number) for kind, number in counts if number)


def attempts_folded(view: RunView, language: Language, *, least: int = 1, listed: int = 0) -> str:
    """The table and what each attempt did, folded; empty below that number of attempts. `listed` as below."""
    if len(view.attempts) < least:
        return ""
    account = attempts_account(view, language, listed=listed)
    return details(f"{t(language, 'attempts')} ({len(view.attempts)})", account)


def attempts_account(view: RunView, language: Language, *, listed: int = 0) -> str:
    """The table and, for each attempt that changed something, its files and the errors that came and went. Of the last
    checked one these are left out where the reader has them already: up to `listed` of each kind (`error_delta`)."""
    last = next((one for one in reversed(view.attempts) if one.error_delta is not None), None)
    known = last if last is not None and _is_listed(last, view, listed) else None
    words = dict(view.printed)
    stories = (_story(one, words, language, errors=one is not known) for one in view.attempts[-_ROWS:] if one.paths)
    return "\n\n".join([attempts_table(view, language), *within(stories, _ROOM)])


def _is_listed(one: Attempt, view: RunView, most: int) -> bool:
    return one.error_delta == view.error_delta and all(len(getattr(one.error_delta, kind)) <= most for kind in _LISTED)


def _story(one: Attempt, words: Mapping[str, str], language: Language, *, errors: bool) -> str:
    shown = [inline_code(path) for path in one.paths[:_PATHS]]
    left = len(one.paths) - len(shown)
    more = f" {t(language, 'more', count=left)}" if left else ""
    head = t(language, "attempts.item", attempt=one.attempt, paths=", ".join(shown) + more)
    return "\n\n".join([head, *(_errors(one, words, language) if errors else ())])


def _errors(one: Attempt, words: Mapping[str, str], language: Language) -> tuple[str, ...]:
    """A list of the first five that came and that went."""
    if one.error_delta is None:
        return ()
    lines = []
    for kind in _LISTED:
        errors = getattr(one.error_delta, kind)
        shown = [f"- {t(language, f'errors.of.{kind}', error=_code(error, words))}" for error in errors[:_ERRORS]]
        lines += [bullets(shown, len(errors), language)] if errors else []
    return ("\n".join(lines),) if lines else ()


def _code(error: str, words: Mapping[str, str]) -> str:
    return inline_code(readable(error, words.get(error, "")), _ERROR_CHARS)
