"""A run as its events tell it. State is a fold over them and nothing else remembers (house rule 8), so whoever loads a
run's events knows all that the process knew that wrote them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from bot.model import (
    Conflict,
    KnownError,
    Phase,
    PullRequestRef,
    RunEvent,
    SetupDone,
    SetupPlan,
    Status,
    StopReason,
    Validation,
    ValidationStep,
)
from bot.model.reasons import ExplainedStop, Reason
from bot.model.report_views import Loss
from bot.rules.runs.changes import AttemptChange, tried
from bot.rules.runs.executed_tests import BeforeAttempt, SuiteSeen, WhatRan, attempted, refused, with_suite
from bot.rules.runs.existing_failures import ExistingErrors
from bot.rules.runs.lessons import FirstSeen, Lesson
from bot.rules.runs.pipeline import PipelineStage, next_index
from bot.rules.runs.setup_state import steps_of, with_setup
from bot.rules.runs.validation_outcome import validated, with_errors
from bot.rules.stop import trajectory

NOTHING_OFFERED = "nothing_to_offer"
SAME_PATCH = "same_patch"
_ENDING = frozenset({NOTHING_OFFERED, SAME_PATCH})
"""Reasons of an attempt without a change after which another attempt would be the same again."""


@dataclass(frozen=True, slots=True)
class RunState:
    """A run as its events tell it."""

    started_at: datetime | None = None
    base_sha: str | None = None
    branch: str | None = None
    sandbox: str = ""
    stages: tuple[PipelineStage, ...] = ()
    plan: SetupPlan | None = None
    """How the tree is set up; None in runs that began before that was noted."""
    set_up: bool = False
    setup: tuple[SetupDone, ...] = ()
    """The steps of the setup that has ended."""
    steps: tuple[ValidationStep, ...] = ()
    """Of the validation under way; empty between two."""
    red_base: bool = False
    """Every check runs on the base, and what fails there is left alone where the task does not name it; not so in runs
    that began before."""
    left: Mapping[int, ExistingErrors] = field(default_factory=dict)
    """What is left alone, by stage."""
    baseline: Validation | None = None
    suites: tuple[SuiteSeen, ...] = ()
    """For each stage that named or counted tests, its first execution: what later ones are compared with."""
    what_ran: tuple[WhatRan, ...] = ()
    """How the current attempt's tests compare with those, for each stage that runs tests."""
    attempt: int = 0
    implemented: bool = False
    """The current attempt's change is in the tree, so its validation may run."""
    attempt_over: bool = True
    validations: tuple[Validation, ...] = ()
    states: tuple[trajectory.TrajectoryState, ...] = ()
    """The base, where it was checked, then each validated attempt."""
    iterations: tuple[int, ...] = ()  # which attempt each of them is; 0 for the base
    stands: int = -1
    """The one of them that the tree shows now: the last, unless that one's change was dropped."""
    verdict: trajectory.Verdict | None = None
    """What is to be thought of the last of them."""
    last_output: str | None = None
    no_progress: int = 0
    start: str | None = None
    """The tree before the first attempt: the base and what set-up left, which is no part of the change."""
    snapshot: str | None = None
    focus: tuple[str, ...] = ()
    """The repository's files that the task names."""
    changed_paths: tuple[str, ...] = ()
    made: tuple[AttemptChange, ...] = ()
    troubles: tuple[str, ...] = ()
    """Why changes did not apply."""
    notes: tuple[str, ...] = ()
    """What a person should look at in the change, a sentence each."""
    guidance: tuple[KnownError, ...] = ()
    """What the history told before the latest attempt."""
    base_errors: Mapping[int, frozenset[str]] = field(default_factory=dict)
    """The errors of each stage that had a result before any change; a stage that an earlier one hid is not in it."""
    shown: tuple[FirstSeen, ...] = ()
    lessons: tuple[Lesson, ...] = ()
    before: tuple[BeforeAttempt, ...] = ()
    stop: StopReason | None = None
    paused_at: datetime | None = None
    paused_ms: int = 0
    """See `idle_ms`; of the stretches that are over. One that is not began at `paused_at`."""
    phases: dict[Phase, str] = field(default_factory=dict)
    current_phase: Phase | None = None
    artifact_refs: dict[Phase, str] = field(default_factory=dict)
    commit_sha: str | None = None
    pull: PullRequestRef | None = None
    offered: str = ""
    """The diff that was offered where nothing could be pushed: the pull request is a fork's."""
    conflicts: tuple[Conflict, ...] = ()
    printed: Mapping[str, str] = field(default_factory=dict)
    """The errors that checks showed, by their fingerprints, in the tools' own words."""
    """Other open groups whose change would not merge with this one's."""
    salvage_ref: str | None = None
    unfinished: str = ""
    loss: Loss | None = None
    finished: Status | None = None
    ended_at: datetime | None = None
    last_event: int = 0

    def idle_ms(self, now: datetime) -> int:
        """How long it stood still, up to `now`, because somebody had paused it."""
        since = self.paused_at
        return self.paused_ms + (max(0, int((now - since).total_seconds() * 1000)) if since else 0)

    def fail_fast(self, attempt: int | None) -> bool:
        """Whether the checks of that attempt, 0 for the base, stop at the first that fails."""
        return bool(attempt) or not self.red_base

    @property
    def counted(self) -> int:
        """The attempts that count, with the current one; a turn of `fixers` or `history` does not."""
        return max(min(self.attempt, 1), self.attempt - sum(made.free for made in self.made))

    @property
    def standing(self) -> Validation | None:
        """The validation of the tree as it is now; None where there was none."""
        outcomes = (self.baseline, *self.validations) if self.baseline else self.validations
        return outcomes[self.stands] if outcomes else None

    @property
    def passed(self) -> bool:
        return self.attempt > 0 and self.attempt_over and bool(self.validations) and self.validations[-1].passed

    @property
    def agents(self) -> tuple[str, ...]:
        return tuple(made.agent for made in self.made)

    def tried(self, patch_hash: str) -> bool | None:
        """Whether a change was made before in this run and undone since; None where it was made and stands in the tree
        still, as far as its files tell: then the same lines come and go in another place, which is another change."""
        return tried(self.made, patch_hash)

    @property
    def best_attempt(self) -> int | None:
        """The attempt that came furthest; 0 where none came further than the base, None before any was judged."""
        return self.iterations[self.verdict.best] if self.verdict else None

    @property
    def failing(self) -> tuple[str, ...]:
        """The fingerprints that the tree shows now, sorted; empty where it has not been checked or passes."""
        return tuple(sorted(self.states[self.stands].fingerprints)) if self.states else ()


