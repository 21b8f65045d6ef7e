"""The events that begin and end the phases of a fix run (REQ-RUN-002)."""

from __future__ import annotations

from typing import Literal

from bot.model.agents import Usage
from bot.model.events.base import Event
from bot.model.pipeline import PipelineStage
from bot.model.reasons import ExplainedStop, Reason
from bot.model.report_views import PullRequestRef
from bot.model.runs import Phase
from bot.model.setups import SetupPlan


class PhaseEvent(Event):
    """A phase of the run began or ended."""

    phase: Phase

    @property
    def status(self) -> str:
        """The status that the phase has from now on."""
        status = self.type.removeprefix("phase_")
        return "running" if status == "started" else status

    @property
    def key(self) -> str:
        repeated = f":{self.iteration}" if self.iteration is not None else ""
        return f"{self.phase}{'' if self.status == 'running' else '_done'}{repeated}"


class PlanningStarted(PhaseEvent):
    """The run has its tree. `snapshot` is the tree before the first attempt; the task names the files in `focus`."""

    type: Literal["phase_started"] = "phase_started"
    phase: Literal[Phase.PLANNING] = Phase.PLANNING
    base_sha: str
    branch: str
    sandbox: Reason
    snapshot: str
    stages: tuple[PipelineStage, ...]
    focus: tuple[str, ...] = ()
    setup: SetupPlan


class PhaseStarted(PhaseEvent):
    type: Literal["phase_started"] = "phase_started"
    phase: Literal[
        Phase.ARCHITECTURE,
        Phase.DESIGN,
        Phase.REPRODUCTION,
        Phase.IMPLEMENTATION,
        Phase.VALIDATION,
        Phase.REVIEW,
        Phase.PACKAGING,
    ]


class PhaseCompleted(PhaseEvent):
    type: Literal["phase_completed"] = "phase_completed"
    phase: Literal[Phase.PLANNING, Phase.ARCHITECTURE, Phase.DESIGN]


class ImplementationCompleted(PhaseEvent):
    type: Literal["phase_completed"] = "phase_completed"
    phase: Literal[Phase.IMPLEMENTATION] = Phase.IMPLEMENTATION
    agent: str


class ImplementationFailed(PhaseEvent):
    """An attempt came to no change; `agent` is the one that a policy refused."""

    type: Literal["phase_failed"] = "phase_failed"
    phase: Literal[Phase.IMPLEMENTATION] = Phase.IMPLEMENTATION
    reason: str
    message: Reason
    agent: str = ""
    usage: Usage | None = None
    """Of all agents that were asked in the attempt."""


class ValidationEnded(PhaseEvent):
    """All checks of an attempt have run; `reason` is given where its change is refused although they passed."""

    type: Literal["phase_completed", "phase_failed"]
    phase: Literal[Phase.VALIDATION] = Phase.VALIDATION
    summary: str
    reason: str = ""


class ValidationCompleted(ValidationEnded):
    type: Literal["phase_completed"] = "phase_completed"


class ValidationFailed(ValidationEnded):
    type: Literal["phase_failed"] = "phase_failed"


class ReviewCompleted(PhaseEvent):
    type: Literal["phase_completed"] = "phase_completed"
    phase: Literal[Phase.REVIEW] = Phase.REVIEW
    snapshot: str
    paths: tuple[str, ...]


class PackagingCompleted(PhaseEvent):
    """The commit is where it is wanted; `offered` is the diff where it could not be pushed."""

    type: Literal["phase_completed"] = "phase_completed"
    phase: Literal[Phase.PACKAGING] = Phase.PACKAGING
    commit: str | None = None
    pull: PullRequestRef | None = None
    offered: str = ""


class PhaseFailed(PhaseEvent):
    """The reviewed change is refused, which ends the run."""

    type: Literal["phase_failed"] = "phase_failed"
    phase: Literal[Phase.REVIEW, Phase.PACKAGING]
    reason: str
    details: Reason

    @classmethod
    def of(cls, phase: Literal[Phase.REVIEW, Phase.PACKAGING], stop: ExplainedStop) -> PhaseFailed:
        return cls(phase=phase, reason=stop.reason, details=stop.details)

    @property
    def stop(self) -> ExplainedStop:
        return ExplainedStop(reason=self.reason, details=self.details)


class PhaseSkipped(PhaseEvent):
    type: Literal["phase_skipped"] = "phase_skipped"

    @property
    def key(self) -> str:
        return f"skipped:{self.phase}"
