"""The comments on a pull request: what its *Checks* tab cannot tell, and how a *Fix* of it goes on and ends."""

from __future__ import annotations

import re

from bot.model import Language, Phase, RunView, Status
from bot.model.pulls import PullCheckReport
from bot.reports.format.markdown import page
from bot.reports.format.truncate import COMMENT_CHARS, fence
from bot.reports.history.known_errors import known_errors, seen_before
from bot.reports.locale.catalog import has_message, t
from bot.reports.pulls.unchecked_heads import AWAITING, awaiting_words, footer, unboxed
from bot.reports.runs.attempts import attempts_folded, attempts_table
from bot.reports.runs.diff import diff_shown, unfinished
from bot.reports.runs.footer import footer as small_print
from bot.reports.runs.issue_comment import changed_paths, made_by, progress
from bot.reports.runs.outcome import (
    long_details,
    not_taken,
    reason_sentence,
    saved_work,
    stop_sentence,
    stopped,
    what_failed,
)
from bot.reports.runs.unproven_fix import unshown
from bot.reports.runs.validation import checks_table, error_delta, failed_step, is_flaky, latest, remedy, what_ran

_COMMIT = re.compile(r"[0-9a-f]{7,64}")
_LISTED_ERRORS = 2
_HINTS = 2


def pull_comment(view: PullCheckReport, language: Language = "en") -> str | None:
    """The one comment on the checks of a pull request, without its marker: for a head that waits for approval. None for
    any other, of which the *Checks* tab says all."""
    if view.stop is None or view.stop.reason != AWAITING or unboxed(view):
        return None
    return _framed(
        [t(language, "pull_check.awaiting.comment"), *awaiting_words(view, language)], footer(view, language), language
    )


def fix_comment(
    run: RunView, *, number: int, from_fork: bool = False, patch: str = "", language: Language = "en"
) -> str:
    """The comment on a *Fix* of a pull request, without its marker, at most 65,000 characters.

    `patch` is the whole fix as git's diff, shown where it was not pushed. Logs and patch must be redacted already."""
    if run.status is Status.SUCCESS:
        parts = _success(run, number, from_fork, patch, language)
    elif run.status is Status.FAILED:
        parts = _failed(run, language)
    elif run.status is Status.CANCELLED:
        parts = _cancelled(run, language)
    else:
        parts = _going_on(run, language)
    return _framed(parts, small_print(run.run_id, run.sandbox, language), language)


def _framed(parts: list[str], last: str, language: Language) -> str:
    return f"{page(parts, language, COMMENT_CHARS - len(last) - 2)}\n\n{last}"


def _going_on(run: RunView, language: Language) -> list[str]:
    if run.status is Status.QUEUED:
        waiting = reason_sentence(run.waiting_for, language)
        return [t(language, "pull_check.fix.queued"), waiting or t(language, "queued.soon")]
    if run.phase is Phase.PACKAGING:  # what an issue's run opens here is there already
        head = t(language, "pull_check.fix.pushing", attempt=run.attempt, most=run.max_attempts)
    else:
        head = progress(run, language)
    waiting = reason_sentence(run.waiting_for, language)
    return [head, waiting, attempts_table(run, language), error_delta(run, language), known_errors(run, language)]


def _success(run: RunView, number: int, from_fork: bool, patch: str, language: Language) -> list[str]:
    validation = latest(run)
    parts = [
        made_by(run, language),
        changed_paths(run, language),
        checks_table(validation, language) if validation and validation.steps else "",
        t(language, "success.flaky") if is_flaky(validation) else "",
        what_ran(run, language),
        attempts_folded(run, language, least=2),
    ]
    sha, first = run.commit_sha or "", unshown(run, language)
    if not from_fork and _COMMIT.fullmatch(sha):
        # outside a code span GitHub makes a link of it
        head = t(language, "unshown", why=first) if first else t(language, "pull_check.fix.success")
        return [head, t(language, "pull_check.fix.pushed", sha=sha[:12]), *parts]
    if not patch.strip() and not run.changed_paths:
        return [t(language, "pull_check.fix.clean"), t(language, "pull_check.fix.nothing"), *parts[2:]]
    why = t(language, "pull_check.fix.fork" if from_fork else "pull_check.fix.unpushed")
    head = t(language, "unshown", why=first) if first else t(language, "pull_check.fix.ready")
    if not patch.strip():
        return [head, why, *parts]
    how = t(language, "pull_check.fix.how", checkout=f"`gh pr checkout {number}`")
    command = fence("git apply --index fix.patch", "sh")
    return [head, f"{why} {how}", command, *diff_shown(patch, language, title="fix.diff"), *parts]


def _failed(run: RunView, language: Language) -> list[str]:
    return [
        t(language, "pull_check.fix.failed"),
        f"{stopped(run, language)} {_pushed(run, language)}",
        long_details(run, language),
        what_failed(run, language),
        seen_before(run, language),
        error_delta(run, language, listed=_LISTED_ERRORS),
        not_taken(run, language),
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
        attempts_folded(run, language, least=2),
    ]


def _pushed(run: RunView, language: Language) -> str:
    sha = run.commit_sha or ""
    on_github = _COMMIT.fullmatch(sha)
    return t(language, "pull_check.fix.pushed", sha=sha[:12]) if on_github else t(language, "nothing_pushed")


def _next_steps(run: RunView, language: Language) -> str:
    """An issue's run has other hints for some of these, as there the next thing to do is to write in the issue."""
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
    lines = [*hints[:_HINTS], t(language, "pull_check.fix.retry"), *saved_work(run, language)]
    return f"**{t(language, 'next.title')}**\n\n{_listed(lines)}"


def _listed(lines: list[str]) -> str:
    return "\n".join(f"- {line}" for line in lines)
