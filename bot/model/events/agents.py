"""The event of an agent that has ended, with what it used."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from bot.model.agents import Usage
from bot.model.events.base import Event
from bot.model.runs import Phase


class AgentEnded(Event):
    """An agent, or a model that was asked for something else, has answered or failed.

    `call` is different for each call: an agent that is asked again after a crash is paid twice."""

    type: Literal["agent_ended"] = "agent_ended"
    phase: Phase
    agent: str
    usage: Usage
    call: str = Field(default="", exclude=True)

    @property
    def key(self) -> str:
        return f"agent_ended:{self.call}"
