"""The texts of a pull request and its commit: the issues or the task, the changes, the checks, the origin.

Titles and commit messages are not Markdown, but GitHub reads mentions and closing keywords in them, hence
`markdown.plain`."""

from __future__ import annotations

import re
import textwrap

from bot.model import Language, RunView
from bot.reports.format.markdown import details, escape, page, plain, with_code, within
from bot.reports.format.truncate import cut_lines, cut_middle, fence, inline_code, strip_control
from bot.reports.locale.catalog import bullets, duration, t
from bot.reports.locale.reasons import reason_text
from bot.reports.runs.candidates import candidates_folded
from bot.reports.runs.footer import sandbox_words
from bot.reports.runs.group import conflicts
from bot.reports.runs.issue_comment import agent_sentence, changed_paths, setup_and_checks
from bot.reports.runs.proof import is_shown, proof_line, proof_paragraph
from bot.reports.runs.usage import usage_words
from bot.reports.runs.validation import changes_table, checks_table, is_flaky, latest, what_ran

_SUBJECT_CHARS = 72
"""The length that `git log --oneline` and GitHub's commit list show without a cut."""

_TITLE_CHARS = 200
_LISTED_TITLE_CHARS = 120
"""It prevents a `Closes` line of the largest group, 50 issues, from being cut off."""

_MAX_LISTED = 20
_MAX_NOTES = 20
_MAX_REASONS = 5
_NOTES_CHARS = 9_000
"""It leaves space in the body for the `Closes` lines of the largest group."""

_TASK_LINES = 30
_TASK_CHARS = 6_000
_TASK_IN_COMMIT = 500
_PROOF_IN_COMMIT = 1000
_COMMIT_WIDTH = 72
_DECORATION = re.compile(r"\A[\s#>*+-]+")
"""The start of a task that was pasted from Markdown: a heading, a list, a quotation."""

_KIND = r"(?:bug|(?:bug|hot)?fix(?:e[sd])?)"
_PREFIX = re.compile(
    rf"\A(?:\s*(?:\[{_KIND}\]:?|{_KIND}(?:\([^()\s]{{1,30}}\))?!?:|fix(?:es)?(?:\s+[-–—:])?(?=\s|\Z)))+\s*", re.I
)
"""Prefixes of issue titles: `[bug]`, `Fix:`, `fix(cart)!:`, `Fix the total`, also several in a row."""


def pull_title(view: RunView, language: Language = "en", *, drafts: bool = True) -> str:
    """Returns `Fix: TITLE` in one line without mentions; for a group with the number of further issues.

    A session has the text of its task, which may not be a fix. A change that no check has proven is `Proposed: TITLE`,
    or `Draft: TITLE` if the repository has no drafts."""
    return _headline(view, _TITLE_CHARS, language, is_draft=not is_shown(view) and not drafts)


def _headline(view: RunView, limit: int, language: Language, *, is_draft: bool = False) -> str:
    key = "title.draft" if is_draft else "title.fix" if is_shown(view) else "title.proposed"
    if not view.issues:
        task = _task_line(view, language)
        return plain(t(language, key, title=task) if is_draft else task, limit)
    first = view.issues[0]
    title = plain(_PREFIX.sub("", first.title), limit) or t(language, "title.issue", number=first.number)
    others = len(view.issues) - 1
    tail = f" {t(language, 'title.others', count=others)}" if others else ""
    return plain(t(language, key, title=title), limit - len(tail)) + tail


def _task_line(view: RunView, language: Language) -> str:
    """Returns the first line of a session's task that contains a word."""
    lines = (_DECORATION.sub("", line) for line in (*strip_control(view.task).split("\n"), view.key))
    return next((line for line in lines if re.search(r"\w", line)), t(language, "title.run", run=view.run_id))


