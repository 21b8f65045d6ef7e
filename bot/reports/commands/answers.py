"""The answers to commands that only tell: status, explain, history and group. Each is a comment of its own, at most
65,000 characters, and says what to do next where there is nothing to tell (spec I)."""

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
    not_taken,
    pushed,
    reason_sentence,
    stop_sentence,
    stopped,
    what_failed,
)
from bot.reports.runs.unproven_fix import unshown
from bot.reports.runs.validation import error_delta, is_flaky, latest, what_ran

_RUNS = 20
_LISTED_ERRORS = 5
_KNOWN = 20
_ROOM = 40_000
_ISSUES = 50
_TITLE = 150
_LABEL = "auto-fix"
"""As it is unless the repository's configuration names another (`model.RunView`)."""


def status_answer(
    runs: Sequence[RunView],
    pull: PullCheckReport | None,
    *,
    paused_by: str | None = None,
    waiting: bool = False,
    language: Language = "en",
    label: str = _LABEL,
) -> str:
    """What runs or waits on a thread and how its last run ended. `runs` are the thread's, oldest first; `waiting` is
    true where its issue is about to be grouped. `paused_by` is the login of who paused Mendbot here; None is not.
    `label` is the one that starts a run here."""
    going = [run for run in runs if not run.status.final]
    ended = [run for run in runs if run.status.final]
    lines = [f"- {_going(run, language)}" for run in going[-_RUNS:]]
    lines += [f"- {t(language, 'status.waiting')}"] if waiting else []
    lines += [f"- {_ended(ended[-1], language)}"] if ended else []
    parts = ["\n".join(lines), pull_status(pull, language) if pull else ""]
    paused = t(language, "status.paused", by=inline_code(paused_by, 60)) if paused_by is not None else ""
    if not any(parts):
        parts = [t(language, "nothing.paused") if paused else _nothing(label, language)]
    return page([paused, *parts], language)


def _nothing(label: str, language: Language) -> str:
    return t(language, "nothing", label=inline_code(label, 60))


def _going(run: RunView, language: Language) -> str:
    issues = _issues(run, language)
    facts = {"run": inline_code(run.run_id, 80), "issues": t(language, "status.for", issues=issues) if issues else ""}
    if run.status is Status.RUNNING:
        # the headline of the comment, within a line
        return t(language, "status.running", progress=progress(run, language).strip("*"), **facts)
    what = reason_sentence(run.waiting_for, language)
    waits = t(language, "status.queued.for", what=what, **facts) if what else t(language, "status.queued", **facts)
    time = duration(language, run.waited_ms)
    return f"{waits} {t(language, 'status.waited', time=time)}" if run.waited_ms else waits


def _ended(run: RunView, language: Language) -> str:
    facts = {"run": inline_code(run.run_id, 80)}
    if run.status is Status.SUCCESS:
        why = unshown(run, language)
        key = "status.unshown" if why and run.changed_paths else "status.success"
        return t(language, key, why=why, outcome=outcome(run, language), **facts)
    if run.status is Status.CANCELLED:
        why = stop_sentence(run, language)
        return t(language, "status.cancelled", why=why or t(language, "cancelled.plain"), **facts)
    return t(language, "status.failed", why=stopped(run, language), **facts)


def _issues(run: RunView, language: Language) -> str:
    return joined(language, [f"#{issue.number}" for issue in run.issues])


def explain_answer(
    run: RunView | None, pull: PullCheckReport | None, language: Language = "en", *, label: str = _LABEL
) -> str:
    """What failed, what was tried, why it stopped, what the history knows and what to do next; for a pull request its
    failing checks. Logs in both must be redacted already."""
    parts = _explained(run, language) if run is not None else []
    parts += [pull_failures(pull, language)] if pull is not None else []
    return page(parts, language) if any(parts) else _nothing(label, language)


def _explained(run: RunView, language: Language) -> list[str]:
    account = attempts_account(run, language, listed=_LISTED_ERRORS)
    tried = f"**{t(language, 'attempts')}**\n\n{account}" if run.attempts else ""
    over = run.status in (Status.FAILED, Status.CANCELLED)
    return [
        *_where_it_stands(run, language),
        what_failed(run, language) if run.status is not Status.SUCCESS else "",
        seen_before(run, language),
        error_delta(run, language, listed=_LISTED_ERRORS),
        next_steps(run, language, explained=True) if over else "",
        tried,
        not_taken(run, language),
        known_errors(run, language),
        conflicts(run, language),
    ]


def _where_it_stands(run: RunView, language: Language) -> list[str]:
    """Under the run's own name: the answer may stand below what a later run comes to."""
    if not run.status.final:
        return [_going(run, language)]
    head = t(language, f"explain.{run.status}", run=inline_code(run.run_id, 80))
    if run.status is Status.SUCCESS:
        why = unshown(run, language) if run.changed_paths else ""
        head = t(language, "explain.unshown", run=inline_code(run.run_id, 80)) if why else head
        flaky = t(language, "success.flaky") if is_flaky(latest(run)) else ""
        return [head, why, outcome(run, language), flaky, what_ran(run, language)]
    if run.status is Status.FAILED:
        return [head, f"{stopped(run, language)} {pushed(run, language)}", long_details(run, language)]
    why = stop_sentence(run, language)
    return [head, why or t(language, "cancelled.plain")]


def history_answer(path: str, found: Sequence[KnownError], language: Language = "en", repo: str = "") -> str:
    """What the history knows of a file of `repo` (`owner/name`): at most 20 errors, each with how and where it was
    resolved."""
    name = inline_code(path)
    if not found:
        return t(language, "history.nothing", path=name)
    items = within((known_item(known, repo, language, matches=False) for known in found[:_KNOWN]), _ROOM)
    return page([t(language, "history", path=name), bullets(items, len(found), language)], language)


def group_answer(
    run: RunView | None,
    waiting: Sequence[Issue] = (),
    language: Language = "en",
    *,
    apart: Collection[int] = (),
    together: Iterable[Collection[int]] = (),
    label: str = _LABEL,
) -> str:
    """Who is in the thread's group and why, its branch, how to change it. `waiting` are the issues that wait to be
    grouped beside this one. `apart` are issues that people said to work on alone, `together` those to be joined.
    `label` is the one that starts a run here."""
    if run is not None and run.issues:
        parts = _group_of(run, language)
    elif waiting:
        lines = [f"- #{issue.number}: {escape(issue.title, _TITLE)}" for issue in waiting[:_ISSUES]]
        told = bullets(within(lines, _ROOM), len(waiting), language)
        parts = [t(language, "group.waiting"), told, t(language, "group.how")]
    else:
        parts = [t(language, "group.none", label=inline_code(label, 60))]
    return page([*parts, _pins(apart, together, language)], language)


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


def _pins(apart: Collection[int], together: Iterable[Collection[int]], language: Language) -> str:
    """What people said of groups, which holds until they say otherwise."""
    lines = [
        f"- {t(language, 'group.joined', issues=joined(language, [f'#{number}' for number in sorted(one)]))}"
        for one in together
    ]
    if apart:
        names = joined(language, [f"#{number}" for number in sorted(apart)][:_ISSUES])
        lines.insert(0, f"- {t(language, 'group.apart', issues=names)}")
    return "\n".join(lines[:_ISSUES])
