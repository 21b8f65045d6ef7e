"""Events of an attempt in which agents are asked for several changes, the candidates, of which the best is taken."""

from __future__ import annotations

from typing import Literal

from bot.model.agents import NO_MODEL, Usage
from bot.model.candidates import CandidateResult
from bot.model.events.runs import AttemptEvent
from bot.model.reasons import Reason


class CandidatesWanted(AttemptEvent):
    """The attempt asks these agents for up to `wanted` changes. `reasons` are why the agents that cost no attempt have
    none."""

    type: Literal["candidates_wanted"] = "candidates_wanted"
    wanted: int
    agents: tuple[str, ...]
    reasons: tuple[Reason, ...] = ()

    @property
    def key(self) -> str:
        return f"candidates:{self.iteration}"


class CandidateFailed(AttemptEvent):
    """An agent made no change that can be checked. `refused` is the code of a refusal, `same_as` the number of the
    candidate that is the same change."""

    type: Literal["candidate_failed"] = "candidate_failed"
    candidate: int
    agent: str
    reason: Reason
    refused: str = ""
    repeated: bool = False
    same_as: int | None = None
    usage: Usage = NO_MODEL
    over_budget: bool = False

    @property
    def key(self) -> str:
        return f"candidate_failed:{self.iteration}:{self.candidate}"


class CandidateChosen(AttemptEvent):
    """The candidates were compared; the change of the winner is that of the attempt. `winner` is None where no agent
    made a change that could be checked."""

    type: Literal["candidate_chosen"] = "candidate_chosen"
    winner: int | None
    results: tuple[CandidateResult, ...]

    @property
    def key(self) -> str:
        return f"candidate_chosen:{self.iteration}"
