"""The answers to commands that only report: status, explain, history and group.

Each is a comment of its own, at most 65,000 characters, and names the next step if there is nothing to report (spec
I)."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from bot.model import Issue, KnownError, Language, RunView, Status
from bot.model.pulls import PullCheckReport
from bot.reports.commands.pull_answers import pull_failures, pull_status
from bot.reports.format.markdown import escape, page, within
from bot.reports.format.truncate import inline_code
from bot.reports.history.known_errors import known_errors, known_item, seen_before
from bot.reports.locale.catalog import bullets, duration, joined, t
from bot.reports.runs.attempts import attempts_account
from bot.reports.runs.group import conflicts, group_account, reasons
from bot.reports.runs.issue_comment import outcome, progress
from bot.reports.runs.outcome import (
    long_details,
    next_steps,
    pushed,
    reason_sentence,
    rejected_changes,
    stop_sentence,
    stopped,
    what_failed,
)
from bot.reports.runs.proof import is_shown, proof_paragraph
from bot.reports.runs.usage import usage_words
from bot.reports.runs.validation import error_delta, is_flaky, latest, what_ran

_MAX_RUNS = 20
_LISTED_ERRORS = 5
_MAX_KNOWN = 20
_MAX_CHARS = 40_000
_MAX_ISSUES = 50
_TITLE_CHARS = 150
_LABEL = "auto-fix"
"""The default, unless the repository's configuration names another label (`model.RunView`)."""


def status_answer(
    runs: Sequence[RunView],
    pull: PullCheckReport | None,
    *,
    paused_by: str | None = None,
    waiting: bool = False,
    language: Language = "en",
    label: str = _LABEL,
) -> str:
    """Returns what runs or waits on a thread, and how its last run ended.

    `runs` are those of the thread, oldest first; `waiting` is true if its issue is about to be grouped. `paused_by` is
    the login of the person who paused Mendbot here, or None. `label` starts a run here."""
    active = [run for run in runs if not run.status.final]
    ended = [run for run in runs if run.status.final]
    lines = [f"- {_active_run(run, language)}" for run in active[-_MAX_RUNS:]]
    lines += [f"- {t(language, 'status.waiting')}"] if waiting else []
    lines += [f"- {_ended_run(ended[-1], language)}"] if ended else []
    parts = ["\n".join(lines), pull_status(pull, language) if pull else ""]
    paused = t(language, "status.paused", by=inline_code(paused_by, 60)) if paused_by is not None else ""
    if not any(parts):
        parts = [t(language, "nothing.paused") if paused else _no_run(label, language)]
    return page([paused, *parts], language)


def _no_run(label: str, language: Language) -> str:
    return t(language, "nothing", label=inline_code(label, 60))


def _active_run(run: RunView, language: Language) -> str:
    issues = _issues(run, language)
    facts = {"run": inline_code(run.run_id, 80), "issues": t(language, "status.for", issues=issues) if issues else ""}
    if run.status is Status.RUNNING:
        # the headline of the comment, within a line
        return t(language, "status.running", progress=progress(run, language).strip("*"), **facts)
    what = reason_sentence(run.waiting_for, language)
    waits = t(language, "status.queued.for", what=what, **facts) if what else t(language, "status.queued", **facts)
    time = duration(language, run.waited_ms)
    return f"{waits} {t(language, 'status.waited', time=time)}" if run.waited_ms else waits


def _ended_run(run: RunView, language: Language) -> str:
    facts = {"run": inline_code(run.run_id, 80)}
    if run.status is Status.SUCCESS:
        proof = proof_paragraph(run, language)
        key = "status.proof" if proof and run.changed_paths else "status.success"
        return t(language, key, proof=proof, outcome=outcome(run, language), **facts)
    if run.status is Status.CANCELLED:
        why = stop_sentence(run, language)
        return t(language, "status.cancelled", why=why or t(language, "cancelled.plain"), **facts)
    return t(language, "status.failed", why=stopped(run, language), **facts)


def _issues(run: RunView, language: Language) -> str:
    return joined(language, [f"#{issue.number}" for issue in run.issues])


def explain_answer(
    run: RunView | None, pull: PullCheckReport | None, language: Language = "en", *, label: str = _LABEL
) -> str:
    """Returns what failed, what was tried, why it stopped, what the error history knows and what to do next.

    For a pull request it lists the failing checks. Logs in both must be redacted already."""
    parts = _explained(run, language) if run is not None else []
    parts += [pull_failures(pull, language)] if pull is not None else []
    return page(parts, language) if any(parts) else _no_run(label, language)


