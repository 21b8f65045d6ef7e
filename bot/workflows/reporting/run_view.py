"""Builds the view of a run that reports show, from its row and its state."""

from __future__ import annotations

from typing import Any

from bot.model import Annotation, ErrorDelta, RunView, Status
from bot.model.reasons import Reason
from bot.reports.locale.reasons import english
from bot.rules.excerpts.excerpts import evidence_of
from bot.rules.failures.failure_origin import NOT_RUN
from bot.rules.history.recognition import recognised
from bot.rules.runs.run_metadata import attempts, run_metadata
from bot.rules.runs.state import RunState
from bot.rules.runs.suite_state import what_ran
from bot.store.runs.runs import RunRow


def view_of(row: RunRow, state: RunState, *, now_ms: int | None = None) -> RunView:
    """The view of a run. An answer, which is never updated, passes `now_ms` to show how long the run has waited."""
    spec, details = row.spec, english(state.stop.details) if state.stop else ""
    return RunView(
        run_id=row.id,
        repo=spec.place,
        issues=spec.issues,
        key=spec.key,
        reasons=spec.reasons,
        branch=state.branch or row.branch or "",
        base_sha=state.base_sha or "",
        status=_status(state),
        phase=state.current_phase,
        waiting_for=row.waiting_for,
        attempt=state.counted,
        max_attempts=spec.attempt_limit,
        agents=state.agents,
        baseline=state.baseline,
        proof=state.proof,
        validations=state.validations,
        setup=state.setup,
        chosen=tuple((stage.command.text, stage.because) for stage in state.stages if stage.command),
        **_left(state),
        changed_paths=state.changed_paths,
        stop=state.stop,
        commit_sha=state.commit_sha,
        pull=state.pull,
        fixes_pull="" if spec.pull is None else "fork" if spec.pull.from_fork else "branch",
        salvage_ref=state.salvage_ref,
        unfinished=state.unfinished,
        loss=state.loss,
        sandbox=state.sandbox,
        trigger_label=spec.policy.trigger_label,
        duration_ms=_duration_ms(state),
        evidence=_evidence(state),
        rejections=_rejections(state),
        what_ran=what_ran(state.what_ran),
        task=spec.goal,
        guidance=state.guidance,
        recognised=recognised(_findings(state), state.guidance),
        error_delta=_error_delta(state),
        printed=tuple(state.printed.items()),
        notes=state.notes,
        attempts=attempts(state),
        conflicts=state.conflicts,
        usage=state.usage,
        waited_ms=_waited_ms(row, state, now_ms),
        metadata=run_metadata(row.id, spec, state, details) if state.finished else None,
    )


def _status(state: RunState) -> Status:
    return state.finished or (Status.RUNNING if state.started_at else Status.QUEUED)


def _left(state: RunState) -> dict[str, Any]:
    """The fields about the errors and checks of the base that are left alone."""
    return {
        "left": tuple(text for left in state.left.values() for text in left.said),
        "left_count": sum(len(left.errors) for left in state.left.values() if NOT_RUN not in left.errors),
        "left_out": tuple(state.stages[at].name for at, left in state.left.items() if NOT_RUN in left.errors),
    }


def _waited_ms(row: RunRow, state: RunState, now_ms: int | None) -> int:
    return max(0, now_ms - row.created_at) if now_ms is not None and state.started_at is None else 0


def _rejections(state: RunState) -> tuple[Reason, ...]:
    """Why changes were not applied, without the reasons that the stop reason holds."""
    given = _parts(state.stop.details) if state.stop else ()
    return tuple(one for one in state.rejections if not given or not set(_parts(one)) <= set(given))


def _parts(reason: Reason) -> tuple[Reason, ...]:
    """The reason, or those that it holds."""
    found = reason.values.get("reasons")
    return found if isinstance(found, tuple) else (reason,)


def _duration_ms(state: RunState) -> int:
    """The duration of the run without its pauses."""
    if state.ended_at is None or state.started_at is None:
        return 0
    return max(0, int((state.ended_at - state.started_at).total_seconds() * 1000) - state.paused_ms)


def _findings(state: RunState) -> tuple[Annotation, ...]:
    """The annotations of the last validation."""
    steps = state.validations[-1].steps if state.validations else ()
    return tuple(finding for step in steps for finding in step.annotations)


def _error_delta(state: RunState) -> ErrorDelta | None:
    seen = state.verdict
    if seen is None:
        return None
    return ErrorDelta(fixed=seen.fixed, remaining=seen.remaining, introduced=seen.introduced)


def _evidence(state: RunState) -> str:
    """The first error block of the last validation's failure."""
    steps = state.validations[-1].steps if state.validations else ()
    failed = next((step for step in steps if not step.passed), None)
    return evidence_of(failed) if failed else ""
