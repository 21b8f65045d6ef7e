"""What the check runs on a pull request's head say: verdicts with their evidence, the first error, the log, buttons.

Sizes are GitHub's, in bytes where it counts bytes (trust.md T39, T40); a check's findings are put in bounds by
`check_output`, as a run of one step."""

from __future__ import annotations

from bot.model import Annotation, CheckOutput, KnownError, Language, RunView, Validation, ValidationStep
from bot.model.pulls import CheckAction, PullCheck, PullView
from bot.reports.check_output import check_output
from bot.reports.limits import CHECK_BYTES, cut_bytes, inline_code
from bot.reports.prose import details, escape
from bot.reports.pull_failures import VERDICTS, commit_link, failures_list, finding_of, past_errors, told_failures
from bot.reports.pull_heads import (
    AWAITING,
    awaiting_output,
    config_output,
    footer,
    short_output,
    superseded_output,
)
from bot.reports.pull_words import WORDS, reason, tell, tell_count
from bot.reports.setup_lines import set_up_by
from bot.reports.setups import setup_sentence
from bot.reports.text import duration, joined, say
from bot.reports.validation import evidence as error_block
from bot.reports.validation import how_it_ended, only_warned, restored_note, tests_counted

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

Told = tuple[str | None, CheckOutput, tuple[CheckAction, ...]]


def pull_check_output(view: PullView, check: PullCheck, language: Language = "en", *, evidence: str = "") -> Told:
    """Conclusion, output and buttons of the check run `mendbot / CHECK` on the head; the conclusion is None while the
    check is queued or in progress.

    `evidence` is the first error block (`rules.failures`); empty lets the log be cut. Logs and annotations must be
    redacted already. A check that ran says in `because` why its base could not be told, if so."""
    live = view.status in _LIVE
    buttons = check_actions(view, check, language, live=live)
    if check.status != "completed":
        if view.stop is not None and view.stop.reason == AWAITING:
            return *awaiting_output(view, language), buttons
        if not live:
            return *superseded_output(view, language), buttons
        return None, _waiting(view, check, language), buttons
    if check.step is None or check.step.skipped:
        return _conclusion(check), _not_run(view, check, language), buttons
    return _conclusion(check), _ran(view, check, check.step, language, evidence), buttons


def check_actions(
    view: PullView, check: PullCheck, language: Language = "en", *, live: bool
) -> tuple[CheckAction, ...]:
    """At most three buttons. `live` is whether the head's checks still go on: then one that is not done can be
    cancelled. A head that a newer one replaced has none, nor has one that waits for approval or whose pull request is
    closed."""
    if view.stop is not None and view.stop.reason in _NO_BUTTONS:
        return ()
    if check.status != "completed" and live:
        return (cancel_button(language),)
    failed = check.status != "completed" or _conclusion(check) not in ("success", "skipped")
    names = ["rerun_failed"] if failed else []
    if check.status == "completed" and check.new and view.fixable:
        names.append("fix")
    return tuple(_button(name, language) for name in names)


def cancel_button(language: Language = "en") -> CheckAction:
    """What stops a run of checks or a fix under way."""
    return _button("cancel", language)


def _button(name: str, language: Language) -> CheckAction:
    return CheckAction(label=tell(language, name), description=tell(language, f"{name}.long"), identifier=name)


def _conclusion(check: PullCheck) -> str:
    """As `rules.verdict.conclusion` decides, which reports may not ask; a test holds the two together."""
    step = check.step
    if step.skipped if step else not check.failures and (check.because != "" or not check.kept_from):
        return "skipped"
    if check.new or (step is not None and not step.passed and not check.failures):
        return "timed_out" if step is not None and step.timed_out else "failure"
    flaky = step is not None and step.flaky
    return "neutral" if check.failures or flaky else "success"


def _waiting(view: PullView, check: PullCheck, language: Language) -> CheckOutput:
    key = "queued" if check.status == "queued" else "running"
    told = tell(language, f"{key}.long", head=commit_link(view, view.head_sha))
    return short_output(view, tell(language, key), [told, _kept(view, language)], language)


def _not_run(view: PullView, check: PullCheck, language: Language) -> CheckOutput:
    if _conclusion(check) == "skipped":
        because = [_why_not(check, language), _stands(check, language)]
        return short_output(view, tell(language, "title.not_run"), because, language)
    what = _counts(check, language)
    title = tell(language, "title.kept.failed", what=what) if what else tell(language, "title.kept")
    return short_output(view, title, [_stands(check, language), failures_list(view, check, language)], language)


def _why_not(check: PullCheck, language: Language) -> str:
    """By a name that has words (`paths`, …); any other text is what was looked for to run it, in vain."""
    if f"because.{check.because or 'no_command'}" in WORDS[language]:
        return reason(check.because or "no_command", language)
    return tell(language, "because.looked_for", what=escape(check.because, _LOOKED_FOR_CHARS))


