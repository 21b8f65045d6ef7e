"""`mendbot agent check`: whether a coding agent works here, and what is missing."""

from __future__ import annotations

import asyncio

from cyclopts import App

from bot.cli.arguments import Flag, Text
from bot.cli.exits import NOT_PASSED, PASSED
from bot.cli.output import print_json, say
from bot.config import terminal_language
from bot.reports.locale.catalog import t
from bot.reports.locale.reasons import english, reason_text, user_error
from bot.rules.reasons import make_reason

agent = App(name="agent", help="Coding agents that Mendbot knows by name.", result_action="return_value")


@agent.command
def check(name: Text, *, json: Flag = False) -> int:
    """Run a small task with a coding agent in the sandbox, and say what is missing.

    Parameters
    ----------
    name
        claude, codex, gemini, opencode, qwen or aider
    json
        print one JSON document instead of lines
    """
    from bot.config import load_settings
    from bot.repo_config.agents import PROFILE_NAMES, agent_problem

    if name not in PROFILE_NAMES:
        unknown = make_reason("agent_check.not_checkable", agent=name, agents=", ".join(PROFILE_NAMES))
        raise user_error(agent_problem(name) or unknown)
    from bot.workflows.agents.check_agent import AgentCheck, check_agent
    from bot.workspace.sandbox.check_tools import Tools
    from bot.workspace.sandbox.sandbox import open_sandbox

    settings = load_settings()

    async def checked() -> AgentCheck:
        tools = Tools.of(settings)
        sandbox = await open_sandbox(settings.sandbox, settings.toolchains, tools, settings.check_memory_mb)
        return await check_agent(name, settings, sandbox)

    found, language = asyncio.run(checked()), terminal_language()
    if json:
        steps = [{"step": e.step, "passed": e.passed, "message": english(e.message)} for e in found.steps]
        usage = found.usage.model_dump(mode="json", by_alias=True) if found.usage else None
        print_json({"agent": name, "passed": found.passed, "steps": steps, "usage": usage})
    else:
        for each in found.steps:
            step = t(language, f"agent_check.step.{each.step}")
            message = reason_text(each.message, language)
            if each.passed:
                say(t(language, "agent_check.passed", step=step, message=message))
            else:
                say(t(language, "agent_check.failed", step=step, message=message))
    return PASSED if found.passed else NOT_PASSED
