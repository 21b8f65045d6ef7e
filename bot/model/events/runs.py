"""The events of a fix run: what its workflow writes, its state is a fold of, and the HTTP API shows."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field, PlainSerializer

from bot.model.agents import Usage
from bot.model.events.base import Event
from bot.model.pipeline import ExistingErrors, PipelineStage, SuiteSummary, ValidationStep, WhatRan
from bot.model.proof import ProofLevel
from bot.model.reasons import ExplainedStop, Reason
from bot.model.report_views import Conflict, KnownError, Loss
from bot.model.runs import Phase, Status
from bot.model.setups import SetupDone


def _snake_case(known: tuple[KnownError, ...]) -> list[dict[str, Any]]:
    return [one.model_dump(mode="json") for one in known]


class SessionStarted(Event):
    type: Literal["session_started"] = "session_started"
    task: str


class SetupStarted(Event):
    type: Literal["setup_started"] = "setup_started"
    command: str
    steps: tuple[SetupDone, ...] = ()

    @property
    def key(self) -> str:
        return "setup"


class SetupEnded(Event):
    """The setup plan was carried out; `restored` are the commit's files that it had changed, the first of them."""

    type: Literal["setup_completed", "setup_failed"]
    command: str
    steps: tuple[SetupDone, ...]
    exit_code: int | None
    duration_ms: int
    log: str
    snapshot: str
    restored: tuple[str, ...] = ()
    stages: tuple[PipelineStage, ...]

    @property
    def key(self) -> str:
        return "setup_done"


class SetupCompleted(SetupEnded):
    type: Literal["setup_completed"] = "setup_completed"


class SetupFailed(SetupEnded):
    type: Literal["setup_failed"] = "setup_failed"
    details: Reason


class Paused(Event):
    """Somebody paused a thread of the run; `after` is the id of the event before."""

    type: Literal["paused"] = "paused"
    number: int
    by: str
    after: int = Field(default=0, exclude=True)

    @property
    def key(self) -> str:
        return f"paused:{self.after}"


class Resumed(Event):
    type: Literal["resumed"] = "resumed"
    after: int = Field(default=0, exclude=True)

    @property
    def key(self) -> str:
        return f"resumed:{self.after}"


class ArtifactCreated(Event):
    type: Literal["artifact_created"] = "artifact_created"
    artifact: str

    @property
    def key(self) -> str:
        return f"artifact:{self.artifact}"


class AttemptEvent(Event):
    """Something happened within an attempt; `iteration` is the turn of the loop."""

    phase: Literal[Phase.IMPLEMENTATION] = Phase.IMPLEMENTATION
    iteration: int


class AttemptStarted(AttemptEvent):
    """`attempt` of `of` is the number that people see: a turn that costs nothing is not counted."""

    type: Literal["attempt_started"] = "attempt_started"
    attempt: int
    of: int
    guidance: Annotated[tuple[KnownError, ...], PlainSerializer(_snake_case)] = ()
    withheld: bool = False  # from agents, for the trial of guidance; reports show all of it
    muted: tuple[int, ...] = ()  # the ids of known errors that agents do not get, as their guidance does not help

    @property
    def key(self) -> str:
        return f"attempt:{self.iteration}"


class AgentStarted(Event):
    """An agent is asked for a change or, in reproduction, for a failing test; `nth` counts those of one name."""

    type: Literal["agent_started"] = "agent_started"
    phase: Literal[Phase.IMPLEMENTATION, Phase.REPRODUCTION] = Phase.IMPLEMENTATION
    iteration: int
    agent: str
    candidate: int | None = None  # the number of the change that it is asked for, where several are wanted
    nth: int = Field(default=1, exclude=True)

    @property
    def key(self) -> str:
        asked = "test" if self.phase is Phase.REPRODUCTION else "agent"
        return f"{asked}:{self.iteration}:{self.agent}" + (f":{self.nth}" if self.nth > 1 else "")


class PatchFallbackApplied(AttemptEvent):
    type: Literal["patch_fallback_applied"] = "patch_fallback_applied"
    path: str

    @property
    def key(self) -> str:
        return f"fallback:{self.iteration}:{self.path}"


class ChangesApplied(AttemptEvent):
    """A change is in the tree. All attempts together have changed `all_paths`. `replays` is the diff hash of the known
    resolution that it repeats; `refusals` are why other agents' changes were not applied before it. `lines` is how many
    lines it adds and removes, where several changes are compared."""

    type: Literal["changes_applied"] = "changes_applied"
    agent: str
    paths: tuple[str, ...]
    all_paths: tuple[str, ...]
    snapshot: str
    ref: str
    patch_hash: str
    tools: tuple[str, ...] = ()
    replays: str | None = None
    note: str = ""
    notes: tuple[Reason, ...] = ()
    refusals: tuple[Reason, ...] = ()
    diff: str = ""
    usage: Usage | None = None
    lines: int | None = None

    @property
    def key(self) -> str:
        return f"changes:{self.iteration}"


class CheckEvent(Event):
    """A check of the pipeline, of attempt `iteration`; 0 is the base."""

    iteration: int
    stage: str
    index: int

    @property
    def key(self) -> str:
        return f"command:{self.iteration}:{self.index}"


class CheckStarted(CheckEvent):
    type: Literal["validation_command_started"] = "validation_command_started"
    command: str


class CheckEnded(CheckEvent):
    """A check ended: its step, its errors by fingerprint, and those in the tool's own words. `left` are the errors of
    the base that are left alone; `refused` says why the change is refused although the check passed."""

    type: Literal["validation_command_completed", "validation_command_failed"]
    step: ValidationStep
    fingerprints: tuple[str, ...] = ()
    printed: dict[str, str] = Field(default_factory=dict)
    left: ExistingErrors | None = None
    attempt: int | None = None  # as people count it; None on the base
    log: str | None = None
    tests: SuiteSummary | None = None
    what_ran: WhatRan | None = None
    refused: Reason | None = None
    reason: str = ""

    @property
    def key(self) -> str:
        return f"command_done:{self.iteration}:{self.index}"


class TestsEnded(Event):
    """The verdict on an attempt: the same words as the end of its validation."""

    __test__ = False  # no test class
    type: Literal["tests_passed", "tests_failed"]
    iteration: int
    summary: str
    reason: str = ""

    @property
    def key(self) -> str:
        return f"tests:{self.iteration}"


class ConflictsSeen(Event):
    type: Literal["conflicts_seen"] = "conflicts_seen"
    commit: str
    conflicts: tuple[Conflict, ...]


class CommitPushed(Event):
    type: Literal["commit_pushed"] = "commit_pushed"
    phase: Literal[Phase.PACKAGING] = Phase.PACKAGING
    commit: str


class ChangeLost(Event):
    type: Literal["change_lost"] = "change_lost"
    loss: Loss


class SessionFinished(Event):
    """The end. `salvage_ref`, `unfinished` and `diff` keep the work that became no commit. Of a success, `shown` is
    whether the change is proven, and `proof` the level."""

    type: Literal["session_finished"] = "session_finished"
    status: Status
    stop: ExplainedStop | None = None
    salvage_ref: str | None = None
    unfinished: str = ""
    diff: str | None = None
    best_attempt: int | None = None
    loss: Loss | None = None
    shown: bool | None = None
    proof: ProofLevel | None = None
