"""The course of a run: what its events say happened, and what is to be done next.

State is a fold over events and nothing else remembers, so crash recovery is: load, ask, go on (house rule 8)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Literal

from bot.config import Policy
from bot.model import Issue, Noun, Phase, PullRequest, Repo, RunEvent, Status, StopReason, Validation, ValidationStep
from bot.rules import progress, stop
from bot.rules.pipeline import Stage, close, next_index

NOTHING_OFFERED = "nothing_to_offer"


class RunSpec(Noun):
    """What a run was asked to do; it never changes once the run exists."""

    repo: Repo
    issues: tuple[Issue, ...]
    key: str
    reasons: tuple[str, ...] = ()
    suggested_branch: str
    policy: Policy = Policy()
    base_branch: str
    agents: tuple[str, ...]
    max_attempts: int = 3
    baseline: bool = True
    """Check the base before the first attempt, so that what was already so is known."""

    @property
    def most_attempts(self) -> int:
        """The attempts there may be: what was asked for, capped by the stop conditions (REQ-RUN-002)."""
        return min(self.max_attempts, self.policy.stop.max_iterations)

    @property
    def task(self) -> str:
        return "\n\n".join(f"#{issue.number} {issue.title}\n{issue.body}".strip() for issue in self.issues)


class Begin(Noun):
    kind: Literal["begin"] = "begin"


class SetUp(Noun):
    kind: Literal["setup"] = "setup"


class Validate(Noun):
    """Run stage `index` of the pipeline for attempt `attempt`; attempt 0 is the base, before any change."""

    kind: Literal["validate"] = "validate"
    attempt: int
    index: int


class Prepare(Noun):
    kind: Literal["prepare"] = "prepare"


class Implement(Noun):
    kind: Literal["implement"] = "implement"
    attempt: int


class Review(Noun):
    kind: Literal["review"] = "review"


class Package(Noun):
    kind: Literal["package"] = "package"


class Finish(Noun):
    kind: Literal["finish"] = "finish"
    status: Status
    stop: StopReason | None = None


class Nothing(Noun):
    kind: Literal["nothing"] = "nothing"


Action = Begin | SetUp | Validate | Prepare | Implement | Review | Package | Finish | Nothing


@dataclass(frozen=True, slots=True)
class RunState:
    """A run as its events tell it."""

    started_at: datetime | None = None
    base_sha: str | None = None
    branch: str | None = None
    sandbox: str = ""
    stages: tuple[Stage, ...] = ()
    set_up: bool = False
    steps: tuple[ValidationStep, ...] = ()
    """Of the validation under way; empty between two."""
    baseline: Validation | None = None
    attempt: int = 0
    implemented: bool = False
    """The current attempt's change is in the tree, so its validation may run."""
    attempt_over: bool = True
    validations: tuple[Validation, ...] = ()
    outputs: tuple[str, ...] = ()
    no_progress: int = 0
    start: str | None = None
    """The tree before the first attempt: the base and what set-up left, which is no part of the change."""
    snapshot: str | None = None
    focus: tuple[str, ...] = ()
    """The repository's files that the issues name."""
    changed_paths: tuple[str, ...] = ()
    agents: tuple[str, ...] = ()
    patch_hashes: tuple[str, ...] = ()
    troubles: tuple[str, ...] = ()
    """Why changes did not apply, for the next attempt's agent."""
    stop: StopReason | None = None
    phases: dict[Phase, str] = field(default_factory=dict)
    current_phase: Phase | None = None
    commit_sha: str | None = None
    pull: PullRequest | None = None
    salvage_ref: str | None = None
    finished: Status | None = None
    ended_at: datetime | None = None
    last_event: int = 0

    @property
    def passed(self) -> bool:
        return self.attempt > 0 and self.attempt_over and bool(self.validations) and self.validations[-1].passed


def fold(events: Iterable[RunEvent]) -> RunState:
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
            return replace(
                state,
                base_sha=data["baseSha"],
                branch=data["branch"],
                sandbox=data["sandbox"],
                stages=tuple(Stage.model_validate(item) for item in data["stages"]),
                start=data["snapshot"],
                snapshot=data["snapshot"],
            )
        case "phase_completed", Phase.PLANNING:
            return replace(state, focus=tuple(data.get("focus", ())))
        case "setup_completed", _:
            return replace(state, set_up=True, start=data["snapshot"], snapshot=data["snapshot"])
        case "setup_failed", _:
            return replace(state, stop=StopReason(reason="setup_failed", details=data["details"]))
        case "attempt_started", _:
            return replace(state, attempt=event.iteration or 0, attempt_over=False, implemented=False, steps=())
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
            return replace(state, commit_sha=data["commit"], pull=PullRequest.model_validate(data["pull"]))
        case "phase_failed", (Phase.REVIEW | Phase.PACKAGING):
            return replace(state, stop=StopReason(reason=data["reason"], details=data["details"]))
        case "session_finished", _:
            return _finished(state, event)
        case _:
            return state


