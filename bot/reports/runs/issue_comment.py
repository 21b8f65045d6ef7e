"""The comment on an issue, which is edited as its run proceeds: the progress, the result, the next step.

Its readers may not know Mendbot, so each state first says what it means for them (spec G.2, G.4)."""

from __future__ import annotations

import json

from bot.model import Language, RunView, Status
from bot.model.runs import RunMetadata
from bot.reports.format.markdown import details, link, page
from bot.reports.format.truncate import COMMENT_CHARS, fence, inline_code
from bot.reports.history.known_errors import known_errors, seen_before
from bot.reports.locale.catalog import bullets, joined, t
from bot.reports.runs.attempts import attempts_folded, attempts_table
from bot.reports.runs.candidates import candidates_folded
from bot.reports.runs.diff import unfinished
from bot.reports.runs.existing_failures import existing_failures
from bot.reports.runs.footer import footer
from bot.reports.runs.group import conflicts, group_section
from bot.reports.runs.outcome import (
    long_details,
    next_steps,
    pushed,
    reason_sentence,
    rejected_changes,
    retry_hint,
    saved_work,
    stop_sentence,
    stopped,
    what_failed,
)
from bot.reports.runs.proof import is_shown, proof_paragraph
from bot.reports.runs.setup_lines import chosen_by, set_up_by
from bot.reports.runs.validation import checks_table, error_delta, is_flaky, latest, what_ran

_MAX_INLINE_PATHS = 5
_MAX_LISTED_PATHS = 100
_LISTED_ERRORS = 2


def issue_comment(view: RunView, language: Language = "en") -> str:
    """Returns the comment without its marker, at most 65,000 characters. Logs in `view` must be redacted already."""
    states = {
        Status.QUEUED: _queued,
        Status.RUNNING: _running,
        Status.SUCCESS: _success,
        Status.FAILED: _failed,
        Status.CANCELLED: _cancelled,
    }
    footer_line = footer(view.run_id, view.sandbox, language, view.usage, view.page_url)
    limit = COMMENT_CHARS - len(footer_line) - 2
    text = page(states[view.status](view, language), language, limit, keep=_metadata(view, language))
    return f"{text}\n\n{footer_line}"


def _queued(view: RunView, language: Language) -> list[str]:
    reason = reason_sentence(view.waiting_for, language) or t(language, "queued.soon")
    return [t(language, "queued"), reason, conflicts(view, language), group_section(view, language)]


def _running(view: RunView, language: Language) -> list[str]:
    return [
        progress(view, language),
        reason_sentence(view.waiting_for, language),
        setup_and_checks(view, language),
        attempts_table(view, language),
        error_delta(view, language),
        known_errors(view, language),
        conflicts(view, language),
        group_section(view, language),
    ]


def progress(view: RunView, language: Language) -> str:
    """Returns the progress of a running run, as a headline."""
    if view.phase is None:
        return t(language, "running.start")
    phase = t(language, f"phase.{view.phase}")
    if view.attempt == 0:
        return t(language, "running.preparing", phase=phase)
    return t(language, "running", attempt=view.attempt, most=view.max_attempts, phase=phase)


def _success(view: RunView, language: Language) -> list[str]:
    validation = latest(view)
    return [
        *([t(language, "success")] if is_shown(view) else []),
        proof_paragraph(view, language),
        outcome(view, language),
        made_by(view, language),
        conflicts(view, language),
        changed_paths(view, language),
        checks_table(validation, language) if validation and validation.steps else "",
        setup_and_checks(view, language),
        t(language, "success.flaky") if is_flaky(validation) else "",
        what_ran(view, language),
        attempts_folded(view, language, min_attempts=2),
        candidates_folded(view, language),
        group_section(view, language),
    ]


