"""The check runs on a pull request's head: verdicts with their evidence, the first error, the log, buttons.

Sizes are GitHub's limits, in bytes where GitHub counts bytes (T39, T40). The findings of a check are limited by
`runs.check_output`, which receives the check as a run of one step."""

from __future__ import annotations

from bot.model import (
    Annotation,
    AnnotationLevel,
    CheckOutput,
    KnownError,
    Language,
    RunView,
    Validation,
    ValidationStep,
)
from bot.model.pulls import CheckAction, CheckStatus, PullCheckReport
from bot.model.reasons import listed
from bot.reports.format.markdown import details, escape, plain
from bot.reports.format.truncate import CHECK_BYTES, cut_bytes, inline_code
from bot.reports.locale.catalog import duration, joined, t
from bot.reports.locale.reasons import reason_text
from bot.reports.pulls.failures import (
    commit_link,
    failure_counts,
    failures_list,
    finding_of,
    grouped_failures,
    named_reason,
    past_errors,
)
from bot.reports.pulls.unchecked_heads import (
    AWAITING,
    awaiting_output,
    config_output,
    footer,
    short_output,
    superseded_output,
)
from bot.reports.runs.check_output import check_output
from bot.reports.runs.missing_setup import setup_sentence
from bot.reports.runs.setup_lines import set_up_by
from bot.reports.runs.validation import evidence as error_block
from bot.reports.runs.validation import how_it_ended, only_warned, restored_note, stopped_title

__all__ = [
    "awaiting_output",
    "cancel_button",
    "check_actions",
    "config_output",
    "pull_check_output",
    "superseded_output",
]

_MAX_NAMES = 20
_LOOKED_FOR_CHARS = 1_000
_STAGE = "check"
"""Distinct from `fix`, so that no check of a repository is mistaken for the check run of the run itself."""

_LIVE = ("queued", "running")
_NO_BUTTONS = ("superseded", "closed", "withdrawn", "retargeted", AWAITING)
"""Reasons why a head ended early for which no button has an effect."""

CheckReport = tuple[str | None, CheckOutput, tuple[CheckAction, ...]]


def pull_check_output(
    view: PullCheckReport, check: CheckStatus, language: Language = "en", *, evidence: str = ""
) -> CheckReport:
    """Returns conclusion, output and buttons of the check run `mendbot / CHECK` on the head.

    The conclusion is None while the check is queued or in progress. `evidence` is the first error block
    (`rules.failures.errors`); without it the log is cut. Logs and annotations must be redacted already. If a check ran
    but its merge base could not be checked, `check.because` says why."""
    live = view.status in _LIVE
    buttons = check_actions(view, check, language, live=live)
    if check.status != "completed":
        if view.stop is not None and view.stop.reason == AWAITING:
            return *awaiting_output(view, language), buttons
        if not live:
            return *superseded_output(view, language), buttons
        return None, _waiting(view, check, language), buttons
    if check.step is None or check.step.skipped:
        return check.conclusion, _not_run(view, check, language), buttons
    return check.conclusion, _ran(view, check, check.step, language, evidence), buttons


def check_actions(
    view: PullCheckReport, check: CheckStatus, language: Language = "en", *, live: bool
) -> tuple[CheckAction, ...]:
    """Returns at most three buttons.

    `live` is true while the checks of the head continue: then a check that is not done can be cancelled. There are no
    buttons if the head was superseded or awaits approval, or if its pull request is closed."""
    if view.stop is not None and view.stop.reason in _NO_BUTTONS:
        return ()
    if check.status != "completed" and live:
        return (cancel_button(language),)
    failed = check.status != "completed" or check.conclusion not in ("success", "skipped")
    names = ["rerun_failed"] if failed else []
    if check.status == "completed" and check.new and view.fixable:
        names.append("fix")
    return tuple(_button(name, language) for name in names)


def cancel_button(language: Language = "en") -> CheckAction:
    """Returns the button that cancels running checks or a running fix."""
    return _button("cancel", language)


def _button(name: str, language: Language) -> CheckAction:
    return CheckAction(
        label=t(language, f"pull_check.{name}"), description=t(language, f"pull_check.{name}.long"), identifier=name
    )


