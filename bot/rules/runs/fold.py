"""The fold that makes a run's state of its events (architecture rule 8)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime
from typing import assert_never

from bot.model.events.agents import AgentEnded
from bot.model.events.phases import (
    ImplementationCompleted,
    ImplementationFailed,
    PackagingCompleted,
    PhaseCompleted,
    PhaseEvent,
    PhaseFailed,
    PhaseSkipped,
    PhaseStarted,
    PlanningStarted,
    ReviewCompleted,
    ValidationCompleted,
    ValidationFailed,
)
from bot.model.events.proof import (
    MutantsEnded,
    ProofDecided,
    ReproductionCompleted,
    ReproductionFailed,
    TestsWithoutChangeEnded,
)
from bot.model.events.run_event import CandidateEvent, RunEvent
from bot.model.events.runs import (
    AgentStarted,
    ArtifactCreated,
    AttemptStarted,
    ChangeLost,
    ChangesApplied,
    CheckEnded,
    CheckStarted,
    CommitPushed,
    ConflictsSeen,
    PatchFallbackApplied,
    Paused,
    Resumed,
    SessionFinished,
    SessionStarted,
    SetupCompleted,
    SetupFailed,
    SetupStarted,
    TestsEnded,
)
from bot.model.events.tournament import CandidateChosen, CandidateFailed, CandidatesWanted
from bot.model.guidance_trial import TriedGuidance
from bot.model.proof import Reproduction
from bot.model.reasons import ExplainedStop
from bot.rules.runs.changes import FREE, AttemptChange
from bot.rules.runs.pipeline import next_index
from bot.rules.runs.proof import MAX_TESTS_SHOWN
from bot.rules.runs.state import ENDING, RunState
from bot.rules.runs.suite_state import attempted, refused, with_suite
from bot.rules.runs.tournament import with_candidates
from bot.rules.runs.validation_outcome import validated, with_errors


def run_state(events: Iterable[RunEvent]) -> RunState:
    """The state that a run's events, in order, describe."""
    return fold_into(RunState(), events)


def fold_into(state: RunState, events: Iterable[RunEvent]) -> RunState:
    """The state after further events."""
    for event in events:
        state = replace(_with_phase(state, event), last_event=event.id)
    return state


def _with_phase(state: RunState, event: RunEvent) -> RunState:
    if isinstance(event, PhaseEvent):
        state = replace(state, phases={**state.phases, event.phase: event.status}, current_phase=event.phase)
    return _apply(state, event)


def _apply(state: RunState, event: RunEvent) -> RunState:
    match event:
        case SessionStarted():
            return replace(state, started_at=event.ts)
        case PlanningStarted():
            return _begun(state, event)
        case SetupCompleted():
            return _set_up(state, event)
        case SetupFailed():
            return replace(state, setup=event.steps, stop=ExplainedStop.of("setup_failed", event.details))
        case Paused():
            return replace(state, paused_at=state.paused_at or event.ts)
        case Resumed():
            return _resumed(state, event.ts)
        case ArtifactCreated():
            return _with_artifact(state, event)
        case AttemptStarted():
            return attempted(state, event)
        case ChangesApplied():
            return _applied(state, event)
        case ImplementationFailed():
            return _not_applied(state, event)
        case CheckEnded():
            return _checked(state, event)
        case ReproductionCompleted() | ReproductionFailed():
            return _reproduced(state, event)
        case TestsWithoutChangeEnded():
            return replace(state, without_change=event.stages)
        case MutantsEnded():
            return replace(state, mutants=event.mutants)
        case ProofDecided():
            return replace(state, proof=event.proof)
        case ReviewCompleted() | CommitPushed() | PackagingCompleted() | ConflictsSeen():
            return _packaged(state, event)
        case PhaseFailed():
            return replace(state, stop=event.stop)
        case ChangeLost():
            return replace(state, loss=event.loss)
        case SessionFinished():
            return _finished(state, event)
        case AgentStarted() | AgentEnded():
            return _asked(state, event)
        case PhaseStarted() | PhaseCompleted() | ImplementationCompleted() | PhaseSkipped() | SetupStarted():
            return state
        case ValidationCompleted() | ValidationFailed() | TestsEnded() | CheckStarted() | PatchFallbackApplied():
            return state
        case CandidatesWanted() | CandidateFailed() | CandidateEvent() | CandidateChosen():
            return with_candidates(state, event, _with_phase)
        case _:
            assert_never(event)