def outcome(view: RunView, language: Language) -> str:
    """Returns where the fix of a run is: pushed, offered, in a pull request or on a local branch."""
    shown = is_shown(view)
    if view.fixes_pull:
        sha = (view.commit_sha or "")[:12]
        pushed = view.fixes_pull == "branch" and bool(sha)
        if not pushed and not view.changed_paths:
            return t(language, "pull_check.fix.nothing")
        return t(language, "pull_check.fix.pushed" if pushed else "pull_check.fix.offered", sha=sha)
    if view.pull is None:
        return t(language, "success.local" if shown else "unshown.local", branch=inline_code(view.branch))
    pull = link(t(language, "pull", number=view.pull.number), view.pull.url)
    issues = joined(language, [f"#{issue.number}" for issue in view.issues])
    if not shown and view.issues:
        return t(language, "unshown.draft" if view.pull.draft else "unshown.open", pull=pull, issues=issues)
    return t(language, "success.pull" if view.issues else "success.task", pull=pull, issues=issues)


def made_by(view: RunView, language: Language) -> str:
    """Returns which agent made the change, and that it needs a review; empty if no agent made one."""
    if not view.agents:
        return ""
    return f"{agent_sentence(view, language)} {t(language, 'success.review')}"


def agent_sentence(view: RunView, language: Language) -> str:
    """Returns which agent made the last change, and in which attempt."""
    if view.agents[-1] == "given":
        return t(language, "success.given")
    agent = inline_code(view.agents[-1], 60)
    return t(language, "success.by", agent=agent, attempt=view.attempt, most=view.max_attempts)


def _failed(view: RunView, language: Language) -> list[str]:
    return [
        t(language, "failed"),
        f"{stopped(view, language)} {pushed(view, language)}",
        proof_paragraph(view, language),
        long_details(view, language),
        what_failed(view, language),
        seen_before(view, language),
        error_delta(view, language, listed=_LISTED_ERRORS),
        rejected_changes(view, language),
        next_steps(view, language),
        *unfinished(view, language),
        known_errors(view, language),
        setup_and_checks(view, language),
        attempts_folded(view, language, listed=_LISTED_ERRORS),
        conflicts(view, language),
        group_section(view, language),
    ]


def _cancelled(view: RunView, language: Language) -> list[str]:
    why = stop_sentence(view, language)
    steps = [retry_hint(view, language), *saved_work(view, language)]
    return [
        t(language, "cancelled"),
        f"{why or t(language, 'cancelled.plain')} {pushed(view, language)}",
        "\n".join(f"- {step}" for step in steps),
        *unfinished(view, language),
        attempts_folded(view, language),
        group_section(view, language),
    ]


def setup_and_checks(view: RunView, language: Language) -> str:
    """Returns how the project was set up, which files its checks come from, and which existing failures remain."""
    lines = (set_up_by(view.setup, language), chosen_by(view.chosen, language), existing_failures(view, language))
    return "\n\n".join(line for line in lines if line)


def changed_paths(view: RunView, language: Language) -> str:
    """Returns the paths that the run changed: a line for a few, a folded list for many, empty for none."""
    paths = [inline_code(path) for path in view.changed_paths[:_MAX_LISTED_PATHS]]
    title = t(language, "changed")
    if not paths:
        return ""
    if len(paths) <= _MAX_INLINE_PATHS:
        return f"**{title}:** {', '.join(paths)}"
    lines = [f"- {path}" for path in paths]
    return details(f"{title} ({len(view.changed_paths)})", bullets(lines, len(view.changed_paths), language))


def _metadata(view: RunView, language: Language) -> str:
    """Returns the run metadata for programs: the only JSON block in the comment."""
    if view.metadata is None:
        return ""
    return details(t(language, "certificate"), fence(_json(view.metadata), "json"))


def _json(metadata: RunMetadata) -> str:
    """Returns the metadata as JSON in ASCII, with a line for each field and each attempt."""
    lines = []
    for key, value in metadata.as_json().items():
        text = json.dumps(value)
        if isinstance(value, list) and value and isinstance(value[0], dict):
            text = "[\n" + ",\n".join(f"    {json.dumps(item)}" for item in value) + "\n  ]"
        lines.append(f"  {json.dumps(key)}: {text}")
    return "{\n" + ",\n".join(lines) + "\n}"
