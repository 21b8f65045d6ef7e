"""The comments on a pull request: for a head that awaits approval, and on the progress and result of a *Fix*."""

from __future__ import annotations

import re

from bot.model import Language, Phase, RunView, Status
from bot.model.pulls import PullCheckReport
from bot.reports.format.markdown import page
from bot.reports.format.truncate import COMMENT_CHARS, fence
from bot.reports.history.known_errors import known_errors, seen_before
from bot.reports.locale.catalog import has_message, t
from bot.reports.pulls.unchecked_heads import AWAITING, awaiting_words, footer, lacks_sandbox
from bot.reports.runs.attempts import attempts_folded, attempts_table
from bot.reports.runs.diff import diff_shown, unfinished
from bot.reports.runs.footer import footer as small_print
from bot.reports.runs.issue_comment import changed_paths, made_by, progress
from bot.reports.runs.outcome import (
    long_details,
    reason_sentence,
    rejected_changes,
    saved_work,
    stop_sentence,
    stopped,
    what_failed,
)
from bot.reports.runs.proof import is_shown, proof_paragraph
from bot.reports.runs.validation import checks_table, error_delta, failed_step, is_flaky, latest, remedy, what_ran

_COMMIT = re.compile(r"[0-9a-f]{7,64}")
_LISTED_ERRORS = 2
_MAX_HINTS = 2


def pull_comment(view: PullCheckReport, language: Language = "en") -> str | None:
    """Returns the comment for a head that awaits approval, without its marker.

    None for any other head, as the *Checks* tab has all information about it."""
    if view.stop is None or view.stop.reason != AWAITING or lacks_sandbox(view):
        return None
    return _framed(
        [t(language, "pull_check.awaiting.comment"), *awaiting_words(view, language)], footer(view, language), language
    )


def fix_comment(
    run: RunView, *, number: int, from_fork: bool = False, patch: str = "", language: Language = "en"
) -> str:
    """Returns the comment on a *Fix* of a pull request, without its marker, at most 65,000 characters.

    `patch` is the whole fix as a git diff, shown if it was not pushed. Logs and patch must be redacted already."""
    if run.status is Status.SUCCESS:
        parts = _success(run, number, from_fork, patch, language)
    elif run.status is Status.FAILED:
        parts = _failed(run, language)
    elif run.status is Status.CANCELLED:
        parts = _cancelled(run, language)
    else:
        parts = _in_progress(run, language)
    return _framed(parts, small_print(run.run_id, run.sandbox, language), language)


def _framed(parts: list[str], footer_line: str, language: Language) -> str:
    return f"{page(parts, language, COMMENT_CHARS - len(footer_line) - 2)}\n\n{footer_line}"


def _in_progress(run: RunView, language: Language) -> list[str]:
    waiting = reason_sentence(run.waiting_for, language)
    if run.status is Status.QUEUED:
        return [t(language, "pull_check.fix.queued"), waiting or t(language, "queued.soon")]
    if run.phase is Phase.PACKAGING:  # the pull request exists already, so nothing is opened
        head = t(language, "pull_check.fix.pushing", attempt=run.attempt, most=run.max_attempts)
    else:
        head = progress(run, language)
    return [head, waiting, attempts_table(run, language), error_delta(run, language), known_errors(run, language)]


def _success(run: RunView, number: int, from_fork: bool, patch: str, language: Language) -> list[str]:
    validation = latest(run)
    parts = [
        made_by(run, language),
        changed_paths(run, language),
        checks_table(validation, language) if validation and validation.steps else "",
        t(language, "success.flaky") if is_flaky(validation) else "",
        what_ran(run, language),
        attempts_folded(run, language, min_attempts=2),
    ]
    sha, proof = run.commit_sha or "", proof_paragraph(run, language)
    if not from_fork and _COMMIT.fullmatch(sha):
        # GitHub links a SHA that is outside a code span
        head = [t(language, "pull_check.fix.success")] if is_shown(run) else []
        return [*head, proof, t(language, "pull_check.fix.pushed", sha=sha[:12]), *parts]
    if not patch.strip() and not run.changed_paths:
        return [t(language, "pull_check.fix.clean"), t(language, "pull_check.fix.nothing"), *parts[2:]]
    why = t(language, "pull_check.fix.fork" if from_fork else "pull_check.fix.unpushed")
    head = [t(language, "pull_check.fix.ready"), proof] if is_shown(run) else [proof]
    if not patch.strip():
        return [*head, why, *parts]
    how = t(language, "pull_check.fix.how", checkout=f"`gh pr checkout {number}`")
    command = fence("git apply --index fix.patch", "sh")
    return [*head, f"{why} {how}", command, *diff_shown(patch, language, title="fix.diff"), *parts]


def _failed(run: RunView, language: Language) -> list[str]:
    return [
        t(language, "pull_check.fix.failed"),
        f"{stopped(run, language)} {_pushed(run, language)}",
        proof_paragraph(run, language),
        long_details(run, language),
        what_failed(run, language),
        seen_before(run, language),
        error_delta(run, language, listed=_LISTED_ERRORS),
        rejected_changes(run, language),
        _next_steps(run, language),
        *unfinished(run, language),
        known_errors(run, language),
        attempts_folded(run, language, listed=_LISTED_ERRORS),
    ]


def _cancelled(run: RunView, language: Language) -> list[str]:
    why = stop_sentence(run, language)
    return [
        t(language, "pull_check.fix.cancelled"),
        f"{why or t(language, 'cancelled.plain')} {_pushed(run, language)}",
        _listed([t(language, "pull_check.fix.retry"), *saved_work(run, language)]),
        *unfinished(run, language),
        attempts_folded(run, language, min_attempts=2),
    ]


def _pushed(run: RunView, language: Language) -> str:
    sha = run.commit_sha or ""
    on_github = _COMMIT.fullmatch(sha)
    return t(language, "pull_check.fix.pushed", sha=sha[:12]) if on_github else t(language, "nothing_pushed")


def _next_steps(run: RunView, language: Language) -> str:
    """Returns what a person can do next.

    Some hints differ from those of an issue's run, where the next step is a comment on the issue."""
    step = failed_step(latest(run))
    names = [run.stop.reason] if run.stop else []
    if step is not None:
        names.append(remedy(step))
    stage = re.sub(r"[^A-Za-z0-9_.-]", "", step.stage)[:40] if step is not None else ""
    hints = []
    for name in names:
        if has_message(f"pull_check.fix.next.{name}"):
            hints.append(t(language, f"pull_check.fix.next.{name}"))
        elif has_message(f"next.{name}"):
            hints.append(t(language, f"next.{name}", stage=stage))
    lines = [*hints[:_MAX_HINTS], t(language, "pull_check.fix.retry"), *saved_work(run, language)]
    return f"**{t(language, 'next.title')}**\n\n{_listed(lines)}"


def _listed(lines: list[str]) -> str:
    return "\n".join(f"- {line}" for line in lines)
