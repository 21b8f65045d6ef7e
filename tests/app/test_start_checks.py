"""The checks that `serve` makes before it starts, and what it warns of."""

from __future__ import annotations

from pathlib import Path

from bot.app.start_checks import warn_of_agents
from bot.config import Settings
from bot.logs import captured_logs
from bot.workspace.sandbox.sandbox import open_sandbox


async def test_serve_warns_of_an_agent_that_the_sandbox_does_not_show(tmp_path: Path) -> None:
    """Each run would fail otherwise, without a word at the start."""
    program = tmp_path / "agent.sh"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    sandbox = await open_sandbox("bubblewrap", ())
    with captured_logs() as lines:
        await warn_of_agents(Settings(agent_command=(str(program),)), sandbox)
        await warn_of_agents(Settings(agent_command=(str(program),), agent_binds=(program,)), sandbox)
        await warn_of_agents(Settings(), sandbox)
    ((event, because),) = [(line["event"], str(line["because"])) for line in lines]
    assert event == "agent_cannot_start" and f"set MENDBOT_AGENT_BINDS={program}" in because