def _waiting(view: PullCheckReport, check: CheckStatus, language: Language) -> CheckOutput:
    key = "queued" if check.status == "queued" else "running"
    text = t(language, f"pull_check.{key}.long", head=commit_link(view, view.head_sha))
    return short_output(view, t(language, f"pull_check.{key}"), [text, _reused_results(view, language)], language)


def _not_run(view: PullCheckReport, check: CheckStatus, language: Language) -> CheckOutput:
    if check.conclusion == "skipped":
        parts = [_why_not(check, language), _reused_note(check, language)]
        return short_output(view, t(language, "pull_check.title.not_run"), parts, language)
    what, run = failure_counts(view, check, language), plain(check.kept_from, 30)
    title = (
        t(language, "pull_check.title.kept.failed", what=what, run=run)
        if what
        else t(language, "pull_check.title.kept", run=run)
    )
    return short_output(view, title, [_reused_note(check, language), failures_list(view, check, language)], language)


def _why_not(check: CheckStatus, language: Language) -> str:
    """Returns why the check did not run: a named reason (`paths`, …), or the places that were searched for its
    command."""
    if check.looked_for:
        places = escape(reason_text(listed(check.looked_for), language), _LOOKED_FOR_CHARS)
        return t(language, "pull_check.because.looked_for", what=places)
    return named_reason(check.because or "no_command", language)


def _ran(
    view: PullCheckReport, check: CheckStatus, step: ValidationStep, language: Language, evidence: str
) -> CheckOutput:
    run = _as_run(view, check, step, evidence)
    _, bounded = check_output(run, _STAGE, language)
    time = duration(language, step.duration_ms)
    how = t(language, "result.passed") if step.passed else how_it_ended(step, language)
    parts = [
        t(language, "check.ran", command=inline_code(step.command, 400), time=time, how=how),
        _unable(view, check, step, language) or _broken(check, language),
        restored_note(step, language),
        set_up_by(view.setup, language),
        named_reason("setup", language) if check.because == "setup" else failures_list(view, check, language),
        _unmeasured(check, language),
        t(language, "check.warnings.long") if only_warned(step) else "",
        _reused_note(check, language) or _reused_results(view, language),
        past_errors(view, check, language) if check.new else "",
    ]
    if step.passed and step.flaky and not check.failures:
        parts.append(t(language, "check.flaky.long"))
    if len(step.annotations) > len(bounded.annotations):
        parts.append(t(language, "check.more", shown=len(bounded.annotations), all=len(step.annotations)))
    block = "" if step.passed else error_block(run, step, language)
    log = "" if block == bounded.text else bounded.text
    return CheckOutput(
        title=_title(view, check, step, language),
        summary=_summary(parts, block, footer(view, language), language),
        text=details(t(language, "pull_check.log"), log) if log else "",
        annotations=bounded.annotations,
    )


def _as_run(view: PullCheckReport, check: CheckStatus, step: ValidationStep, evidence: str) -> RunView:
    """Returns the check as a run of one step; findings without a new failure become notices."""
    findings = _lowered(check, step.annotations)
    known: dict[int, KnownError] = {}
    seen: dict[str, tuple[int, str]] = {}
    for failure in check.failures:
        finding = finding_of(failure, findings) if failure.known else None
        if finding is not None and failure.known is not None:
            known.setdefault(findings.index(finding), failure.known)
            if failure.seen is not None:
                seen[failure.known.error] = (failure.seen.times, failure.seen.since)
    only = step.model_copy(update={"annotations": findings, "stage": _STAGE, "failures": ()})
    return RunView(
        run_id=view.run_id,
        repo=view.repo,
        issues=(),
        key="",
        validations=(Validation(passed=step.passed, summary="", steps=(only,)),),
        evidence=evidence,
        recognised=tuple((findings[index], error) for index, error in known.items()),
        seen=tuple((error, *occurrences) for error, occurrences in seen.items()),
    )


