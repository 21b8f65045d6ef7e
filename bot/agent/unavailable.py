"""The agent in place of one that may not be asked in a run: it proposes nothing, and says why."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from bot.model import AgentTask, Proposal
from bot.model.reasons import Reason


@dataclass(frozen=True, slots=True)
class UnavailableAgent:
    """Proposes nothing, for the reason that it was made with."""

    name: str
    because: Reason

    async def propose(self, task: AgentTask, tree: Path) -> Proposal:
        return Proposal(agent=self.name, offered=False, because=self.because, untouched=True)