def run_state(events: Iterable[RunEvent]) -> RunState:
    """The state that a run's events, in order, describe."""
    state = RunState()
    for event in events:
        state = replace(_apply(_phase(state, event), event), last_event=event.id)
    return state


def _phase(state: RunState, event: RunEvent) -> RunState:
    if event.phase is None or not event.type.startswith("phase_"):
        return state
    status = event.type.removeprefix("phase_")
    shown = "running" if status == "started" else status
    return replace(state, phases={**state.phases, event.phase: shown}, current_phase=event.phase)


def _apply(state: RunState, event: RunEvent) -> RunState:
    data = event.data
    match event.type, event.phase:
        case "session_started", _:
            return replace(state, started_at=event.ts)
        case "phase_started", Phase.PLANNING:
            return _begun(state, event)
        case "setup_completed", _:
            return with_setup(state, data)
        case "setup_failed", _:
            return replace(state, setup=steps_of(data), stop=_stop({"reason": "setup_failed", **data}))
        case "paused", _:
            return replace(state, paused_at=state.paused_at or event.ts)
        case "resumed", _:
            return _resumed(state, event)
        case "artifact_created", (Phase() as phase):
            return replace(state, artifact_refs={**state.artifact_refs, phase: data["artifact"]})
        case "attempt_started", _:
            return attempted(state, event)
        case "changes_applied", _:
            return _applied(state, event)
        case "phase_failed", Phase.IMPLEMENTATION:
            return _not_applied(state, event)
        case (("validation_command_completed" | "validation_command_failed"), _):
            return _stepped(state, event)
        case "phase_completed", Phase.REVIEW:
            return replace(state, snapshot=data["snapshot"], changed_paths=tuple(data["paths"]))
        case "commit_pushed", _:
            return replace(state, commit_sha=data["commit"])
        case "phase_completed", Phase.PACKAGING:
            pull = PullRequestRef.model_validate(data["pull"]) if data.get("pull") else None
            return replace(state, commit_sha=data.get("commit"), pull=pull, offered=data.get("offered", ""))
        case "conflicts_seen", _:
            return replace(state, conflicts=tuple(Conflict.model_validate(item) for item in data["conflicts"]))
        case "phase_failed", (Phase.REVIEW | Phase.PACKAGING):
            return replace(state, stop=_stop(data))
        case "change_lost", _:
            return replace(state, loss=Loss.model_validate(data["loss"]))
        case "session_finished", _:
            return _finished(state, event)
        case _:
            return state


