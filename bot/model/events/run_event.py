"""The union of all events of a fix run, as it is stored and read, and the event that wraps those of a candidate."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import ConfigDict, Field, TypeAdapter

from bot.model.events.agents import AgentEnded
from bot.model.events.phases import (
    ImplementationCompleted,
    ImplementationFailed,
    PackagingCompleted,
    PhaseCompleted,
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
from bot.model.events.runs import (
    AgentStarted,
    ArtifactCreated,
    AttemptEvent,
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

_Started = Annotated[PlanningStarted | PhaseStarted, Field(discriminator="phase")]
_Completed = Annotated[
    PhaseCompleted
    | ReproductionCompleted
    | ImplementationCompleted
    | ValidationCompleted
    | ReviewCompleted
    | PackagingCompleted,
    Field(discriminator="phase"),
]
_Failed = Annotated[
    ReproductionFailed | ImplementationFailed | ValidationFailed | PhaseFailed, Field(discriminator="phase")
]
_InPhases = _Started | _Completed | _Failed | PhaseSkipped
_OfChanges = PatchFallbackApplied | ChangesApplied
_InAttempts = AttemptStarted | AgentStarted | AgentEnded | _OfChanges
_OfChecks = CheckStarted | CheckEnded | TestsEnded
_OfSetup = SetupStarted | SetupCompleted | SetupFailed
_OfProof = TestsWithoutChangeEnded | MutantsEnded | ProofDecided
_OfCandidate = Annotated[_InPhases | _OfChanges | _OfChecks | _OfProof | ArtifactCreated, Field(discriminator="type")]


class CandidateEvent(AttemptEvent):
    """Something happened to one candidate. The events of the winner are written again, as those of the attempt."""

    type: Literal["candidate_event"] = "candidate_event"
    candidate: int
    event: _OfCandidate

    @property
    def key(self) -> str:
        return f"candidate:{self.iteration}:{self.candidate}:{self.event.key}"


_OfTournament = CandidatesWanted | CandidateFailed | CandidateEvent | CandidateChosen
_Others = (
    SessionStarted | Paused | Resumed | ArtifactCreated | ConflictsSeen | CommitPushed | ChangeLost | SessionFinished
)
RunEvent = Annotated[
    _InPhases | _InAttempts | _OfTournament | _OfSetup | _OfChecks | _OfProof | _Others, Field(discriminator="type")
]
RUN_EVENTS: TypeAdapter[RunEvent] = TypeAdapter(RunEvent, config=ConfigDict(defer_build=True))
