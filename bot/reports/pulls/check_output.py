"""What the check runs on a pull request's head say: verdicts with their evidence, the first error, the log, buttons.

Sizes are GitHub's, in bytes where it counts bytes (T39, T40); a check's findings are put in bounds by
`check_output`, as a run of one step."""

from __future__ import annotations

from bot.model import Annotation, CheckOutput, KnownError, Language, RunView, Validation, ValidationStep
from bot.model.pulls import CheckAction, CheckStatus, PullCheckReport
from bot.model.reasons import listed
from bot.reports.format.markdown import details, escape, plain
from bot.reports.format.truncate import CHECK_BYTES, cut_bytes, inline_code
from bot.reports.locale.catalog import duration, joined, t
from bot.reports.locale.reasons import reason_text
from bot.reports.pulls.failures import (
    VERDICTS,
    commit_link,
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

_TITLE_BYTES = 255
_NAMES = 20
_LOOKED_FOR_CHARS = 1_000
_STAGE = "check"
"""So that no check of a repository's own is taken for the run's own one, `fix`."""

_LIVE = ("queued", "running")
_NO_BUTTONS = ("superseded", "closed", "withdrawn", "retargeted", AWAITING)
"""Why a head ended early on which no button would do anything."""

CheckReport = tuple[str | None, CheckOutput, tuple[CheckAction, ...]]


def pull_check_output(
    view: PullCheckReport, check: CheckStatus, language: Language = "en", *, evidence: str = ""
) -> CheckReport:
    """Conclusion, output and buttons of the check run `mendbot / CHECK` on the head; the conclusion is None while the
    check is queued or in progress.

    `evidence` is the first error block (`rules.failures.errors`); empty lets the log be cut. Logs and annotations must
    be redacted already. A check that ran says in `because` why its base could not be told, if so."""
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
    """At most three buttons. `live` is whether the head's checks still go on: then one that is not done can be
    cancelled. A head that a newer one replaced has none, nor has one that waits for approval or whose pull request is
    closed."""
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
    """What stops a run of checks or a fix under way."""
    return _button("cancel", language)


def _button(name: str, language: Language) -> CheckAction:
    return CheckAction(
        label=t(language, f"pull_check.{name}"), description=t(language, f"pull_check.{name}.long"), identifier=name
    )


def _waiting(view: PullCheckReport, check: CheckStatus, language: Language) -> CheckOutput:
    key = "queued" if check.status == "queued" else "running"
    text = t(language, f"pull_check.{key}.long", head=commit_link(view, view.head_sha))
    return short_output(view, t(language, f"pull_check.{key}"), [text, _kept(view, language)], language)


def _not_run(view: PullCheckReport, check: CheckStatus, language: Language) -> CheckOutput:
    if check.conclusion == "skipped":
        because = [_why_not(check, language), _stands(check, language)]
        return short_output(view, t(language, "pull_check.title.not_run"), because, language)
    what, run = _counts(view, check, language), plain(check.kept_from, 30)
    title = (
        t(language, "pull_check.title.kept.failed", what=what, run=run)
        if what
        else t(language, "pull_check.title.kept", run=run)
    )
    return short_output(view, title, [_stands(check, language), failures_list(view, check, language)], language)


def _why_not(check: CheckStatus, language: Language) -> str:
    """Why the check did not run: a named reason (`paths`, …), or where its command was looked for."""
    if check.looked_for:
        looked = escape(reason_text(listed(check.looked_for), language), _LOOKED_FOR_CHARS)
        return t(language, "pull_check.because.looked_for", what=looked)
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
        _unable(view, check, step, language),
        restored_note(step, language),
        set_up_by(view.setup, language),
        named_reason("setup", language) if check.because == "setup" else failures_list(view, check, language),
        t(language, "check.warnings.long") if only_warned(step) else "",
        _stands(check, language) or _kept(view, language),
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
    """The check as a run of one step, its findings lowered to notices where nothing that failed there is new."""
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
        recognised=tuple((findings[at], one) for at, one in known.items()),
        seen=tuple((error, *one) for error, one in seen.items()),
    )


