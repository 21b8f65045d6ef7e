"""Terminal lines at the end of `mendbot fix`: what was changed, what the checks showed, and where the files are."""

from __future__ import annotations

from collections.abc import Iterator

from bot.model import ChangedFile, Language, SessionSummary, Status, Validation, ValidationStep
from bot.model.reasons import ExplainedStop
from bot.model.report_views import Attempt
from bot.reports.format.truncate import inline_code, one_line
from bot.reports.locale.catalog import t
from bot.reports.locale.reasons import reason_text
from bot.reports.runs.candidates import candidate_words
from bot.reports.runs.proof import proof_line
from bot.reports.runs.usage import usage_words
from bot.reports.runs.validation import verdict

__all__ = ["session_lines"]

_MAX_FILES = 20
_MAX_STEPS = 20
_DETAILS_CHARS = 500
_COMMAND_CHARS = 60


def session_lines(summary: SessionSummary, language: Language) -> tuple[str, ...]:
    """Returns the end of a session in a few lines, which claim only what its checks have shown."""
    return tuple(_lines(summary, language))


def _lines(summary: SessionSummary, language: Language) -> Iterator[str]:
    yield _headline(summary, language)
    if summary.proof is not None:
        yield proof_line(summary.proof, language)
    if summary.stop is not None:
        yield t(language, "session.stopped", reason=summary.stop.reason, details=_details(summary.stop, language))
    if summary.changed:
        yield t(language, "session.changed", files=_files(summary.changed, language))
    yield _checks("session.before", summary.before, language)
    if summary.attempt:
        yield _checks("session.after", summary.after, language, refused=summary.refused is not None)
    if summary.refused is not None:
        yield t(language, "session.refused", why=one_line(reason_text(summary.refused, language), _DETAILS_CHARS))
    yield from (_candidates(attempt, language) for attempt in summary.chosen)
    if summary.usage is not None and (used := usage_words(summary.usage, language)):
        yield used
    if summary.diff is not None:
        yield t(language, "session.diff" if summary.status is Status.SUCCESS else "session.tried", path=summary.diff)
    if summary.best_diff is not None:
        yield t(language, "session.best", attempt=summary.best_attempt, path=summary.best_diff)
    if summary.found:
        yield t(language, "session.found", paths=", ".join(summary.found[:_MAX_FILES]))
    yield t(language, "session.logs", path=summary.directory)


def _candidates(attempt: Attempt, language: Language) -> str:
    """Returns the candidates of an attempt in one line, the one that was taken marked."""
    shown = []
    for one in attempt.candidates:
        number = str(one.candidate)
        number = t(language, "candidates.taken", candidate=number) if one.candidate == attempt.winner else number
        shown.append(f"{number} {candidate_words(one, language)}")
    return t(language, "session.candidates", attempt=attempt.attempt, candidates="; ".join(shown))


def _headline(summary: SessionSummary, language: Language) -> str:
    if summary.status is Status.SUCCESS:
        key = "session.fixed" if summary.proof is not None and summary.proof.proven else "session.unshown"
    else:
        key = "session.cancelled" if summary.status is Status.CANCELLED else "session.failed"
        key = key if summary.attempt else f"{key}.none"
    return t(language, key, attempt=summary.attempt, most=summary.most)


def _details(stop: ExplainedStop, language: Language) -> str:
    return one_line(reason_text(stop.details, language), _DETAILS_CHARS)


def _files(changed: tuple[ChangedFile, ...], language: Language) -> str:
    shown = [f"{one_line(file.path)} (+{file.added} -{file.removed})" for file in changed[:_MAX_FILES]]
    more_count = len(changed) - len(shown)
    return ", ".join([*shown, t(language, "more.files", count=more_count)] if more_count else shown)


def _checks(key: str, validation: Validation | None, language: Language, *, refused: bool = False) -> str:
    """Returns the results of the checks in one line; `refused`: the change was refused after the last one passed."""
    if validation is None:
        return t(language, f"{key}.none")
    steps = [f"{_name(step)} {verdict(step, language)}" for step in validation.steps[:_MAX_STEPS]]
    if refused and len(steps) == len(validation.steps) > 0:
        steps[-1] = f"{_name(validation.steps[-1])} {t(language, 'result.refused')}"
    return t(language, key, checks=", ".join(steps))


def _name(step: ValidationStep) -> str:
    """Returns the name of the check, or for a command of the session's own the command, which has no other name."""
    return step.stage if step.stage != "custom" else inline_code(step.command, _COMMAND_CHARS)
