"""The texts of a validation: which step failed and how, the table of checks, the table of changes."""

from __future__ import annotations

import signal
from collections.abc import Mapping
from typing import Literal

from bot.model import CheckResult, CouldNotRun, Language, RunView, Validation, ValidationStep
from bot.reports.format.error_line import readable
from bot.reports.format.markdown import escape, table
from bot.reports.format.truncate import cut_lines, cut_middle, fence, inline_code, strip_control
from bot.reports.locale.catalog import duration, gigabytes, joined, t
from bot.reports.runs.missing_setup import setup_sentence

EVIDENCE_LINES = 40
"""Spec G.4: the first error block, at most 40 lines."""

_EVIDENCE_CHARS = 12_000
_MAX_ROWS = 20
_MAX_RESTORED = 5
_ERROR_CHARS = 160
_KINDS: tuple[Literal["introduced", "remaining", "fixed"], ...] = ("introduced", "remaining", "fixed")


def latest(view: RunView) -> Validation | None:
    """Returns the last validation, or that of the base if no attempt was validated."""
    return view.validations[-1] if view.validations else view.baseline


def failed_step(validation: Validation | None) -> ValidationStep | None:
    """Returns the first step that neither passed nor was skipped."""
    steps = validation.steps if validation else ()
    return next((step for step in steps if not step.passed and not step.skipped), None)


def how_it_ended(step: CheckResult | ValidationStep, language: Language) -> str:
    """Returns `exit code 1`, `timed out`, `killed by signal SIGKILL`, `could not run: pytest was not found` or the
    like."""
    if step.could_not_run is not None:
        return t(language, "failure.unable", why=hindrance(step.could_not_run, language))
    if step.timed_out:
        return t(language, "failure.timed_out")
    if step.over_memory_mb:
        return t(language, "failure.over_memory", memory=gigabytes(step.over_memory_mb))
    if step.exit_code is None:
        return t(language, "failure.not_started")
    if step.exit_code >= 0:
        return t(language, "failure.exit", code=step.exit_code)
    known = {member.value: member.name for member in signal.Signals}
    return t(language, "failure.signal", signal=known.get(-step.exit_code, str(-step.exit_code)))


def verdict(step: ValidationStep, language: Language) -> str:
    """Returns the text of a table cell: `passed`, `failed, 2 findings`, `timed out`, `skipped`, …"""
    if step.skipped:
        return t(language, "result.skipped")
    if step.could_not_run is not None:
        return t(language, "result.unable")
    if step.passed:
        key = "result.tolerated" if step.tolerated else "result.flaky" if step.flaky else "result.passed"
        return t(language, key)
    if step.timed_out:
        return t(language, "result.timed_out")
    if step.over_memory_mb:
        return t(language, "result.over_memory")
    if step.test_counts.failed:
        return t(language, "result.tests", count=step.test_counts.failed)
    if step.annotations:
        return t(language, "result.findings", count=len(step.annotations))
    return t(language, "result.failed")


def remedy(step: ValidationStep) -> str:
    """Returns the name of the remedy for a failed step, whose message is `next.NAME`."""
    limit = "timed_out" if step.timed_out else "over_memory" if step.over_memory_mb else None
    return limit or step.classification or "unknown"


def stopped_title(step: ValidationStep, time: str, language: Language) -> str:
    """Returns the title of a check run whose command was stopped at a limit."""
    if step.timed_out:
        return t(language, "check.timed_out", time=time)
    return t(language, "check.over_memory", time=time, memory=gigabytes(step.over_memory_mb))


def is_flaky(validation: Validation | None) -> bool:
    """Returns whether a step passed only when it was run again on the same tree."""
    return any(step.flaky for step in validation.steps) if validation else False


def what_ran(view: RunView, language: Language) -> str:
    """Returns how certain it is that the same tests ran before and after the change; empty if they were compared."""
    return t(language, f"tests.{view.what_ran}") if view.what_ran in ("unnamed", "not_before") else ""


