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

agent = App(name="agent", help="Coding agents and models.", result_action="return_value")


@agent.command
def check(name: Text, *, json: Flag = False) -> int:
    """Run a small task with an agent or a model, and say what is missing.

    Parameters
    ----------
    name
        claude, codex, …, command, command:ARGV or llm:PROVIDER:MODEL
    json
        print one JSON document instead of lines
    """
    from bot.config import load_settings
    from bot.repo_config.agents import MODEL_PREFIX, PROFILE_NAMES, agent_problem

    checkable = ", ".join((*PROFILE_NAMES, "command", "command:ARGV", "llm:PROVIDER:MODEL"))
    if (problem := agent_problem(name)) is not None:
        unknown = problem.kind == "agent_spec.unknown"
        raise user_error(make_reason(problem.kind, **{**problem.values, "agents": checkable}) if unknown else problem)
    if name in ("fixers", "history"):
        raise user_error(make_reason("agent_check.not_checkable", agent=name, agents=checkable))
    from bot.workflows.agents.check_agent import AgentCheck, check_agent
    from bot.workflows.agents.check_model import check_command, check_model
    from bot.workspace.sandbox.check_tools import Tools
    from bot.workspace.sandbox.sandbox import open_sandbox

    settings = load_settings()

    async def checked() -> AgentCheck:
        if name.startswith(MODEL_PREFIX):
            return await check_model(name, settings)
        tools = Tools.of(settings)
        sandbox = await open_sandbox(settings.sandbox, settings.toolchains, tools, settings.check_memory_mb)
        checks = check_agent if name in PROFILE_NAMES else check_command
        return await checks(name, settings, sandbox)

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
