"""What a report may tell of a run, gathered from its row and its folded events."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from bot.model import Annotation, Language, Movement, RunView, Status, StopReason
from bot.model.said import Said, Stop
from bot.reports.reasons import in_words
from bot.rules.certificate import attempts, certificate
from bot.rules.course import RunState
from bot.rules.proof import proof_of
from bot.rules.recognition import recognised
from bot.rules.sayings import read
from bot.rules.shown_failures import evidence_of
from bot.rules.suites_seen import what_ran
from bot.rules.verdict import NOT_RUN
from bot.store.runs import RunRow


def view_of(row: RunRow, state: RunState, *, now_ms: int | None = None, language: Language = "en") -> RunView:
    """The run as its readers see it; `language` is theirs where the repository's configuration names none. An answer,
    which is given once, may tell how long the run has waited: then `now_ms` is the time (epoch milliseconds)."""
    spec, words = row.spec, partial(in_words, language=row.spec.policy.language or language)
    return RunView(
        run_id=row.id,
        repo=spec.place,
        issues=spec.issues,
        key=spec.key,
        reasons=tuple(words(one) for one in spec.why) or spec.reasons,
        branch=state.branch or row.branch or "",
        base_sha=state.base_sha or "",
        status=state.finished or (Status.RUNNING if state.started_at else Status.QUEUED),
        phase=state.current_phase,
        waiting_for=_told(row.waiting_for, words),
        attempt=state.counted,
        max_attempts=spec.most_attempts,
        agents=state.agents,
        baseline=state.baseline,
        proof=proof_of(spec, state) if state.passed or state.finished is Status.SUCCESS else "shown",
        validations=state.validations,
        setup=state.setup,
        chosen=tuple((stage.command.text, stage.because) for stage in state.stages if stage.command),
        left=tuple(said for left in state.left.values() for said in left.said),
        left_count=sum(len(left.errors) for left in state.left.values() if NOT_RUN not in left.errors),
        left_out=tuple(state.stages[at].name for at, left in state.left.items() if NOT_RUN in left.errors),
        changed_paths=state.changed_paths,
        stop=_stop(state, words),
        commit_sha=state.commit_sha,
        pull=state.pull,
        mends="" if spec.pull is None else "fork" if spec.pull.from_fork else "branch",
        salvage_ref=state.salvage_ref,
        loss=state.loss,
        sandbox=state.sandbox,
        trigger_label=spec.policy.trigger_label,
        duration_ms=_duration_ms(state),
        evidence=_evidence(state),
        troubles=_troubles(state, words),
        what_ran=what_ran(state.what_ran),
        task=spec.goal,
        guidance=state.guidance,
        recognised=recognised(_findings(state), state.guidance),
        movement=_movement(state),
        printed=tuple(state.printed.items()),
        notes=state.notes,
        tried=attempts(state),
        conflicts=state.conflicts,
        waited_ms=_waited_ms(row, state, now_ms),
        certificate=certificate(row.id, spec, state) if state.finished else None,
    )


def _waited_ms(row: RunRow, state: RunState, now_ms: int | None) -> int:
    return max(0, now_ms - row.created_at) if now_ms is not None and state.started_at is None else 0


def _told(text: str | None, words: Callable[[Said], str]) -> str | None:
    """What a row keeps as text, in the reader's language where it is a sentence of ours."""
    found = read(text) if text else None
    return words(found) if found else text


def _stop(state: RunState, words: Callable[[Said], str]) -> StopReason | None:
    stop = state.stop
    if stop is None:
        return None
    said = stop.said if isinstance(stop, Stop) else None
    return StopReason(reason=stop.reason, details=words(said) if said else _told(stop.details, words) or "")


def _troubles(state: RunState, words: Callable[[Said], str]) -> tuple[str, ...]:
    """Why changes were not taken, but for what the stop reason says already."""
    said = state.stop.details if state.stop else ""
    return tuple(_told(trouble, words) or trouble for trouble in state.troubles if trouble not in said)


def _duration_ms(state: RunState) -> int:
    """What the run took, without the time for which somebody had paused it."""
    if state.ended_at is None or state.started_at is None:
        return 0
    return max(0, int((state.ended_at - state.started_at).total_seconds() * 1000) - state.paused_ms)


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
    return evidence_of(failed) if failed else ""