def _lowered(check: CheckStatus, findings: tuple[Annotation, ...]) -> tuple[Annotation, ...]:
    if not check.failures:
        return findings
    grouped = grouped_failures(check)
    own = [group.finding for group in grouped if group.failure.own]
    warned = [group.finding for group in grouped if group.failure.verdict == "new_flaky" and not group.failure.own]
    other = [group.finding for group in grouped if not group.failure.own]

    def level(finding: Annotation) -> AnnotationLevel:
        if finding in warned and finding not in own:
            return "warning"
        return "notice" if not own or (finding in other and finding not in own) else finding.level

    return tuple(each.model_copy(update={"level": level(each)}) for each in findings)


def _unable(view: PullCheckReport, check: CheckStatus, step: ValidationStep, language: Language) -> str:
    """Returns what to do if the check could not run, and whether it ran on the merge base; empty if it ran."""
    if step.could_not_run is None:
        return ""
    setup = step.could_not_run.setup
    parts = [setup_sentence(setup, language) if setup else t(language, "unable.remedy", stage=step.stage)]
    if check.because == "base_not_run":
        parts.append(t(language, "pull_check.unable.base_too"))
    elif not check.because and view.base_sha:
        parts.append(t(language, "pull_check.unable.base_ran", base=commit_link(view, view.base_sha)))
    return " ".join(parts)


def _unmeasured(check: CheckStatus, language: Language) -> str:
    """Returns why it is unknown whether the failing tests execute a changed line; empty if it is known."""
    if check.unmeasured is None:
        return ""
    return t(language, "pull_check.unmeasured", why=escape(reason_text(check.unmeasured, language)))


def _broken(check: CheckStatus, language: Language) -> str:
    """Returns why the failures have no verdict; empty if they have."""
    broken = check.broken_setup
    if broken is None:
        return ""
    return t(language, "pull_check.broken.long", failed=broken.failed, ran=broken.ran)


def _title(view: PullCheckReport, check: CheckStatus, step: ValidationStep, language: Language) -> str:
    time = duration(language, step.duration_ms)
    counts = failure_counts(view, check, language)
    if check.because == "setup":
        return t(language, "pull_check.title.setup")
    if (broken := check.broken_setup) is not None:
        return t(language, "pull_check.title.broken", failed=broken.failed, ran=broken.ran)
    if step.could_not_run is not None and not check.failures:
        return t(language, "check.unable")
    if step.cut_short and not step.passed:
        stopped = stopped_title(step, time, language)
        single_new = check.new == check.failures and len(check.failures) < 2
        return stopped if single_new else f"{stopped}: {counts}"
    if check.failures:
        return counts
    if step.passed:
        passed = step.test_counts.passed
        if step.flaky:
            return t(language, "check.flaky")
        return t(language, "check.tests", count=passed) if passed else t(language, "check.passed", time=time)
    return t(language, "check.exit", how=how_it_ended(step, language), time=time)


def _reused_note(check: CheckStatus, language: Language) -> str:
    return t(language, "pull_check.kept.long", run=inline_code(check.kept_from, 80)) if check.kept_from else ""


def _reused_results(view: PullCheckReport, language: Language) -> str:
    """Returns which results of the earlier run remain valid beside those of the checks that were run again."""
    reused = [check for check in view.checks if check.kept_from and check.status == "completed"]
    passed = [inline_code(check.name, 40) for check in reused if check.conclusion == "success"]
    other = [inline_code(check.name, 40) for check in reused if check.conclusion not in ("success", "skipped")]
    counts = [("kept", passed), ("kept.other", other)]
    return "\n\n".join(
        t(language, f"pull_check.{key}", checks=_names(names, language)) for key, names in counts if names
    )


def _names(names: list[str], language: Language) -> str:
    more_count = len(names) - _MAX_NAMES
    more = [t(language, "pull_check.more", count=more_count)] if more_count > 0 else []
    return joined(language, names[:_MAX_NAMES] + more)


def _summary(parts: list[str], block: str, footer_line: str, language: Language) -> str:
    """Joins the parts, the error block in the remaining space, and the footer.

    Only the block is cut: it is a fence, which the cut closes again."""
    head = "\n\n".join(part for part in parts if part)
    space = CHECK_BYTES - len(f"{head}\n\n\n\n{footer_line}".encode("utf-8", "replace"))
    return "\n\n".join(part for part in (head, cut_bytes(block, space, language), footer_line) if part)
