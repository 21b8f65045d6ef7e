"""What a report may tell of a run, gathered from its row and its folded events."""

from __future__ import annotations

from bot.model import Annotation, Movement, RunView, Status
from bot.rules.certificate import attempts, certificate
from bot.rules.course import RunState
from bot.rules.failures import first_error_block
from bot.rules.recognition import recognised
from bot.store.runs import RunRow


def view_of(
    row: RunRow,
    state: RunState,
    *,
    now_ms: int | None = None,
) -> RunView:
    """The run as its readers see it. An answer, which is given once, may tell how long the run has waited: then
    `now_ms` is the time (epoch milliseconds)."""
    spec = row.spec
    duration = (
        int((state.ended_at - state.started_at).total_seconds() * 1000) if state.ended_at and state.started_at else 0
    )
    return RunView(
        run_id=row.id,
        repo=spec.place,
        issues=spec.issues,
        key=spec.key,
        reasons=spec.reasons,
        branch=state.branch or row.branch or "",
        base_sha=state.base_sha or "",
        status=state.finished or (Status.RUNNING if state.started_at else Status.QUEUED),
        phase=state.current_phase,
        waiting_for=row.waiting_for,
        attempt=state.attempt,
        max_attempts=spec.most_attempts,
        agents=state.agents,
        baseline=state.baseline,
        validations=state.validations,
        changed_paths=state.changed_paths,
        stop=state.stop,
        commit_sha=state.commit_sha,
        pull=state.pull,
        salvage_ref=state.salvage_ref,
        sandbox=state.sandbox,
        trigger_label=spec.policy.trigger_label,
        duration_ms=duration,
        evidence=_evidence(state),
        troubles=state.troubles,
        task=spec.goal,
        guidance=state.guidance,
        recognised=recognised(_findings(state), state.guidance),
        movement=_movement(state),
        notes=state.notes,
        tried=attempts(state),
        conflicts=state.conflicts,
        waited_ms=max(0, now_ms - row.created_at) if now_ms is not None and state.started_at is None else 0,
        certificate=certificate(row.id, spec, state) if state.finished else None,
    )


def _findings(state: RunState) -> tuple[Annotation, ...]:
    """All that the last validation found at a place."""
    steps = state.validations[-1].steps if state.validations else ()
    return tuple(finding for step in steps for finding in step.annotations)


def _movement(state: RunState) -> Movement | None:
    seen = state.verdict
    if seen is None:
        return None
    return Movement(fixed=seen.fixed, remaining=seen.remaining, introduced=seen.introduced)


def _evidence(state: RunState) -> str:
    """The first error block of the last validation's failure."""
    steps = state.validations[-1].steps if state.validations else ()
    failed = next((step for step in steps if not step.passed), None)
    return first_error_block(failed.output) if failed else ""