def _lowered(check: CheckStatus, findings: tuple[Annotation, ...]) -> tuple[Annotation, ...]:
    if not check.failures:
        return findings
    grouped = grouped_failures(check)
    new = [one.finding for one in grouped if one.failure.verdict == "new"]
    other = [one.finding for one in grouped if one.failure.verdict != "new"]

    def low(finding: Annotation) -> bool:
        return not new or (finding in other and finding not in new)

    return tuple(one.model_copy(update={"level": "notice"}) if low(one) else one for one in findings)


def _unable(view: PullCheckReport, check: CheckStatus, step: ValidationStep, language: Language) -> str:
    """What to do where the check could not run, and whether the base is any better; empty where it ran."""
    if step.could_not_run is None:
        return ""
    setup = step.could_not_run.setup
    parts = [setup_sentence(setup, language) if setup else t(language, "unable.remedy", stage=step.stage)]
    if check.because == "base_not_run":
        parts.append(t(language, "pull_check.unable.base_too"))
    elif not check.because and view.base_sha:
        parts.append(t(language, "pull_check.unable.base_ran", base=commit_link(view, view.base_sha)))
    return " ".join(parts)


def _title(view: PullCheckReport, check: CheckStatus, step: ValidationStep, language: Language) -> str:
    time = duration(language, step.duration_ms)
    counts = _counts(view, check, language)
    if check.because == "setup":
        return t(language, "pull_check.title.setup")
    if step.could_not_run is not None and not check.failures:
        return t(language, "check.unable")
    if step.cut_short and not step.passed:
        stopped = stopped_title(step, time, language)
        unsaid = check.new == check.failures and len(check.failures) < 2
        return stopped if unsaid else f"{stopped}: {counts}"
    if check.failures:
        return counts
    if step.passed:
        passed = step.test_counts.passed
        if step.flaky:
            return t(language, "check.flaky")
        return t(language, "check.tests", count=passed) if passed else t(language, "check.passed", time=time)
    return t(language, "check.exit", how=how_it_ended(step, language), time=time)


def _counts(view: PullCheckReport, check: CheckStatus, language: Language) -> str:
    """`2 new failures, 1 existing failure (also on 1f0c5a8)`; where all have one verdict and its runner names no
    test, the tests that it counted."""
    counted = grouped_failures(check)
    failures = [one.failure.verdict for one in counted]
    numbers = {verdict: failures.count(verdict) for verdict in VERDICTS}
    verdicts = [verdict for verdict in VERDICTS if numbers[verdict]]
    if verdicts == ["flaky"]:
        return t(language, "pull_check.title.passed_again")
    unnamed = len(verdicts) == 1 and not any(one.failure.test for one in counted)
    tests = check.step.test_counts.failed if check.step and unnamed else 0
    words = {
        verdict: t(language, f"pull_check.title.{verdict}", count=tests or numbers[verdict]) for verdict in verdicts
    }
    if "also_on_base" in words and view.base_sha and not check.kept_from:
        words["also_on_base"] += t(language, "pull_check.title.base", base=view.base_sha[:7])
    return ", ".join(words.values())


def _stands(check: CheckStatus, language: Language) -> str:
    return t(language, "pull_check.kept.long", run=inline_code(check.kept_from, 80)) if check.kept_from else ""


def _kept(view: PullCheckReport, language: Language) -> str:
    """Which results of the earlier run stand, told beside those that were run again."""
    kept = [check for check in view.checks if check.kept_from and check.status == "completed"]
    passed = [inline_code(check.name, 40) for check in kept if check.conclusion == "success"]
    other = [inline_code(check.name, 40) for check in kept if check.conclusion not in ("success", "skipped")]
    counts = [("kept", passed), ("kept.other", other)]
    return "\n\n".join(
        t(language, f"pull_check.{key}", checks=_names(names, language)) for key, names in counts if names
    )


def _names(names: list[str], language: Language) -> str:
    left = len(names) - _NAMES
    return joined(language, names[:_NAMES] + ([t(language, "pull_check.more", count=left)] if left > 0 else []))


def _summary(parts: list[str], block: str, last: str, language: Language) -> str:
    """The parts, the error block in what room they leave, the footer: only a fence, which is closed again, is cut."""
    head = "\n\n".join(part for part in parts if part)
    room = CHECK_BYTES - len(f"{head}\n\n\n\n{last}".encode("utf-8", "replace"))
    return "\n\n".join(part for part in (head, cut_bytes(block, room, language), last) if part)