def _ran(view: PullView, check: PullCheck, step: ValidationStep, language: Language, evidence: str) -> CheckOutput:
    run = _as_run(view, check, step, evidence)
    _, bounded = check_output(run, _STAGE, language)
    time = duration(language, step.duration_ms)
    how = say(language, "result.passed") if step.passed else how_it_ended(step, language)
    parts = [
        say(language, "check.ran", command=inline_code(step.command, 400), time=time, how=how),
        _unable(view, check, step, language),
        restored_note(step, language),
        set_up_by(view.setup, language),
        failures_list(view, check, language),
        say(language, "check.warnings.long") if only_warned(step) else "",
        _stands(check, language) or _kept(view, language),
        past_errors(view, check, language) if check.new else "",
    ]
    if step.passed and step.flaky and not check.failures:
        parts.append(say(language, "check.flaky.long"))
    if len(step.annotations) > len(bounded.annotations):
        parts.append(say(language, "check.more", shown=len(bounded.annotations), all=len(step.annotations)))
    block = "" if step.passed else error_block(run, step, language)
    log = "" if block == bounded.text else bounded.text
    return CheckOutput(
        title=_title(check, step, language),
        summary=_summary(parts, block, footer(view, language)),
        text=details(tell(language, "log"), log) if log else "",
        annotations=bounded.annotations,
    )


def _as_run(view: PullView, check: PullCheck, step: ValidationStep, evidence: str) -> RunView:
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


def _lowered(check: PullCheck, findings: tuple[Annotation, ...]) -> tuple[Annotation, ...]:
    if not check.failures:
        return findings
    told = told_failures(check)
    new = [one.finding for one in told if one.failure.verdict == "new"]
    other = [one.finding for one in told if one.failure.verdict != "new"]

    def low(finding: Annotation) -> bool:
        return not new or (finding in other and finding not in new)

    return tuple(one.model_copy(update={"level": "notice"}) if low(one) else one for one in findings)


def _unable(view: PullView, check: PullCheck, step: ValidationStep, language: Language) -> str:
    """What to do where the check could not run, and whether the base is any better; empty where it ran."""
    if step.could_not_run is None:
        return ""
    setup = step.could_not_run.setup
    told = [setup_sentence(setup, language) if setup else say(language, "unable.remedy", stage=step.stage)]
    if check.because == "base_not_run":
        told.append(tell(language, "unable.base_too"))
    elif not check.because and view.base_sha:
        told.append(tell(language, "unable.base_ran", base=commit_link(view, view.base_sha)))
    return " ".join(told)


def _title(check: PullCheck, step: ValidationStep, language: Language) -> str:
    time = duration(language, step.duration_ms)
    counts = _counts(check, language)
    if step.could_not_run is not None and not check.failures:
        return say(language, "result.unable")
    if step.timed_out and not step.passed:
        timed_out = say(language, "check.timed_out", time=time)
        unsaid = check.new == check.failures and len(check.failures) < 2
        return timed_out if unsaid else f"{timed_out}: {counts}"
    if check.failures:
        return counts
    if step.passed:
        passed = tests_counted("passed", step)
        if step.flaky:
            return say(language, "check.flaky")
        return say(language, "check.tests", count=passed) if passed else say(language, "check.passed", time=time)
    return say(language, "check.exit", how=how_it_ended(step, language), time=time)


def _counts(check: PullCheck, language: Language) -> str:
    """`2 new failures, 1 also on base`; where all have one verdict and its runner names no test, the tests that it
    counted."""
    counted = told_failures(check)
    failures = [one.failure.verdict for one in counted]
    numbers = {verdict: failures.count(verdict) for verdict in VERDICTS}
    told = [verdict for verdict in VERDICTS if numbers[verdict]]
    if told == ["flaky"]:
        return tell(language, "title.passed_again")
    unnamed = len(told) == 1 and not any(one.failure.test for one in counted)
    tests = tests_counted("failed", check.step) if check.step and unnamed else 0
    return ", ".join(tell_count(language, f"title.{verdict}", tests or numbers[verdict]) for verdict in told)


def _stands(check: PullCheck, language: Language) -> str:
    return tell(language, "kept.long", run=inline_code(check.kept_from, 80)) if check.kept_from else ""


def _kept(view: PullView, language: Language) -> str:
    """Which results of the earlier run stand, told beside those that were run again."""
    kept = [check for check in view.checks if check.kept_from and check.status == "completed"]
    passed = [inline_code(check.name, 40) for check in kept if _conclusion(check) == "success"]
    other = [inline_code(check.name, 40) for check in kept if _conclusion(check) not in ("success", "skipped")]
    told = [("kept", passed), ("kept.other", other)]
    return "\n\n".join(tell(language, key, checks=_names(names, language)) for key, names in told if names)


def _names(names: list[str], language: Language) -> str:
    left = len(names) - _NAMES
    return joined(language, names[:_NAMES] + ([tell(language, "more", count=left)] if left > 0 else []))


def _summary(parts: list[str], block: str, last: str) -> str:
    """The parts, the error block in what room they leave, the footer: only a fence, which is closed again, is cut."""
    head = "\n\n".join(part for part in parts if part)
    room = CHECK_BYTES - len(f"{head}\n\n\n\n{last}".encode("utf-8", "replace"))
    return "\n\n".join(part for part in (head, cut_bytes(block, room), last) if part)
