"""The part of an answer on a pull request's checks: the state of each check, and its failures by verdict."""

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

_MAX_ROWS = 20
_EVIDENCE_CHARS = 6_000
_MAX_CHARS = 40_000


def pull_status(view: PullCheckReport, language: Language) -> str:
    """Returns the head, and a table of the first 20 checks with their state and failure counts by verdict."""
    state = t(language, f"checks.{view.status}")
    head = t(language, "checks.of", sha=commit_link(view, view.head_sha), state=state)
    if view.stop is not None and (ending_text := ending(view, language)):
        head += f" ({ending_text[:1].lower()}{ending_text[1:]})"
    elif view.stop is not None:
        head += f" ({inline_code(view.stop.reason, 60)}: {escape(reason_text(view.stop.details, language)) or '–'})"
    rows = [
        [
            inline_code(check.name, 40),
            _state(view, check, language),
            duration(language, check.step.duration_ms) if check.step else "–",
        ]
        for check in view.checks[:_MAX_ROWS]
    ]
    more_count = len(view.checks) - len(rows)
    columns = [t(language, key) for key in ("check", "result", "time")]
    parts = [head, table(columns, rows) if rows else "", t(language, "more", count=more_count) if more_count else ""]
    return "\n\n".join(part for part in parts if part)


def _state(view: PullCheckReport, check: CheckStatus, language: Language) -> str:
    counts = [
        t(language, f"pull_check.title.{verdict}", count=number)
        for verdict in VERDICTS
        if (number := sum(failure.verdict == verdict for failure in check.failures))
    ]
    return " · ".join([_result(view, check, language), *counts])


def _result(view: PullCheckReport, check: CheckStatus, language: Language) -> str:
    if check.status != "completed":
        if view.status == "cancelled":
            return t(language, "pull_check.title.not_run")
        return t(language, f"checks.{check.status}")
    if check.kept_from:
        return t(language, "checks.kept", run=inline_code(check.kept_from, 80))
    if check.step is None:
        why = named_reason(check.because, language) if check.because else ""
        if check.looked_for:
            why = escape(reason_text(listed(check.looked_for), language))
        return " — ".join([t(language, "pull_check.title.not_run"), *([why] if why else [])])
    if check.step.skipped:
        return t(language, "result.skipped")
    if check.step.passed:
        return t(language, "result.flaky" if check.step.flaky else "result.passed")
    return how_it_ended(check.step, language)


def pull_failures(view: PullCheckReport, language: Language) -> str:
    """Returns the status and each failing check: command, exit code, failures by verdict with their history; then the
    next step.

    The output of a check is included if a failure is new or none was recognised."""
    failing = [check for check in view.checks if check.failures or _failed(check)]
    if not failing:
        last = [t(language, "checks.no_failure")] if view.status == "done" else []
        return "\n\n".join([pull_status(view, language), *last])
    parts = within((_failing(check, view, language) for check in failing[:_MAX_ROWS]), _MAX_CHARS)
    return "\n\n".join([pull_status(view, language), *parts, _next(view, failing, language)])


def _failed(check: CheckStatus) -> bool:
    return check.step is not None and not check.step.passed and not check.step.skipped


def _next(view: PullCheckReport, failing: list[CheckStatus], language: Language) -> str:
    if any(check.new for check in failing):
        return t(language, "checks.fix" if view.fixable else "checks.by_hand")
    return t(language, "checks.not_yours" if all(check.failures for check in failing) else "checks.again")


def _failing(check: CheckStatus, view: PullCheckReport, language: Language) -> str:
    facts = [f"**{inline_code(check.name, 40)}**"]
    if check.step is not None:
        facts += [inline_code(check.step.command, 200), how_it_ended(check.step, language)]
    elif check.kept_from:
        facts.append(t(language, "checks.kept", run=inline_code(check.kept_from, 80)))
    output = _evidence(check, language) if check.new or not check.failures else ""
    return "\n\n".join(part for part in (" · ".join(facts), failures_list(view, check, language), output) if part)


def _evidence(check: CheckStatus, language: Language) -> str:
    """Returns the output of the check, at most 40 lines, cut in the middle."""
    text = strip_control(check.step.output).strip("\n") if check.step else ""
    return (
        fence(cut_middle(cut_lines(text, EVIDENCE_LINES, language=language), _EVIDENCE_CHARS, language), "text")
        if text.strip()
        else ""
    )
