"""What answers tell of a pull request's checks: where each stands, and whose failures they are."""

from __future__ import annotations

from bot.model import Language
from bot.model.pulls import CheckStatus, PullCheckReport
from bot.model.reasons import listed
from bot.reports.format.markdown import escape, table, within
from bot.reports.format.truncate import cut_lines, cut_middle, fence, inline_code, strip_control
from bot.reports.locale.catalog import duration, t
from bot.reports.locale.reasons import reason_text
from bot.reports.pulls.failures import VERDICTS, commit_link, failures_list, named_reason
from bot.reports.pulls.unchecked_heads import ending
from bot.reports.runs.validation import EVIDENCE_LINES, how_it_ended

_ROWS = 20
_EVIDENCE_CHARS = 6_000
_ROOM = 40_000


def pull_status(view: PullCheckReport, language: Language) -> str:
    """The head and, in a table, each check's state with the counts of its failures by verdict; the first 20."""
    state = t(language, f"checks.{view.status}")
    head = t(language, "checks.of", sha=commit_link(view, view.head_sha), state=state)
    if view.stop is not None and (known := ending(view, language)):
        head += f" ({known[:1].lower()}{known[1:]})"
    elif view.stop is not None:
        head += f" ({inline_code(view.stop.reason, 60)}: {escape(reason_text(view.stop.details, language)) or '–'})"
    rows = [
        [
            inline_code(one.name, 40),
            _state(view, one, language),
            duration(language, one.step.duration_ms) if one.step else "–",
        ]
        for one in view.checks[:_ROWS]
    ]
    left = len(view.checks) - len(rows)
    columns = [t(language, key) for key in ("check", "result", "time")]
    parts = [head, table(columns, rows) if rows else "", t(language, "more", count=left) if left else ""]
    return "\n\n".join(part for part in parts if part)


def _state(view: PullCheckReport, one: CheckStatus, language: Language) -> str:
    counts = [
        t(language, f"pull_check.title.{verdict}", count=number)
        for verdict in VERDICTS
        if (number := sum(failure.verdict == verdict for failure in one.failures))
    ]
    return " · ".join([_result(view, one, language), *counts])


def _result(view: PullCheckReport, one: CheckStatus, language: Language) -> str:
    if one.status != "completed":
        if view.status == "cancelled":
            return t(language, "pull_check.title.not_run")
        return t(language, f"checks.{one.status}")
    if one.kept_from:
        return t(language, "checks.kept", run=inline_code(one.kept_from, 80))
    if one.step is None:
        why = named_reason(one.because, language) if one.because else ""
        if one.looked_for:
            why = escape(reason_text(listed(one.looked_for), language))
        return " — ".join([t(language, "pull_check.title.not_run"), *([why] if why else [])])
    if one.step.skipped:
        return t(language, "result.skipped")
    if one.step.passed:
        return t(language, "result.flaky" if one.step.flaky else "result.passed")
    return how_it_ended(one.step, language)


def pull_failures(view: PullCheckReport, language: Language) -> str:
    """Beside the status each failing check: command, exit code, its failures by verdict with what is remembered of
    them, and what it said where something is new; then what to do."""
    failing = [one for one in view.checks if one.failures or _failed(one)]
    if not failing:
        last = [t(language, "checks.no_failure")] if view.status == "done" else []
        return "\n\n".join([pull_status(view, language), *last])
    parts = within((_failing(one, view, language) for one in failing[:_ROWS]), _ROOM)
    return "\n\n".join([pull_status(view, language), *parts, _next(view, failing, language)])


def _failed(one: CheckStatus) -> bool:
    return one.step is not None and not one.step.passed and not one.step.skipped


def _next(view: PullCheckReport, failing: list[CheckStatus], language: Language) -> str:
    if any(one.new for one in failing):
        return t(language, "checks.fix" if view.fixable else "checks.by_hand")
    return t(language, "checks.not_yours" if all(one.failures for one in failing) else "checks.again")


def _failing(one: CheckStatus, view: PullCheckReport, language: Language) -> str:
    facts = [f"**{inline_code(one.name, 40)}**"]
    if one.step is not None:
        facts += [inline_code(one.step.command, 200), how_it_ended(one.step, language)]
    elif one.kept_from:
        facts.append(t(language, "checks.kept", run=inline_code(one.kept_from, 80)))
    shown = _evidence(one, language) if one.new or not one.failures else ""
    return "\n\n".join(part for part in (" · ".join(facts), failures_list(view, one, language), shown) if part)


def _evidence(one: CheckStatus, language: Language) -> str:
    """What the check printed, at most 40 lines, cut in the middle."""
    text = strip_control(one.step.output).strip("\n") if one.step else ""
    return (
        fence(cut_middle(cut_lines(text, EVIDENCE_LINES, language=language), _EVIDENCE_CHARS, language), "text")
        if text.strip()
        else ""
    )
