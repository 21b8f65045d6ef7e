"""Check runs of a head that is not checked, or not completely, and of an invalid configuration file."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Sequence

from bot.config import PolicyProblem
from bot.model import Annotation, CheckOutput, Language
from bot.model.pulls import PullCheckReport
from bot.model.reasons import Reason
from bot.reports.format.markdown import escape, plain, with_code
from bot.reports.format.truncate import CHECK_BYTES, cut_bytes, cut_middle, fence, inline_code, one_line, strip_control
from bot.reports.locale.catalog import t
from bot.reports.locale.reasons import reason_text
from bot.reports.pulls.failures import commit_link
from bot.reports.runs.check_output import MAX_ANNOTATIONS
from bot.reports.runs.footer import footer as small_print
from bot.reports.runs.outcome import reason_sentence

AWAITING = "awaiting"
"""The stop reason of a head that awaits approval by a person with write access."""
NO_SANDBOX = "pull.no_sandbox"
"""The details of that reason if approval would not help, as there is no sandbox for untrusted code."""

_ENDINGS = frozenset({"superseded", "cancelled", "closed", "withdrawn", "retargeted"})
_TITLE_BYTES = 255
_APPROVED_DIGITS = 12
_MAX_LISTED = 20
_PATH_CHARS = 50
"""So that a title of four-byte characters still fits."""

_MESSAGE_CHARS = 4_000


def awaiting_output(view: PullCheckReport, language: Language = "en") -> tuple[str, CheckOutput]:
    """Returns the output of a check that waits until a person with write access approves this commit (T9, T11).

    It is one line, as every check repeats it; one comment has the details (`reports.pulls.comment`)."""
    if lacks_sandbox(view):
        words = [t(language, "pull_check.awaiting.no_sandbox")]
        return "action_required", short_output(view, t(language, "pull_check.title.not_run"), words, language)
    title, command = t(language, "pull_check.awaiting", sha=_digits(view)), inline_code(_approval(view))
    words = [t(language, "pull_check.awaiting.check", head=commit_link(view, view.head_sha), command=command)]
    return "action_required", short_output(view, title, words, language)


def lacks_sandbox(view: PullCheckReport) -> bool:
    """Returns whether the head waits for lack of a sandbox, which no approval can change."""
    return view.stop is not None and view.stop.details.kind == NO_SANDBOX


def awaiting_words(view: PullCheckReport, language: Language) -> list[str]:
    """Returns why the head waits, who has to act, the command to copy, and what the approval covers."""
    head = commit_link(view, view.head_sha)
    author = inline_code(view.author, 60) if view.author else "–"
    key = "awaiting.fork" if view.from_fork else "awaiting.author"
    why = t(language, f"pull_check.{key}", head=head, author=author)
    command = fence(_approval(view), "text")
    return [why, t(language, "pull_check.awaiting.what"), command, t(language, "pull_check.awaiting.only")]


def filtered_output(view: PullCheckReport, language: Language = "en") -> tuple[str, CheckOutput]:
    """Returns the output for a head that changes no path that the configuration wants checked.

    GitHub counts a skipped check as passed, so a rule that requires the check does not block the merge."""
    return "skipped", short_output(
        view, t(language, "pull_check.title.not_run"), [t(language, "pull_check.filtered.long")], language
    )


def ending(view: PullCheckReport, language: Language) -> str:
    """Returns why the checks ended early, in a word or two; empty if there is no text for the reason."""
    name = view.stop.reason if view.stop else ""
    if name == AWAITING:
        return t(language, "pull_check.awaiting", sha=_digits(view))
    return t(language, f"pull_check.{name}") if name in _ENDINGS else ""


def superseded_output(view: PullCheckReport, language: Language = "en") -> tuple[str, CheckOutput]:
    """Returns the output of a check that was not done when its head's run ended early, for the reason in `view.stop`.

    The conclusion is always `cancelled`: neutral or skipped would let a required check count as passed."""
    name = view.stop.reason if view.stop else "cancelled"
    details = view.stop.details if view.stop else None
    known = name if name in _ENDINGS else "stopped"
    title, long = t(language, f"pull_check.{known}"), t(language, f"pull_check.{known}.long")
    words = [reason_sentence(details, language)] if known == "cancelled" else []
    match known, details:
        case "superseded", Reason(values={"sha": str(sha)}):
            title = t(language, "pull_check.superseded.by", sha=sha[:7])
            long, words = f"{long} {commit_link(view, sha)}", []
        case "cancelled", Reason(values={"by": str(by)}):
            title, words = t(language, "pull_check.cancelled.by", who=by), []
        case "withdrawn", Reason():
            why = with_code(reason_text(details, language)).removesuffix(".")
            long, words = t(language, "pull_check.withdrawn.because", why=why), []
        case "stopped", Reason():
            words = [f"{inline_code(name, 60)}: {escape(reason_text(details, language))}"]
    return "cancelled", short_output(view, title, [long, *words], language)


def config_output(
    problems: Sequence[PolicyProblem], path: str, language: Language = "en", *, in_force: bool
) -> tuple[str, CheckOutput]:
    """Returns the output for the commit that made the configuration file invalid, with each problem at its line.

    `in_force` is true if an earlier valid version stays in use, false if the defaults are used."""
    lines = [_problem(problem, language) for problem in problems[:_MAX_LISTED]]
    more_count = len(problems) - len(lines)
    lines += [f"- {t(language, 'pull_check.more', count=more_count)}"] if more_count else []
    parts = [t(language, "pull_check.config.in_force" if in_force else "pull_check.config.default"), "\n".join(lines)]
    title = t(language, "pull_check.config", count=len(problems), path=plain(path, _PATH_CHARS))
    return "neutral", CheckOutput(
        title=cut_bytes(title, _TITLE_BYTES, language),
        summary=cut_bytes("\n\n".join(part for part in parts if part), CHECK_BYTES, language),
        annotations=tuple(_annotation(problem, path, language) for problem in problems[:MAX_ANNOTATIONS]),
    )


def _problem(problem: PolicyProblem, language: Language) -> str:
    place = [t(language, "pull_check.config.line", line=problem.line)] if problem.line else []
    place += [inline_code(problem.key, 120)] if problem.key else []
    return f"- {', '.join(place)}{': ' if place else ''}{escape(reason_text(problem.reason, language))}"


def _annotation(problem: PolicyProblem, path: str, language: Language) -> Annotation:
    line = max(problem.line or 1, 1)
    return Annotation(
        path=posixpath.normpath(path),
        start_line=line,
        end_line=line,
        level="warning",
        message=cut_middle(strip_control(reason_text(problem.reason, language)), _MESSAGE_CHARS, language) or "–",
        title=cut_bytes(one_line(problem.key), _TITLE_BYTES, language),
    )


def _approval(view: PullCheckReport) -> str:
    return f"/mendbot ok-to-test {_digits(view)}"


def _digits(view: PullCheckReport) -> str:
    """Returns the first hexadecimal digits of the commit to approve, and no other characters, as they go into a
    title."""
    return re.sub(r"[^0-9a-f]", "", view.head_sha.lower())[:_APPROVED_DIGITS]


def footer(view: PullCheckReport, language: Language) -> str:
    """Returns the last line of every report on a head: its run and the sandbox."""
    return small_print(view.run_id, view.sandbox, language, page_url=view.page_url)


def short_output(view: PullCheckReport, title: str, parts: Sequence[str], language: Language) -> CheckOutput:
    """Returns an output without a log: the non-empty parts and the footer."""
    summary = "\n\n".join(part for part in (*parts, footer(view, language)) if part)
    return CheckOutput(
        title=cut_bytes(title, _TITLE_BYTES, language), summary=cut_bytes(summary, CHECK_BYTES, language)
    )
