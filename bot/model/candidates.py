"""What came of the changes that one attempt asked for."""

from __future__ import annotations

from typing import Literal

from bot.model.agents import Usage
from bot.model.base import CamelModel
from bot.model.proof import ProofLevel
from bot.model.reasons import Reason


class CandidateResult(CamelModel):
    """What came of one candidate. The counts of errors are those after its checks; `result` is `none` without a change
    that could be checked, for the reason `why`, and `same` for a change that another candidate made before."""

    candidate: int
    agent: str
    result: Literal["passed", "failed", "refused", "none", "same"]
    fixed: int = 0
    remaining: int = 0
    introduced: int = 0
    proof: ProofLevel | None = None
    lines: int | None = None
    usage: Usage | None = None
    ref: str = ""
    diff: str = ""
    same_as: int | None = None
    why: Reason | None = None
