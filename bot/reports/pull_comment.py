"""The comments on a pull request: what its *Checks* tab cannot tell, and how a *Fix* of it goes on and ends."""

from __future__ import annotations

import re

from bot.model import Language, Phase, RunView, Status
from bot.model.pulls import PullView
from bot.reports.attempts import attempts_folded, attempts_table
from bot.reports.comment import changed_paths, made_by, progress
from bot.reports.ending import long_details, not_taken, salvage, sentence, stopped, what_failed
from bot.reports.footer import footer as small_print
from bot.reports.known import known_errors, seen_before
from bot.reports.limits import COMMENT_CHARS, fence, strip_control
from bot.reports.prose import details, escape, page, within
from bot.reports.pull_heads import AWAITING, awaiting_words, footer, unboxed
from bot.reports.pull_words import WORDS, tell
from bot.reports.text import SENTENCES, say
from bot.reports.unshown import unshown
from bot.reports.validation import checks_table, failed_step, is_flaky, latest, movement, what_ran

_DIFF_CHARS = 40_000
"""So that what stands around the diff still fits the comment."""

_FILE = re.compile(r"^(?=diff --git )", re.MULTILINE)
_COMMIT = re.compile(r"[0-9a-f]{7,64}")
_LISTED_ERRORS = 2
_HINTS = 2


def pull_comment(view: PullView, language: Language = "en") -> str | None:
    """The one comment on the checks of a pull request, without its marker: for a head that waits for approval. None for
    any other, of which the *Checks* tab says all."""
    if view.stop is None or view.stop.reason != AWAITING or unboxed(view):
        return None
    return _framed([tell(language, "awaiting.comment"), *awaiting_words(view, language)], footer(view, language))


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
    return _framed(parts, small_print(run.run_id, run.sandbox, language))


def _framed(parts: list[str], last: str) -> str:
    return f"{page(parts, COMMENT_CHARS - len(last) - 2)}\n\n{last}"


def _going_on(run: RunView, language: Language) -> list[str]:
    if run.status is Status.QUEUED:
        waiting = say(language, "queued.waiting", what=escape(run.waiting_for)) if run.waiting_for else ""
        return [tell(language, "fix.queued"), waiting or say(language, "queued.soon")]
    if run.phase is Phase.PACKAGING:  # what an issue's run opens here is there already
        head = tell(language, "fix.pushing", attempt=run.attempt, most=run.max_attempts)
    else:
        head = progress(run, language)
    waiting = say(language, "running.waiting", what=escape(run.waiting_for)) if run.waiting_for else ""
    return [head, waiting, attempts_table(run, language), movement(run, language), known_errors(run, language)]


def _success(run: RunView, number: int, from_fork: bool, patch: str, language: Language) -> list[str]:
    validation = latest(run)
    parts = [
        made_by(run, language),
        changed_paths(run, language),
        checks_table(validation, language) if validation and validation.steps else "",
        say(language, "success.flaky") if is_flaky(validation) else "",
        what_ran(run, language),
        attempts_folded(run, language, least=2),
    ]
    sha, first = run.commit_sha or "", unshown(run, language)
    if not from_fork and _COMMIT.fullmatch(sha):
        # outside a code span GitHub makes a link of it
        head = say(language, "unshown", why=first) if first else tell(language, "fix.success")
        return [head, tell(language, "fix.pushed", sha=sha[:12]), *parts]
    if not patch.strip() and not run.changed_paths:
        return [tell(language, "fix.clean"), tell(language, "fix.nothing"), *parts[2:]]
    why = tell(language, "fix.fork" if from_fork else "fix.unpushed")
    head = say(language, "unshown", why=first) if first else tell(language, "fix.ready")
    if not patch.strip():
        return [head, why, *parts]
    how = tell(language, "fix.how", checkout=f"`gh pr checkout {number}`")
    command = fence("git apply --index fix.patch", "sh")
    return [head, f"{why} {how}", command, *_diff(patch, language), *parts]


def _diff(patch: str, language: Language) -> list[str]:
    """The diff, folded; whole files of it where it is too long, or its first lines where one file is."""
    text = strip_control(patch)
    notes = [tell(language, "fix.altered")] if text != patch else []
    files = [part for part in _FILE.split(text) if part.strip()]
    taken = within(files, _DIFF_CHARS)
    shown = "".join(taken)
    if len(shown) > _DIFF_CHARS:
        shown = shown[:_DIFF_CHARS].rpartition("\n")[0] or shown[:_DIFF_CHARS]
        notes.append(tell(language, "fix.cut", count=len(shown)))
    elif len(taken) < len(files):
        notes.append(tell(language, "fix.cut.files", shown=len(taken), all=len(files)))
    return [" ".join(notes), details(tell(language, "fix.diff"), fence(shown, "diff"))]


def _failed(run: RunView, language: Language) -> list[str]:
    return [
        tell(language, "fix.failed"),
        f"{stopped(run, language)} {_pushed(run, language)}",
        long_details(run),
        what_failed(run, language),
        seen_before(run, language),
        movement(run, language, listed=_LISTED_ERRORS),
        not_taken(run, language),
        _next_steps(run, language),
        known_errors(run, language),
        attempts_folded(run, language, listed=_LISTED_ERRORS),
    ]


def _cancelled(run: RunView, language: Language) -> list[str]:
    why = sentence(run.stop.details) if run.stop else ""
    return [
        tell(language, "fix.cancelled"),
        f"{why or say(language, 'cancelled.plain')} {_pushed(run, language)}",
        _listed([tell(language, "fix.retry"), *salvage(run, language)]),
        attempts_folded(run, language, least=2),
    ]


def _pushed(run: RunView, language: Language) -> str:
    sha = run.commit_sha or ""
    on_github = _COMMIT.fullmatch(sha)
    return tell(language, "fix.pushed", sha=sha[:12]) if on_github else say(language, "nothing_pushed")


def _next_steps(run: RunView, language: Language) -> str:
    """An issue's run has other hints for some of these, as there the next thing to do is to write in the issue."""
    step = failed_step(latest(run))
    names = [run.stop.reason] if run.stop else []
    if step is not None:
        names.append("timed_out" if step.timed_out else step.classification or "unknown")
    stage = re.sub(r"[^A-Za-z0-9_.-]", "", step.stage)[:40] if step is not None else ""
    hints = []
    for name in names:
        if f"fix.next.{name}" in WORDS[language]:
            hints.append(tell(language, f"fix.next.{name}"))
        elif f"next.{name}" in SENTENCES[language]:
            hints.append(say(language, f"next.{name}", stage=stage))
    lines = [*hints[:_HINTS], tell(language, "fix.retry"), *salvage(run, language)]
    return f"**{say(language, 'next.title')}**\n\n{_listed(lines)}"


def _listed(lines: list[str]) -> str:
    return "\n".join(f"- {line}" for line in lines)
