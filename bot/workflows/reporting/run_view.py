"""What a report may tell of a run, gathered from its row and its folded events."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial

from bot.model import Annotation, ErrorDelta, Language, RunView, Status, StopReason
from bot.model.reasons import ExplainedStop, Reason
from bot.reports.locale.reasons import reason_text
from bot.rules.excerpts.excerpts import evidence_of
from bot.rules.failures.verdict import NOT_RUN
from bot.rules.history.recognition import recognised
from bot.rules.reasons import parse_reason
from bot.rules.runs.certificate import attempts, certificate
from bot.rules.runs.executed_tests import what_ran
from bot.rules.runs.proof import proof_of
from bot.rules.runs.state import RunState
from bot.store.runs.runs import RunRow

_NAMES = r"(?:fixers|history|given|command(?::[^;`\s][^;`]{0,60}?)?)"
_NAMED = re.compile(rf"({_NAMES}): (.+)", re.DOTALL)
_PIECES = 40


def view_of(row: RunRow, state: RunState, *, now_ms: int | None = None, language: Language = "en") -> RunView:
    """The run as its readers see it. An answer, which is given once, may tell how long it has waited by `now_ms`."""
    spec, words = row.spec, partial(reason_text, language=row.spec.policy.language or language)
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
        waiting_for=_translated(row.waiting_for, words),
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
        fixes_pull="" if spec.pull is None else "fork" if spec.pull.from_fork else "branch",
        salvage_ref=state.salvage_ref,
        unfinished=state.unfinished,
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
        notes=tuple(in_parts(note, words) for note in state.notes),
        tried=attempts(state),
        conflicts=state.conflicts,
        waited_ms=_waited_ms(row, state, now_ms),
        certificate=certificate(row.id, spec, state) if state.finished else None,
    )


def _waited_ms(row: RunRow, state: RunState, now_ms: int | None) -> int:
    return max(0, now_ms - row.created_at) if now_ms is not None and state.started_at is None else 0


def _translated(text: str | None, words: Callable[[Reason], str]) -> str | None:
    """What a row keeps as text, in the reader's language where it is a sentence of ours."""
    return in_parts(text, words) if text else text


def in_parts(text: str, words: Callable[[Reason], str]) -> str:
    """The text with every sentence of ours in it put into words: one may follow another, and an agent's name may stand
    in front."""
    found = parse_reason(text)
    if found is not None:
        return words(found)
    pieces, told, at = text.split("; ")[:_PIECES], [], 0
    while at < len(pieces):
        # a sentence of ours may hold what parts it from the next one
        ends = (end for end in range(at + 1, len(pieces) + 1) if _part("; ".join(pieces[at:end]), words) is not None)
        end = next(ends, at + 1)
        told.append(_part("; ".join(pieces[at:end]), words) or _named(pieces[at]))
        at = end
    return "; ".join([*told, *text.split("; ")[_PIECES:]])


def _part(text: str, words: Callable[[Reason], str]) -> str | None:
    named = _NAMED.fullmatch(text)
    found = parse_reason(named.group(2) if named else text)
    if found is None:
        return None
    return f"`{named.group(1)}`: {words(found)}" if named else words(found)


def _named(text: str) -> str:
    named = _NAMED.fullmatch(text)
    return f"`{named.group(1)}`: {named.group(2)}" if named else text


def _stop(state: RunState, words: Callable[[Reason], str]) -> StopReason | None:
    stop = state.stop
    if stop is None:
        return None
    said = stop.said if isinstance(stop, ExplainedStop) else None
    return StopReason(reason=stop.reason, details=words(said) if said else _translated(stop.details, words) or "")


def _troubles(state: RunState, words: Callable[[Reason], str]) -> tuple[str, ...]:
    """Why changes were not taken, but for what the stop reason says already."""
    said = state.stop.details if state.stop else ""
    return tuple(_translated(trouble, words) or trouble for trouble in state.troubles if trouble not in said)


def _duration_ms(state: RunState) -> int:
    """What the run took, without the time for which somebody had paused it."""
    if state.ended_at is None or state.started_at is None:
        return 0
    return max(0, int((state.ended_at - state.started_at).total_seconds() * 1000) - state.paused_ms)


def _findings(state: RunState) -> tuple[Annotation, ...]:
    """All that the last validation found at a place."""
    steps = state.validations[-1].steps if state.validations else ()
    return tuple(finding for step in steps for finding in step.annotations)


def _movement(state: RunState) -> ErrorDelta | None:
    seen = state.verdict
    if seen is None:
        return None
    return ErrorDelta(fixed=seen.fixed, remaining=seen.remaining, introduced=seen.introduced)


def _evidence(state: RunState) -> str:
    """The first error block of the last validation's failure."""
    steps = state.validations[-1].steps if state.validations else ()
    failed = next((step for step in steps if not step.passed), None)
    return evidence_of(failed) if failed else ""
