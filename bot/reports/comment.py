"""The one comment on an issue, which is edited as its run goes on: what is happening, what came of it, what to do next.

Its readers may know nothing of Mendbot, so each state says first what it means for them (spec G.2, G.4)."""

from __future__ import annotations

import re

from bot.model import Language, RunView, Status, ValidationStep
from bot.reports.known import known_errors
from bot.reports.limits import COMMENT_CHARS, cut_lines, fence, inline_code, strip_control
from bot.reports.prose import details, escape, link, page
from bot.reports.text import SENTENCES, count, duration, joined, say
from bot.reports.validation import (
    attempts_table,
    checks_table,
    evidence,
    failed_step,
    how_it_ended,
    is_flaky,
    latest,
    movement,
)

_FIGURES = re.compile(r"\d[\w.]*/\d[\w.]*|\d+")
_PATH = re.compile(r"\S*[/.\\]\S")
_TROUBLES = 5
_COUNTED = frozenset({"max_iterations", "max_duration", "no_progress"})
"""Reasons whose sentence is in the table, so that of their details only the figures are wanted (REQ-STOP-001)."""

_INLINE_PATHS = 5
_LISTED_PATHS = 100
_LISTED_ERRORS = 2


def issue_comment(view: RunView, language: Language = "en") -> str:
    """The comment's body without its marker, at most 65,000 characters. Logs in `view` must be redacted already."""
    states = {
        Status.QUEUED: _queued,
        Status.RUNNING: _running,
        Status.SUCCESS: _success,
        Status.FAILED: _failed,
        Status.CANCELLED: _cancelled,
    }
    footer = _footer(view, language)
    body = page(states[view.status](view, language), COMMENT_CHARS - len(footer) - 2)
    return f"{body}\n\n{footer}"


def _queued(view: RunView, language: Language) -> list[str]:
    reason = say(language, "queued.soon")
    if view.waiting_for:
        reason = say(language, "queued.waiting", what=escape(view.waiting_for))
    return [say(language, "queued"), reason, _group(view, language)]


def _running(view: RunView, language: Language) -> list[str]:
    return [
        _progress(view, language),
        _group(view, language),
        attempts_table(view, language) if view.validations else "",
        movement(view, language),
        known_errors(view, language),
    ]


def _progress(view: RunView, language: Language) -> str:
    if view.phase is None:
        return say(language, "running.start")
    phase = say(language, f"phase.{view.phase}")
    if view.attempt == 0:
        return say(language, "running.preparing", phase=phase)
    return say(language, "running", attempt=view.attempt, most=view.max_attempts, phase=phase)


def _success(view: RunView, language: Language) -> list[str]:
    if view.pull is not None:
        pull = link(say(language, "pull", number=view.pull.number), view.pull.url)
        key = "success.pull" if view.issues else "success.task"
        outcome = say(language, key, pull=pull, issues=_issues(view, language))
    else:
        outcome = say(language, "success.local", branch=inline_code(view.branch))
    validation = latest(view)
    return [
        say(language, "success"),
        outcome,
        _made_by(view, language),
        changed_paths(view, language),
        checks_table(validation, language) if validation and validation.steps else "",
        say(language, "success.flaky") if is_flaky(validation) else "",
        _attempts_folded(view, language),
        _because(view, language),
    ]


def _made_by(view: RunView, language: Language) -> str:
    if not view.agents:
        return ""
    agent = inline_code(view.agents[-1], 60)
    by = say(language, "success.by", agent=agent, attempt=view.attempt, most=view.max_attempts)
    return f"{by} {say(language, 'success.review')}"


def _failed(view: RunView, language: Language) -> list[str]:
    step = failed_step(latest(view))
    return [
        say(language, "failed"),
        f"{_stopped(view, language)} {_pushed(view, language)}",
        _long_details(view),
        _what_failed(view, step, language) if step else "",
        movement(view, language, listed=_LISTED_ERRORS),
        known_errors(view, language),
        _attempts(view, language),
        _not_taken(view, language),
        _next_steps(view, step, language),
        _group(view, language) if len(view.issues) > 1 else "",
    ]


def _cancelled(view: RunView, language: Language) -> list[str]:
    why = _sentence(view.stop.details) if view.stop else ""
    steps = [_again(view, language), *_salvage(view, language)]
    return [
        say(language, "cancelled"),
        f"{why or say(language, 'cancelled.plain')} {_pushed(view, language)}",
        "\n".join(f"- {step}" for step in steps),
        _attempts_folded(view, language),
    ]


def _stopped(view: RunView, language: Language) -> str:
    if view.stop is None:
        return say(language, "stop.other") + "."
    key, name, told = f"stop.{view.stop.reason}", inline_code(view.stop.reason, 60), view.stop.details
    why = say(language, key if key in SENTENCES[language] else "stop.other")
    figures = _FIGURES.search(told) if view.stop.reason in _COUNTED else None
    if figures is not None:
        return say(language, "stopped.figures", why=why, name=name, figures=figures.group())
    return " ".join([say(language, "stopped", why=why, name=name), "" if _is_long(told) else _sentence(told)]).strip()