def _begun(state: RunState, event: RunEvent) -> RunState:
    data = event.data
    return replace(
        state,
        base_sha=data["baseSha"],
        branch=data["branch"],
        sandbox=data["sandbox"],
        stages=tuple(PipelineStage.model_validate(item) for item in data["stages"]),
        start=data["snapshot"],
        snapshot=data["snapshot"],
        focus=tuple(data.get("focus", ())),
        plan=SetupPlan.model_validate(data["setup"]) if "setup" in data else None,
        red_base=bool(data.get("redBase")),
    )


def _applied(state: RunState, event: RunEvent) -> RunState:
    data = event.data
    made = AttemptChange.of(event.iteration or 0, data, before=state.snapshot or "", paths_before=state.changed_paths)
    return replace(
        state,
        implemented=True,
        snapshot=data["snapshot"],
        changed_paths=tuple(data["allPaths"]),
        made=(*state.made, made),
        notes=tuple(dict.fromkeys((*state.notes, *data.get("notes", ())))),
        troubles=(*state.troubles, *data.get("refusals", ())),
    )


def _not_applied(state: RunState, event: RunEvent) -> RunState:
    data = event.data
    state = replace(state, attempt_over=True, troubles=(*state.troubles, data["message"]))
    if data["reason"] in _ENDING:
        return replace(state, stop=_stop({**data, "details": data["message"]}))
    return replace(state, no_progress=state.no_progress + 1)


def _stepped(state: RunState, event: RunEvent) -> RunState:
    index, step = len(state.steps), ValidationStep.model_validate(event.data["step"])
    steps = (*state.steps, step)
    if event.data.get("refused"):
        return refused(state, event, steps)
    if "left" in event.data:
        state = replace(state, left={**state.left, index: ExistingErrors.model_validate(event.data["left"])})
    state = with_suite(with_errors(state, event, index, step), event, index, step)
    if next_index(state.stages, steps, fail_fast=state.fail_fast(event.iteration)) is not None:
        return replace(state, steps=steps)
    return validated(state, event, steps)


def _resumed(state: RunState, event: RunEvent) -> RunState:
    return replace(state, paused_at=None, paused_ms=state.idle_ms(event.ts))


def _stop(data: Mapping[str, Any]) -> ExplainedStop:
    reason = Reason.model_validate(data["said"]) if data.get("said") else None
    return ExplainedStop(reason=data["reason"], details=data["details"], said=reason)


def _finished(state: RunState, event: RunEvent) -> RunState:
    data = event.data
    return replace(
        _resumed(state, event),
        finished=Status(data["status"]),
        stop=_stop(data["stop"]) if data.get("stop") else None,
        ended_at=event.ts,
        salvage_ref=data.get("salvageRef"),
        unfinished=data.get("unfinished", ""),
        loss=Loss.model_validate(data["loss"]) if data.get("loss") else state.loss,
    )