def _applied(state: RunState, event: RunEvent) -> RunState:
    data = event.data
    return replace(
        state,
        implemented=True,
        snapshot=data["snapshot"],
        changed_paths=tuple(data["allPaths"]),
        agents=(*state.agents, data["agent"]),
        patch_hashes=(*state.patch_hashes, data["patchHash"]),
    )


def _not_applied(state: RunState, event: RunEvent) -> RunState:
    data = event.data
    state = replace(state, attempt_over=True, troubles=(*state.troubles, data["message"]))
    if data["reason"] == NOTHING_OFFERED:
        return replace(state, stop=StopReason(reason=NOTHING_OFFERED, details=data["message"]))
    return replace(state, no_progress=state.no_progress + 1)


def _stepped(state: RunState, event: RunEvent) -> RunState:
    steps = (*state.steps, ValidationStep.model_validate(event.data["step"]))
    if next_index(state.stages, steps) is not None:
        return replace(state, steps=steps)
    outcome = close(steps)
    if event.iteration == 0:
        return replace(state, steps=(), baseline=outcome)
    output = "\n".join(step.output for step in steps if not step.skipped)
    moved = not state.outputs or progress.made_progress(state.outputs[-1], output)
    return replace(
        state,
        steps=(),
        validations=(*state.validations, outcome),
        outputs=(*state.outputs, output),
        attempt_over=True,
        no_progress=0 if outcome.passed or moved else state.no_progress + 1,
    )


def _finished(state: RunState, event: RunEvent) -> RunState:
    data = event.data
    return replace(
        state,
        finished=Status(data["status"]),
        stop=StopReason.model_validate(data["stop"]) if data.get("stop") else None,
        ended_at=event.ts,
        salvage_ref=data.get("salvageRef"),
    )


def next_action(spec: RunSpec, state: RunState, now: datetime) -> Action:
    """What a run does next. The same events at the same time always give the same answer."""
    if state.finished is not None:
        return Nothing()
    if state.base_sha is None or state.started_at is None:
        return Begin()
    if state.stop is not None:
        return Finish(status=Status.FAILED, stop=state.stop)
    if not any(stage.command is not None for stage in state.stages):
        return Finish(status=Status.FAILED, stop=_no_checks(state.stages))
    if spec.policy.setup is not None and not state.set_up:
        return SetUp()
    if spec.baseline and state.baseline is None:
        return Validate(attempt=0, index=next_index(state.stages, state.steps) or 0)
    if state.phases.get(Phase.DESIGN) != "completed":
        return Prepare()
    if state.passed:
        return _after_green(state)
    if not state.attempt_over:
        if state.implemented:
            return Validate(attempt=state.attempt, index=next_index(state.stages, state.steps) or 0)
        return Implement(attempt=state.attempt)
    reason = _stop_reason(spec, state, now)
    return Finish(status=Status.FAILED, stop=reason) if reason else Implement(attempt=state.attempt + 1)


def _after_green(state: RunState) -> Action:
    if state.phases.get(Phase.REVIEW) != "completed":
        return Review()
    if state.phases.get(Phase.PACKAGING) != "completed":
        return Package()
    return Finish(status=Status.SUCCESS)


def _stop_reason(spec: RunSpec, state: RunState, now: datetime) -> StopReason | None:
    limits = spec.policy.stop
    conditions = stop.StopConditions(
        max_iterations=spec.most_attempts,
        max_duration_ms=limits.max_duration_ms,
        no_progress_threshold=limits.no_progress_threshold,
    )
    assert state.started_at is not None
    loop = stop.LoopState(iterations=state.attempt, started_at=state.started_at, no_progress_count=state.no_progress)
    found = stop.should_stop(loop, conditions, now=now)
    return StopReason(reason=str(found.reason), details=found.details) if found else None


def _no_checks(stages: Sequence[Stage]) -> StopReason:
    looked = "; ".join(f"{stage.name}: {', '.join(stage.looked_for)}" for stage in stages)
    return StopReason(
        reason="no_checks",
        details=f"no check has a command, so nothing could show that a fix works; looked for {looked}",
    )
