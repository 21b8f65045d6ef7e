"""The events of a run about proof: a failing test that was asked for first, and the evidence for the change."""

from __future__ import annotations

from typing import Literal

from bot.model.events.base import Event
from bot.model.events.phases import PhaseEvent
from bot.model.pipeline import Validation
from bot.model.proof import MutantFigures, Proof, StageWithoutChange
from bot.model.reasons import Reason
from bot.model.runs import Phase


class ReproductionEnded(PhaseEvent):
    """An attempt to get a failing test is over; `iteration` counts these attempts, apart from those of the fix."""

    type: Literal["phase_completed", "phase_failed"]
    phase: Literal[Phase.REPRODUCTION] = Phase.REPRODUCTION
    iteration: int
    agent: str


class ReproductionCompleted(ReproductionEnded):
    """`tests` of an agent's change fail on the base, as `validation` shows; `snapshot` is the base with them."""

    type: Literal["phase_completed"] = "phase_completed"
    paths: tuple[str, ...]
    snapshot: str
    ref: str
    diff: str
    tests: tuple[str, ...] = ()
    validation: Validation


class ReproductionFailed(ReproductionEnded):
    """No agent gave a test that fails on the base; `final` where no other attempt follows."""

    type: Literal["phase_failed"] = "phase_failed"
    because: Reason
    final: bool


class ProofEvent(Event):
    """Evidence for the change of attempt `iteration`, with which all checks passed."""

    phase: Literal[Phase.VALIDATION] = Phase.VALIDATION
    iteration: int

    @property
    def key(self) -> str:
        return f"{self.type}:{self.iteration}"


class TestsWithoutChangeEnded(ProofEvent):
    __test__ = False  # no test class
    type: Literal["tests_without_change_ended"] = "tests_without_change_ended"
    stages: tuple[StageWithoutChange, ...]


class MutantsEnded(ProofEvent):
    type: Literal["mutants_ended"] = "mutants_ended"
    mutants: MutantFigures


class ProofDecided(ProofEvent):
    type: Literal["proof_decided"] = "proof_decided"
    proof: Proof
