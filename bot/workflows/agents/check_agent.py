"""Checks that a coding agent works here: its program, its key, the sandbox, one small task, and the hook."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from bot.agent.command import CommandAgent
from bot.agent.hook_bundle import HookBundle, make_bundle
from bot.agent.profiles import PROFILES
from bot.config import Settings
from bot.errors import UserError
from bot.model import AgentTask, Model, Proposal, Usage
from bot.model.reasons import Reason
from bot.reports.locale.reasons import english
from bot.rules.reasons import error_reason, make_reason, quoted
from bot.workflows.agents.build_agents import runner_in
from bot.workflows.agents.profile_agents import PreparedProfile, prepare_profile
from bot.workspace.sandbox.bubblewrap import SandboxGrant
from bot.workspace.sandbox.network_filter import NetworkFilter
from bot.workspace.sandbox.program_files import find_program
from bot.workspace.sandbox.sandbox import Sandbox

Step = Literal["program", "key", "sandbox", "task", "hook"]
TIMEOUT_S = 180.0
FILE = "mendbot-check.txt"
TASK = f"Create a file named {FILE} that contains the word ok. Edit it in place and change nothing else."
_HOSTS_SHOWN = 5


class AgentCheckStep(Model):
    """One thing that an agent needs: whether it is there, and what was found, or what to do."""

    step: Step
    passed: bool
    message: Reason


class AgentCheck(Model):
    """What a check of an agent found, up to the first step that others need."""

    agent: str
    steps: tuple[AgentCheckStep, ...]
    usage: Usage | None = None

    @property
    def passed(self) -> bool:
        """Whether all is there that the agent needs; without the hook it works too."""
        return all(step.passed for step in self.steps if step.step != "hook")


@dataclass(frozen=True, slots=True)
class _Tried:
    """What came of the task: the agent's answer, whether the file is there, what else it asked for."""

    proposal: Proposal
    done: bool
    network: NetworkFilter
    hook_called: bool


async def check_agent(name: str, settings: Settings, sandbox: Sandbox) -> AgentCheck:
    """Checks the coding agent of that name, which must be one of `PROFILES`; costs a few thousand tokens.

    Raises UserError where nothing may run."""
    with tempfile.TemporaryDirectory(prefix="mendbot-agent-") as directory:
        trace = Path(directory, "called")
        trace.touch()
        prepared = prepare_profile(name, settings, trace=trace)
        program = find_program(PROFILES[name].program)
        found = quoted(" ".join(program.argv)) if program else None
        steps = [AgentCheckStep(step="program", passed=True, message=found)] if found else []
        if isinstance(prepared, Reason):
            missing = AgentCheckStep(step="key" if found else "program", passed=False, message=prepared)
            return AgentCheck(agent=name, steps=(*steps, missing))
        steps += [
            AgentCheckStep(step="key", passed=True, message=quoted(prepared.key.variable)),
            _sandbox(prepared, sandbox),
        ]
        tried = await _try(name, prepared, sandbox, Path(directory))
    steps.append(AgentCheckStep(step="task", passed=tried.done, message=_outcome(tried)))
    if tried.done or tried.hook_called:  # an agent that never called a tool shows nothing about its hook
        steps.append(_hook(name, tried))
    return AgentCheck(agent=name, steps=tuple(steps), usage=tried.proposal.usage)


def _sandbox(prepared: PreparedProfile, sandbox: Sandbox) -> AgentCheckStep:
    host = f"{prepared.host.host}:{prepared.host.port}"
    if sandbox.bubblewrap is None:
        message = make_reason("agent_check.no_filter", why=sandbox.description)
    else:
        message = make_reason("agent_check.filtered", host=host)
    return AgentCheckStep(step="sandbox", passed=sandbox.level != "refused", message=message)


async def _try(name: str, prepared: PreparedProfile, sandbox: Sandbox, directory: Path) -> _Tried:
    """Gives the agent the task in a directory of its own."""
    tree = directory / "tree"
    tree.mkdir()
    trace = directory / "called"
    grants: list[SandboxGrant] = []

    def grant(where: Path) -> SandboxGrant:
        grants.append(prepared.grant(where))
        return grants[-1]

    async def bundle(_: str) -> HookBundle:
        settings = prepared.profile.run_settings(trace)
        return make_bundle(directory / "kit", settings=settings, more_writable=(trace,))

    agent = CommandAgent(
        runner_in(sandbox, (), grant),
        prepared.argv,
        name=name,
        env=prepared.env,
        read_only=prepared.read_only,
        timeout_s=TIMEOUT_S,
        read=prepared.profile.read,
        make_bundle=bundle,
    )
    task = AgentTask(run_id="check", attempt=1, max_attempts=1, task=TASK, focus=(FILE,))
    try:
        proposal = await agent.propose(task, tree)
    except UserError as error:
        proposal = Proposal(agent=name, offered=False, because=error_reason(error))
    done = proposal.offered and ((tree / FILE).is_file() or bool(proposal.changes))
    network = grants[-1].reach if grants and grants[-1].reach else NetworkFilter(())
    return _Tried(proposal, done, network, trace.stat().st_size > 0)


def _outcome(tried: _Tried) -> Reason:
    if tried.done:
        return make_reason("agent_check.done")
    why = tried.proposal.because or make_reason("agent_check.no_file")
    failures = tuple(tried.network.failures.values())
    if failures and english(failures[0]) not in english(why):
        return make_reason("agent_check.unreachable", why=why, failure=failures[0])
    if failures or not tried.network.refused:
        return why
    hosts = ", ".join(list(tried.network.refused)[:_HOSTS_SHOWN])
    return make_reason("agent_check.refused", why=why, hosts=hosts)


def _hook(name: str, tried: _Tried) -> AgentCheckStep:
    if not PROFILES[name].hooks:
        return AgentCheckStep(step="hook", passed=True, message=make_reason("agent_check.no_hooks"))
    kind = "agent_check.hook_called" if tried.hook_called else "agent_check.hook_not_called"
    return AgentCheckStep(step="hook", passed=tried.hook_called, message=make_reason(kind))
