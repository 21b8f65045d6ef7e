"""The check runs on a commit: a conclusion, a title that fits a list, the command and its log, annotations.

Sizes are GitHub's limits, in bytes where GitHub counts bytes (T39, T40)."""

from __future__ import annotations

import posixpath
from collections.abc import Sequence

from bot.model import Annotation, CheckOutput, KnownError, Language, Phase, RunView, Status, ValidationStep
from bot.reports.format.truncate import CHECK_BYTES, cut_bytes, cut_middle, fence, inline_code, one_line, strip_control
from bot.reports.history.known_errors import annotation_line
from bot.reports.locale.catalog import duration, t
from bot.reports.runs.failures import describe_failures
from bot.reports.runs.footer import footer
from bot.reports.runs.issue_comment import agent_sentence
from bot.reports.runs.missing_setup import setup_sentence
from bot.reports.runs.outcome import long_details, reason_sentence, stop_sentence, stopped
from bot.reports.runs.proof import is_shown, proof_paragraph, proof_title
from bot.reports.runs.validation import (
    changes_table,
    checks_table,
    failed_step,
    how_it_ended,
    latest,
    only_warned,
    restored_note,
    stopped_title,
)

MAX_ANNOTATIONS = 200
"""The client sends them 50 per request, GitHub's limit; more than 200 would not be read (T40)."""

_SEVERITY = {"failure": 0, "warning": 1, "notice": 2}
_LOG_CHARS = 16_000
"""With four bytes each, the log and its fence still fit the text."""

_MESSAGE_CHARS = 4_000
_TITLE_BYTES = 255
_MAX_LINE_NUMBER = 1_000_000_000


def check_output(view: RunView, check: str, language: Language = "en") -> tuple[str, CheckOutput]:
    """Returns conclusion and output of the check run `mendbot / CHECK`, where CHECK is fix, typecheck, lint or test.

    Conclusions are GitHub's: success, failure, timed_out, neutral (flaky, or in progress), cancelled, skipped. Logs and
    annotations in `view` must be redacted already."""
    if check == "fix":
        return _fix(view, language)
    validation = latest(view)
    step = next((step for step in validation.steps if step.stage == check), None) if validation else None
    if step is None or step.skipped:
        return _not_run(view, check, step, language)
    return _ran(view, step, language)


def _fix(view: RunView, language: Language) -> tuple[str, CheckOutput]:
    endings = {
        Status.SUCCESS: ("success", "fix.success"),
        Status.FAILED: ("failure", "fix.failed"),
        Status.CANCELLED: ("cancelled", "fix.cancelled"),
    }
    conclusion, key = endings.get(view.status, ("neutral", ""))
    if view.status is Status.SUCCESS and not is_shown(view):
        conclusion, key = "neutral", "fix.success" if view.changed_paths else "fix.nothing"
    validation = latest(view)
    parts = [proof_paragraph(view, language)]
    parts += [checks_table(validation, language)] if validation and validation.steps else []
    if view.agents:
        parts.append(agent_sentence(view, language))
    if view.stop is not None:
        cancelled = view.status is Status.CANCELLED
        details = [] if cancelled else [long_details(view, language)]
        parts += [stop_sentence(view, language) if cancelled else stopped(view, language), *details]
    else:
        parts.append(reason_sentence(view.waiting_for, language))
    title = t(language, key, attempt=view.attempt, most=view.max_attempts) if key else _live_title(view, language)
    if key == "fix.success":
        title = proof_title(view, language) or title
    text = changes_table(view, language) if len(view.validations) > 1 else ""
    return conclusion, _output(view, title, parts, text, (), language)


def _live_title(view: RunView, language: Language) -> str:
    """Returns the progress of a run that has not ended."""
    if view.status is Status.QUEUED:
        return t(language, "fix.queued")
    if view.phase is None:
        return t(language, "fix.running")
    # the pull request exists already if the run fixes one
    pushing = view.phase is Phase.PACKAGING and view.fixes_pull != ""
    phase = t(language, "phase.pushing" if pushing else f"phase.{view.phase}")
    key = "fix.running.attempt" if view.attempt else "fix.running.phase"
    return t(language, key, attempt=view.attempt, most=view.max_attempts, phase=phase)


def _not_run(view: RunView, check: str, step: ValidationStep | None, language: Language) -> tuple[str, CheckOutput]:
    validation = latest(view)
    failed = failed_step(validation)
    if step is not None:
        key = "check.skipped"
    elif failed is not None:
        key = "check.stopped"
    else:
        key = "check.absent" if validation is not None else "check.none"
    title = t(language, key, stage=one_line(failed.stage, 40) if failed else "")
    return "skipped", _output(view, title, [t(language, f"{key}.long", check=check)], "", (), language)