def _begun(state: RunState, event: PlanningStarted) -> RunState:
    return replace(
        state,
        base_sha=event.base_sha,
        branch=event.branch,
        sandbox=event.sandbox,
        stages=event.stages,
        start=event.snapshot,
        snapshot=event.snapshot,
        focus=event.focus,
        plan=event.setup,
    )


def _asked(state: RunState, event: AgentStarted | AgentEnded) -> RunState:
    """An agent was asked. A coding agent's first brief with a known error counts in the trial of guidance."""
    if isinstance(event, AgentEnded):
        return replace(state, calls=(*state.calls, event))
    if event.agent in FREE:
        return state
    tried = {one.id for one in state.tried_guidance}
    new = (known for known in state.on_trial if known.id not in tried)
    more = tuple(TriedGuidance(id=known.id, use_count=known.use_count) for known in new)
    return replace(state, tried_guidance=(*state.tried_guidance, *more))


def _set_up(state: RunState, event: SetupCompleted) -> RunState:
    done = replace(state, set_up=True, setup=event.steps, stages=event.stages)
    return replace(done, start=event.snapshot, snapshot=event.snapshot)


def _with_artifact(state: RunState, event: ArtifactCreated) -> RunState:
    refs = {**state.artifact_refs, event.phase: event.artifact} if event.phase else state.artifact_refs
    return replace(state, artifact_refs=refs)


def _applied(state: RunState, event: ChangesApplied) -> RunState:
    made = AttemptChange.of(event, before=state.snapshot or "", paths_before=state.changed_paths)
    return replace(
        state,
        implemented=True,
        snapshot=event.snapshot,
        changed_paths=event.all_paths,
        made=(*state.made, made),
        without_change=None,
        mutants=None,
        proof=None,
        notes=tuple(dict.fromkeys((*state.notes, *event.notes))),
        rejections=(*state.rejections, *event.refusals),
    )


def _packaged(state: RunState, event: ReviewCompleted | CommitPushed | PackagingCompleted | ConflictsSeen) -> RunState:
    match event:
        case ReviewCompleted():
            return replace(state, snapshot=event.snapshot, changed_paths=event.paths)
        case CommitPushed():
            return replace(state, commit_sha=event.commit)
        case PackagingCompleted():
            return replace(state, commit_sha=event.commit, pull=event.pull, offered=event.offered)
        case ConflictsSeen():
            return replace(state, conflicts=event.conflicts, packaged_commit=event.commit)
        case _:
            assert_never(event)


def _reproduced(state: RunState, event: ReproductionCompleted | ReproductionFailed) -> RunState:
    if isinstance(event, ReproductionFailed):
        found = Reproduction(agent=event.agent, attempts=event.iteration, because=event.because)
        return replace(state, reproduction=found, reproduction_over=event.final)
    tests = event.tests
    found = Reproduction(
        agent=event.agent, attempts=event.iteration, tests=tests[:MAX_TESTS_SHOWN], test_count=len(tests)
    )
    return replace(
        state,
        reproduction=found,
        reproduction_over=True,
        shows_fault=event.validation,
        snapshot=event.snapshot,
        changed_paths=event.paths,
    )


def _not_applied(state: RunState, event: ImplementationFailed) -> RunState:
    state = replace(state, attempt_over=True, rejections=(*state.rejections, event.message))
    if event.reason in ENDING:
        return replace(state, stop=ExplainedStop(reason=event.reason, details=event.message))
    return replace(state, no_progress=state.no_progress + 1)


def _checked(state: RunState, event: CheckEnded) -> RunState:
    index = len(state.steps)
    steps = (*state.steps, event.step)
    if event.refused:
        return refused(state, event, steps)
    if event.left is not None:
        state = replace(state, left={**state.left, index: event.left})
    state = with_suite(with_errors(state, event, index), event, index)
    if next_index(state.stages, steps, fail_fast=event.iteration > 0) is not None:
        return replace(state, steps=steps)
    return validated(state, event, steps)


def _resumed(state: RunState, at: datetime) -> RunState:
    return replace(state, paused_at=None, paused_ms=state.idle_ms(at))


def _finished(state: RunState, event: SessionFinished) -> RunState:
    return replace(
        _resumed(state, event.ts),
        finished=event.status,
        stop=event.stop,
        ended_at=event.ts,
        salvage_ref=event.salvage_ref,
        unfinished=event.unfinished,
        loss=event.loss or state.loss,
        diff=event.diff,
    )
