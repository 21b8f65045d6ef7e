"""The one comment on an issue, which is edited as its run goes on: what is happening, what came of it, what to do next.

Its readers may know nothing of Mendbot, so each state says first what it means for them (spec G.2, G.4)."""

from __future__ import annotations

import json
from typing import Any

from bot.model import Language, RunView, Status
from bot.reports.attempts import attempts_folded, attempts_table
from bot.reports.ending import (
    again,
    long_details,
    next_steps,
    not_taken,
    pushed,
    salvage,
    sentence,
    stopped,
    what_failed,
)
from bot.reports.footer import footer
from bot.reports.group import conflicts, group
from bot.reports.known import known_errors, seen_before
from bot.reports.left_alone import left_alone
from bot.reports.limits import COMMENT_CHARS, fence, inline_code
from bot.reports.prose import details, escape, link, page
from bot.reports.pull_words import tell
from bot.reports.setup_lines import chosen_by, set_up_by
from bot.reports.text import bullets, joined, say
from bot.reports.unshown import unshown
from bot.reports.validation import checks_table, is_flaky, latest, movement, what_ran

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
    last = footer(view.run_id, view.sandbox, language)
    told = page(states[view.status](view, language), COMMENT_CHARS - len(last) - 2, keep=_certificate(view, language))
    return f"{told}\n\n{last}"


def _queued(view: RunView, language: Language) -> list[str]:
    reason = say(language, "queued.soon")
    if view.waiting_for:
        reason = say(language, "queued.waiting", what=escape(view.waiting_for))
    return [say(language, "queued"), reason, conflicts(view, language), group(view, language)]


def _running(view: RunView, language: Language) -> list[str]:
    return [
        progress(view, language),
        say(language, "running.waiting", what=escape(view.waiting_for)) if view.waiting_for else "",
        planned(view, language),
        attempts_table(view, language),
        movement(view, language),
        known_errors(view, language),
        conflicts(view, language),
        group(view, language),
    ]


def progress(view: RunView, language: Language) -> str:
    """How far a run under way is, as a headline."""
    if view.phase is None:
        return say(language, "running.start")
    phase = say(language, f"phase.{view.phase}")
    if view.attempt == 0:
        return say(language, "running.preparing", phase=phase)
    return say(language, "running", attempt=view.attempt, most=view.max_attempts, phase=phase)


def _success(view: RunView, language: Language) -> list[str]:
    validation = latest(view)
    first = unshown(view, language)
    return [
        say(language, "unshown", why=first) if first else say(language, "success"),
        outcome(view, language),
        made_by(view, language),
        conflicts(view, language),
        changed_paths(view, language),
        checks_table(validation, language) if validation and validation.steps else "",
        planned(view, language),
        say(language, "success.flaky") if is_flaky(validation) else "",
        what_ran(view, language),
        attempts_folded(view, language, least=2),
        group(view, language),
    ]


def outcome(view: RunView, language: Language) -> str:
    """Where a run's fix is."""
    shown = view.proof == "shown"
    if view.mends:
        sha = (view.commit_sha or "")[:12]
        pushed = view.mends == "branch" and bool(sha)
        if not pushed and not view.changed_paths:
            return tell(language, "fix.nothing")
        return tell(language, "fix.pushed" if pushed else "fix.offered", sha=sha)
    if view.pull is None:
        return say(language, "success.local" if shown else "unshown.local", branch=inline_code(view.branch))
    pull = link(say(language, "pull", number=view.pull.number), view.pull.url)
    issues = joined(language, [f"#{issue.number}" for issue in view.issues])
    if not shown and view.issues:
        return say(language, "unshown.draft" if view.pull.draft else "unshown.open", pull=pull, issues=issues)
    return say(language, "success.pull" if view.issues else "success.task", pull=pull, issues=issues)


def made_by(view: RunView, language: Language) -> str:
    """Whose change it is, and that it wants a review; empty where nobody made one."""
    if not view.agents:
        return ""
    return f"{whose(view, language)} {say(language, 'success.review')}"


def whose(view: RunView, language: Language) -> str:
    """Which agent made the last change, and in which attempt."""
    if view.agents[-1] == "given":
        return say(language, "success.given")
    agent = inline_code(view.agents[-1], 60)
    return say(language, "success.by", agent=agent, attempt=view.attempt, most=view.max_attempts)


def _failed(view: RunView, language: Language) -> list[str]:
    return [
        say(language, "failed"),
        f"{stopped(view, language)} {pushed(view, language)}",
        long_details(view),
        what_failed(view, language),
        seen_before(view, language),
        movement(view, language, listed=_LISTED_ERRORS),
        not_taken(view, language),
        next_steps(view, language),
        known_errors(view, language),
        planned(view, language),
        attempts_folded(view, language, listed=_LISTED_ERRORS),
        conflicts(view, language),
        group(view, language),
    ]


def _cancelled(view: RunView, language: Language) -> list[str]:
    why = sentence(view.stop.details) if view.stop else ""
    steps = [again(view, language), *salvage(view, language)]
    return [
        say(language, "cancelled"),
        f"{why or say(language, 'cancelled.plain')} {pushed(view, language)}",
        "\n".join(f"- {step}" for step in steps),
        attempts_folded(view, language),
        group(view, language),
    ]


def planned(view: RunView, language: Language) -> str:
    """What the project was set up by, which files its checks were chosen by, what of a red base was left alone."""
    told = (set_up_by(view.setup, language), chosen_by(view.chosen, language), left_alone(view, language))
    return "\n\n".join(line for line in told if line)


def changed_paths(view: RunView, language: Language) -> str:
    """What the run changed: a line for a few files, a folded list for many, nothing for none."""
    paths = [inline_code(path) for path in view.changed_paths[:_LISTED_PATHS]]
    title = say(language, "changed")
    if not paths:
        return ""
    if len(paths) <= _INLINE_PATHS:
        return f"**{title}:** {', '.join(paths)}"
    lines = [f"- {path}" for path in paths]
    return details(f"{title} ({len(view.changed_paths)})", bullets(lines, len(view.changed_paths), language))


def _certificate(view: RunView, language: Language) -> str:
    """What `rules.certificate` issued, for programs: the only block of JSON in the comment."""
    if view.certificate is None:
        return ""
    return details(say(language, "certificate"), fence(_json(view.certificate), "json"))


def _json(data: dict[str, Any]) -> str:
    """JSON in ASCII, a line for each field and each attempt."""
    lines = []
    for key, value in data.items():
        told = json.dumps(value)
        if isinstance(value, list) and value and isinstance(value[0], dict):
            told = "[\n" + ",\n".join(f"    {json.dumps(item)}" for item in value) + "\n  ]"
        lines.append(f"  {json.dumps(key)}: {told}")
    return "{\n" + ",\n".join(lines) + "\n}"