def _sentence(told: str) -> str:
    """Details, which rules write as fragments, as a sentence of their own; a path in front keeps its case."""
    words = escape(told)
    first = words[:1] if _PATH.match(words) else words[:1].upper()
    return first + words[1:] + ("" if words.endswith((".", "!", "?", "…")) else ".") if words else ""


def _is_long(text: str) -> bool:
    return "\n" in text.strip() or len(text) > 240


def _long_details(view: RunView) -> str:
    if view.stop is None or not _is_long(view.stop.details):
        return ""
    return fence(cut_lines(strip_control(view.stop.details).strip("\n")), "text")


def _pushed(view: RunView, language: Language) -> str:
    if view.commit_sha is None:
        return say(language, "nothing_pushed")
    return say(language, "pushed", branch=inline_code(view.branch))


def _what_failed(view: RunView, step: ValidationStep, language: Language) -> str:
    facts = [inline_code(step.stage, 40), inline_code(step.command, 200), how_it_ended(step, language)]
    line = " · ".join([*facts, duration(language, step.duration_ms)])
    return f"**{say(language, 'failure.title')}:** {line}\n\n{evidence(view, step, language)}"


def _attempts(view: RunView, language: Language) -> str:
    if not view.validations:
        return ""
    broken = view.attempt - len(view.validations)
    note = "\n\n" + count(language, "attempts.broken", broken) if broken > 0 else ""
    return f"**{say(language, 'attempts')}**\n\n{attempts_table(view, language)}{note}"


def _not_taken(view: RunView, language: Language) -> str:
    """The changes that were refused or did not apply; what the stop reason says already is not said again."""
    said = view.stop.details if view.stop else ""
    lines = [f"- {escape(trouble)}" for trouble in dict.fromkeys(view.troubles) if trouble not in said]
    return f"**{say(language, 'not_taken')}**\n\n" + "\n".join(lines[-_TROUBLES:]) if lines else ""


def _attempts_folded(view: RunView, language: Language) -> str:
    if len(view.validations) < 2:
        return ""
    return details(say(language, "attempts"), attempts_table(view, language))


def _next_steps(view: RunView, step: ValidationStep | None, language: Language) -> str:
    keys = [f"next.{view.stop.reason}"] if view.stop else []
    if step is not None:
        keys.append("next.timed_out" if step.timed_out else f"next.{step.classification or 'unknown'}")
    stage = step.stage if step is not None else ""
    hints = [say(language, key, stage=stage) for key in keys if key in SENTENCES[language]]
    lines = [*hints[:2], _again(view, language), *_salvage(view, language)]
    return f"**{say(language, 'next.title')}**\n\n" + "\n".join(f"- {line}" for line in lines)


def _again(view: RunView, language: Language) -> str:
    if not view.issues:
        return say(language, "next.again.task")
    return say(language, "next.again", label=inline_code(view.trigger_label, 60))


def _salvage(view: RunView, language: Language) -> list[str]:
    return [say(language, "next.salvage", ref=inline_code(view.salvage_ref))] if view.salvage_ref else []


def changed_paths(view: RunView, language: Language) -> str:
    """What the run changed: a line for a few files, a folded list for many, nothing for none."""
    paths = [inline_code(path) for path in view.changed_paths[:_LISTED_PATHS]]
    title = say(language, "changed")
    if not paths:
        return ""
    if len(paths) <= _INLINE_PATHS:
        return f"**{title}:** {', '.join(paths)}"
    left = len(view.changed_paths) - len(paths)
    lines = [f"- {path}" for path in paths] + ([f"- {say(language, 'more', count=left)}"] if left else [])
    return details(f"{title} ({len(view.changed_paths)})", "\n".join(lines))


def _issues(view: RunView, language: Language) -> str:
    return joined(language, [f"#{issue.number}" for issue in view.issues])


def _group(view: RunView, language: Language) -> str:
    if not view.branch:
        return _because(view, language)
    branch = inline_code(view.branch)
    if len(view.issues) < 2:
        return say(language, "alone", branch=branch)
    return (
        f"{say(language, 'together', issues=_issues(view, language), branch=branch)} {_because(view, language)}".strip()
    )


def _because(view: RunView, language: Language) -> str:
    if len(view.issues) < 2 or not view.reasons:
        return ""
    return say(language, "because", reasons="; ".join(escape(reason) for reason in view.reasons[:5]))


def _footer(view: RunView, language: Language) -> str:
    parts = [say(language, "footer", run=inline_code(view.run_id, 80))]
    if view.sandbox:
        parts.append(say(language, "footer.sandbox", sandbox=escape(view.sandbox)))
    return f"<sub>{' · '.join(parts)}</sub>"