def checks_table(validation: Validation, language: Language) -> str:
    """Returns a row for each step, with its command and duration; below them the files that checks altered."""
    head = [t(language, key) for key in ("check", "command", "result", "time")]
    rows = [
        [
            inline_code(step.stage, 40),
            inline_code(step.command, 120) if step.command else "–",
            verdict(step, language),
            "–" if step.skipped else duration(language, step.duration_ms),
        ]
        for step in validation.steps[:_MAX_ROWS]
    ]
    notes = [restored_note(step, language) for step in validation.steps[:_MAX_ROWS]]
    return "\n\n".join(part for part in (table(head, rows), *notes) if part)


def restored_note(step: ValidationStep, language: Language) -> str:
    """Returns which files the check had altered, and that they were restored; empty if it altered none."""
    if not step.restored:
        return ""
    shown = [inline_code(path, 120) for path in step.restored[:_MAX_RESTORED]]
    more_count = max(step.restored_count, len(step.restored)) - len(shown)
    paths = joined(language, [*shown, t(language, "more.files", count=more_count)] if more_count else shown)
    return t(language, "restored", stage=inline_code(step.stage, 40), paths=paths)


def hindrance(unable: CouldNotRun, language: Language) -> str:
    """Returns why a check could not run, as a fragment of a sentence."""
    what = escape(unable.what) if unable.hindrance == "not_started" else inline_code(unable.what, 120)
    return t(language, f"unable.{unable.hindrance}", what=what)


def changes_table(view: RunView, language: Language) -> str:
    """Returns the result of each checked change, preceded by the base if it was checked; at most the last 20
    changes."""
    head = [t(language, key) for key in ("change", "agent", "result", "time")]
    rows = [[t(language, "attempts.before"), "–", *outcome(view.baseline, language)]] if view.baseline else []
    for index, validation in list(enumerate(view.validations))[-_MAX_ROWS:]:
        agent = inline_code(view.agents[index], 60) if index < len(view.agents) else "–"
        rows.append([str(index + 1), agent, *outcome(validation, language)])
    return table(head, rows)


def outcome(validation: Validation, language: Language) -> tuple[str, str]:
    """Returns the result of the checks of a change, and their total time."""
    step = failed_step(validation)
    time = duration(language, sum(each.duration_ms for each in validation.steps))
    if step is None:  # a change may be rejected although no check failed
        return t(language, "result.passed" if validation.passed else "result.refused"), time
    return f"{inline_code(step.stage, 40)} {verdict(step, language)}", time


def error_delta(view: RunView, language: Language, *, listed: int = 0) -> str:
    """Returns how many errors the last checked change fixed, left open and introduced; empty if nothing can be
    compared.

    The first `listed` errors of each kind follow, new ones first."""
    compared = view.error_delta is not None and len(view.validations) + (view.baseline is not None) > 1
    if view.error_delta is None or not compared:
        return ""
    kinds = {name: getattr(view.error_delta, name) for name in _KINDS}
    figures = [t(language, f"errors.{name}", count=len(kinds[name])) for name in reversed(_KINDS) if kinds[name]]
    if not figures:
        return ""
    words = dict(view.printed)
    lines = [
        f"- {t(language, f'errors.of.{name}', error=_code(error, words))}"
        for name in _KINDS
        for error in kinds[name][:listed]
    ]
    head = f"**{t(language, 'errors')}:** {' · '.join(figures)}"
    return "\n\n".join([head, "\n".join(lines)]) if lines else head


def _code(error: str, words: Mapping[str, str]) -> str:
    """Returns the error as its tool printed it, if that was stored."""
    return inline_code(readable(error, words.get(error, "")), _ERROR_CHARS)


def only_warned(step: ValidationStep) -> bool:
    """Returns whether a check failed although it reported only warnings; its exit status then counts them as
    failures."""
    return not step.passed and bool(step.annotations) and all(each.level != "failure" for each in step.annotations)


def evidence(view: RunView, step: ValidationStep, language: Language) -> str:
    """Returns the failure as a fenced block of at most 40 lines.

    It is a sentence if the command printed nothing, or did not start because the project is not set up."""
    if step.could_not_run is not None and step.could_not_run.setup is not None:
        return setup_sentence(step.could_not_run.setup, language)
    text = strip_control(view.evidence or step.output).strip("\n")
    if not text.strip():
        return t(language, "failure.silent")
    return fence(cut_middle(cut_lines(text, EVIDENCE_LINES, language=language), _EVIDENCE_CHARS, language), "text")
