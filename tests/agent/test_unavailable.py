"""An agent that cannot work here says why and leaves the tree alone."""

from __future__ import annotations

from pathlib import Path

from bot.agent.unavailable import UnavailableAgent
from bot.model import AgentTask
from bot.reports.locale.reasons import english
from bot.rules.reasons import make_reason


async def test_it_proposes_nothing_and_says_why(tmp_path: Path) -> None:
    """REQ-RUN-008."""
    why = make_reason("agent.unavailable", why=make_reason("agent_profile.no_key", variables="A_KEY"))
    agent = UnavailableAgent("claude", why)
    proposal = await agent.propose(AgentTask(run_id="r", attempt=1, max_attempts=1, task="t"), tmp_path)
    assert (proposal.agent, proposal.offered, proposal.untouched) == ("claude", False, True)
    assert english(proposal.because) == "agent unavailable: no API key is set; set A_KEY in Mendbot's environment"
