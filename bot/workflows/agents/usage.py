"""What agents and models used: measured where they are asked, recorded as an event of their run."""

from __future__ import annotations

import secrets
import time

from bot.model import Phase, Usage
from bot.model.events.agents import AgentEnded


def with_duration(usage: Usage, began: float) -> Usage:
    """The usage with the time since `began`, a time of the monotonic clock."""
    return usage.model_copy(update={"duration_ms": int((time.monotonic() - began) * 1000)})


def agent_ended(phase: Phase, iteration: int | None, agent: str, usage: Usage) -> AgentEnded:
    """The event that an agent or a model has answered or failed."""
    return AgentEnded(phase=phase, iteration=iteration, agent=agent, usage=usage, call=secrets.token_hex(8))