def _explained(run: RunView, language: Language) -> list[str]:
    account = attempts_account(run, language, listed=_LISTED_ERRORS)
    tried = f"**{t(language, 'attempts')}**\n\n{account}" if run.attempts else ""
    over = run.status in (Status.FAILED, Status.CANCELLED)
    return [
        *_state(run, language),
        what_failed(run, language) if run.status is not Status.SUCCESS else "",
        seen_before(run, language),
        error_delta(run, language, listed=_LISTED_ERRORS),
        next_steps(run, language, explained=True) if over else "",
        tried,
        rejected_changes(run, language),
        usage_words(run.usage, language) if run.usage else "",
        known_errors(run, language),
        conflicts(run, language),
    ]


def _state(run: RunView, language: Language) -> list[str]:
    """Returns the state of the run under its id, as a later run may be reported above the answer."""
    if not run.status.final:
        return [_active_run(run, language)]
    head = t(language, f"explain.{run.status}", run=inline_code(run.run_id, 80))
    if run.status is Status.SUCCESS:
        why = proof_paragraph(run, language) if run.changed_paths else ""
        unshown = run.changed_paths and not is_shown(run)
        head = t(language, "explain.unshown", run=inline_code(run.run_id, 80)) if unshown else head
        flaky = t(language, "success.flaky") if is_flaky(latest(run)) else ""
        return [head, why, outcome(run, language), flaky, what_ran(run, language)]
    if run.status is Status.FAILED:
        why = f"{stopped(run, language)} {pushed(run, language)}"
        return [head, why, proof_paragraph(run, language), long_details(run, language)]
    why = stop_sentence(run, language)
    return [head, why or t(language, "cancelled.plain")]


def history_answer(path: str, errors: Sequence[KnownError], language: Language = "en", repo: str = "") -> str:
    """Returns the history of a file of `repo` (`owner/name`): at most 20 errors, each with its resolution."""
    name = inline_code(path)
    if not errors:
        return t(language, "history.nothing", path=name)
    items = within((known_item(known, repo, language, matches=False) for known in errors[:_MAX_KNOWN]), _MAX_CHARS)
    return page([t(language, "history", path=name), bullets(items, len(errors), language)], language)


def group_answer(
    run: RunView | None,
    waiting: Sequence[Issue] = (),
    language: Language = "en",
    *,
    apart: Collection[int] = (),
    together: Iterable[Collection[int]] = (),
    label: str = _LABEL,
) -> str:
    """Returns the issues in the thread's group, the reasons, its branch, and how to change it.

    `waiting` are the issues that wait to be grouped with this one. `apart` are issues that people separated, `together`
    those that people joined. `label` starts a run here."""
    if run is not None and run.issues:
        parts = _group_of(run, language)
    elif waiting:
        lines = [f"- #{issue.number}: {escape(issue.title, _TITLE_CHARS)}" for issue in waiting[:_MAX_ISSUES]]
        listed = bullets(within(lines, _MAX_CHARS), len(waiting), language)
        parts = [t(language, "group.waiting"), listed, t(language, "group.how")]
    else:
        parts = [t(language, "group.none", label=inline_code(label, 60))]
    return page([*parts, _manual_groups(apart, together, language)], language)


def _group_of(run: RunView, language: Language) -> list[str]:
    over = run.status.final
    if len(run.issues) > 1:
        head = t(language, "group.of.over" if over else "group.of", run=inline_code(run.run_id, 80))
        return [head, group_account(run, language), conflicts(run, language)]
    branch = inline_code(run.branch) if run.branch else ""
    alone = t(language, "group.alone.over" if over else "group.alone", number=run.issues[0].number)
    return [
        alone,
        reasons(run, language),
        t(language, "alone", branch=branch) if branch else "",
        conflicts(run, language),
        t(language, "group.how"),
    ]


def _manual_groups(apart: Collection[int], together: Iterable[Collection[int]], language: Language) -> str:
    """Returns how people grouped issues by command, which holds until they change it."""
    lines = [
        f"- {t(language, 'group.joined', issues=joined(language, [f'#{number}' for number in sorted(issues)]))}"
        for issues in together
    ]
    if apart:
        names = joined(language, [f"#{number}" for number in sorted(apart)][:_MAX_ISSUES])
        lines.insert(0, f"- {t(language, 'group.apart', issues=names)}")
    return "\n".join(lines[:_MAX_ISSUES])