def pull_body(view: RunView, language: Language = "en") -> str:
    """Returns the body as Markdown, at most 65,000 characters.

    `Closes #N` is English in every language, as GitHub reads no other. The body of an unproven fix says so first, and
    closes no issue."""
    validation = latest(view)
    verb = "Closes" if is_shown(view) else "Refs"
    parts = [
        proof_paragraph(view, language),
        "\n".join(f"- {verb} #{issue.number} — {escape(issue.title, _LISTED_TITLE_CHARS)}" for issue in view.issues),
        t(language, "pull.flaky" if is_flaky(validation) else "pull.intro"),
        what_ran(view, language),
        conflicts(view, language),
        _task(view, language),
        _notes(view, language),
        changed_paths(view, language),
        checks_table(validation, language) if validation and validation.steps else "",
        setup_and_checks(view, language),
        details(t(language, "attempts"), changes_table(view, language)) if len(view.validations) > 1 else "",
        candidates_folded(view, language),
        f"**{t(language, 'pull.provenance')}**\n\n{_provenance(view, language)}",
    ]
    return page(parts, language)


def _task(view: RunView, language: Language) -> str:
    """Returns a session's original task, unless the title contains all of it."""
    task = strip_control(view.task).strip()
    if view.issues or not task or (task == _task_line(view, language) and len(task) <= _TITLE_CHARS):
        return ""
    shown = cut_middle(cut_lines(task, _TASK_LINES, language=language), _TASK_CHARS, language)
    return f"**{t(language, 'pull.task')}**\n\n{fence(shown, 'text')}"


def _notes(view: RunView, language: Language) -> str:
    """Returns what people should review: the first twenty notes, and the number of the others."""
    if not view.notes:
        return ""
    lines = within((f"- {with_code(reason_text(note, language))}" for note in view.notes[:_MAX_NOTES]), _NOTES_CHARS)
    return f"**{t(language, 'pull.notes')}**\n\n{bullets(lines, len(view.notes), language)}"


def _provenance(view: RunView, language: Language) -> str:
    facts = [t(language, "footer", run=inline_code(view.run_id, 80))]
    if view.agents:
        facts.append(agent_sentence(view, language).removesuffix("."))
    if view.duration_ms:
        facts.append(t(language, "pull.time", time=duration(language, view.duration_ms)))
    label = inline_code(view.trigger_label, 60)
    facts.append(t(language, "pull.label", label=label) if view.issues else t(language, "pull.session"))
    if view.base_sha:
        facts.append(t(language, "pull.base", base=escape(view.base_sha[:12])))
    if len(view.issues) > 1 and view.reasons:
        reasons = [escape(reason_text(reason, language)) for reason in view.reasons[:_MAX_REASONS]]
        more_count = len(view.reasons) - len(reasons)
        reasons += [t(language, "more", count=more_count)] if more_count else []
        facts.append(t(language, "pull.because", reasons="; ".join(reasons)))
    if view.sandbox:
        facts.append(sandbox_words(view.sandbox, language))
    used = usage_words(view.usage, language) if view.usage else ""
    facts += [used] if used else []
    return "\n".join(f"- {fact}" for fact in facts)


def commit_message(view: RunView) -> str:
    """Returns a subject of at most 72 characters, the checks that passed, and the trailers `Refs` and `Mendbot-Run`
    (contract).

    A session's message has no issues. It has the first line of its task in full if the subject cuts it."""
    validation = latest(view)
    passed = (
        [
            plain(step.command, 100)
            for step in validation.steps
            if step.passed and not step.skipped and step.could_not_run is None
        ]
        if validation
        else []
    )
    headline, body = _headline(view, _SUBJECT_CHARS, "en"), []
    if view.proof is not None:
        body.append(textwrap.fill(plain(proof_line(view.proof, "en"), _PROOF_IN_COMMIT), _COMMIT_WIDTH))
    if not view.issues and headline.endswith("…"):
        body.append(textwrap.fill(plain(_task_line(view, "en"), _TASK_IN_COMMIT), _COMMIT_WIDTH))
    if view.agents:
        agent = plain(view.agents[-1], 60)
        key = "success.given" if agent == "given" else "success.by"
        body.append(t("en", key, agent=agent, attempt=view.attempt, most=view.max_attempts))
    if passed:
        body.append("\n".join([t("en", "commit.checks"), *(f"- {command}" for command in passed[:_MAX_LISTED])]))
    trailers = [f"Mendbot-Run: {plain(view.run_id, 80)}"]
    if view.issues:
        trailers.insert(0, "Refs: " + ", ".join(f"#{issue.number}" for issue in view.issues))
    return "\n\n".join([headline, *body, "\n".join(trailers)]) + "\n"