def _ran(view: RunView, step: ValidationStep, language: Language) -> tuple[str, CheckOutput]:
    annotations = _annotations(view, step, language)
    time = duration(language, step.duration_ms)
    passed = step.passed and not step.tolerated
    how = t(language, "result.passed") if passed else how_it_ended(step, language)
    parts = [t(language, "check.ran", command=inline_code(step.command, 400), time=time, how=how)]
    parts.append(restored_note(step, language))
    if len(step.annotations) > len(annotations):
        parts.append(t(language, "check.more", shown=len(annotations), all=len(step.annotations)))
    unable = step.could_not_run is not None
    if only_warned(step):
        parts.append(t(language, "check.warnings.long"))
    if step.passed and (step.flaky or step.tolerated) and not unable:
        parts.append(t(language, "check.tolerated.long" if step.tolerated else "check.flaky.long"))
    needed = step.could_not_run.setup if step.could_not_run is not None else None
    if needed is not None:
        parts.append(setup_sentence(needed, language))
    log = "" if needed is not None else strip_control(step.output).strip("\n")
    failures_text = (
        "" if needed is not None else strip_control(describe_failures(step.failures, step.failure_count, language))
    )
    blocks = (
        [failures_text, cut_middle(log, _LOG_CHARS, language)]
        if len(log) > len(failures_text)
        else [failures_text or log]
    )
    text = "\n\n".join(fence(block, "text") for block in blocks if block.strip())
    # if it could not run, nothing was checked, so a required status check must not pass
    if unable or not step.passed:
        conclusion = "timed_out" if step.timed_out and not unable else "failure"
    else:
        conclusion = "neutral" if step.flaky or step.tolerated else "success"
    return conclusion, _output(view, _title(step, time, language), parts, text, annotations, language)


def _title(step: ValidationStep, time: str, language: Language) -> str:
    if step.could_not_run is not None:
        return t(language, "check.unable")
    if step.passed:
        passed = step.test_counts.passed
        if step.flaky or step.tolerated:
            return t(language, "check.tolerated" if step.tolerated else "check.flaky")
        return t(language, "check.tests", count=passed) if passed else t(language, "check.passed", time=time)
    if step.cut_short:
        return stopped_title(step, time, language)
    failed = step.test_counts.failed
    if failed:
        return t(language, "check.failed_tests", count=failed)
    if step.annotations:
        return t(language, "check.findings", count=len(step.annotations))
    return t(language, "check.exit", how=how_it_ended(step, language), time=time)


def _output(
    view: RunView,
    title: str,
    parts: Sequence[str],
    text: str,
    annotations: tuple[Annotation, ...],
    language: Language,
) -> CheckOutput:
    footer_line = footer(view.run_id, view.sandbox, language, view.usage, view.page_url)
    return CheckOutput(
        title=cut_bytes(title, _TITLE_BYTES, language),
        summary=cut_bytes("\n\n".join(part for part in (*parts, footer_line) if part), CHECK_BYTES, language),
        text=cut_bytes(text, CHECK_BYTES, language),
        annotations=annotations,
    )


def _annotations(view: RunView, step: ValidationStep, language: Language) -> tuple[Annotation, ...]:
    """Returns at most 200 annotations of files in the repository, most severe first, with lines and texts within
    limits.

    One that the error history knows has a further line: how often it was seen and how it was resolved (REQ-RA-312)."""
    inside = [annotation for annotation in step.annotations if _in_repository(annotation.path)]
    inside.sort(key=lambda annotation: _SEVERITY[annotation.level])
    known: dict[Annotation, KnownError] = dict(view.recognised)
    seen = {error: (times, since) for error, times, since in view.seen}
    lines = {
        annotation: annotation_line(known[annotation], language, view.repo, seen=seen.get(known[annotation].error))
        for annotation in inside
        if annotation in known
    }
    return tuple(
        _within_limits(annotation, lines.get(annotation, ""), language) for annotation in inside[:MAX_ANNOTATIONS]
    )


def _in_repository(path: str) -> bool:
    plain = posixpath.normpath(path)
    return bool(path) and plain not in (".", "..") and not plain.startswith(("/", "../")) and "\0" not in path


def _within_limits(annotation: Annotation, more: str, language: Language) -> Annotation:
    message = cut_middle(strip_control(annotation.message), _MESSAGE_CHARS, language) or "–"
    start = min(max(annotation.start_line, 1), _MAX_LINE_NUMBER)
    return annotation.model_copy(
        update={
            "path": posixpath.normpath(annotation.path),
            "start_line": start,
            "end_line": min(max(annotation.end_line, start), _MAX_LINE_NUMBER),
            "message": f"{message}\n{more}" if more else message,
            "title": cut_bytes(one_line(annotation.title), _TITLE_BYTES, language),
        }
    )
