"""Checks that a language model, or the operator's own `command` agent, works here: with the same small task."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path

from bot.agent.command import CommandAgent
from bot.agent.llm import ModelAgent, TaskFiles
from bot.agent.model_budget import ModelBudget
from bot.agent.model_client import ModelClient
from bot.agent.model_providers import PROVIDERS, model_problem
from bot.agent.protocol import Agent
from bot.config import Settings
from bot.errors import UserError
from bot.model import AgentTask, Proposal
from bot.model.reasons import Reason
from bot.repo_config.agents import MODEL_PREFIX
from bot.rules.reasons import any_of, error_reason, make_reason, quoted
from bot.workflows.agents.build_agents import model_limits, operators_argv, runner_in
from bot.workflows.agents.check_agent import FILE, TASK, TIMEOUT_S, AgentCheck, AgentCheckStep, Step
from bot.workflows.masking import Masker
from bot.workspace.sandbox.agent_program import operator_grant, program_problem, resolved_argv
from bot.workspace.sandbox.bubblewrap import SandboxGrant
from bot.workspace.sandbox.sandbox import Sandbox


async def check_model(spec: str, settings: Settings) -> AgentCheck:
    """Checks the agent `llm:PROVIDER:MODEL`: the library, the provider and its key, and the task."""
    problem = model_problem(spec)
    if problem is not None:
        return _failed(spec, "program" if problem.kind == "model.not_installed" else "key", problem)
    model = spec.removeprefix(MODEL_PREFIX)

    async def read(_: AgentTask, __: Path, ___: Sequence[str]) -> TaskFiles:
        return TaskFiles({}, [])

    agent = ModelAgent(ModelClient(model, ModelBudget(model_limits(settings)), Masker(settings)), read)
    variables = PROVIDERS.get(model.partition(":")[0], ())
    steps = (
        _step("program", quoted("pydantic-ai")),
        _step("key", any_of(variables) if variables else make_reason("agent_check.no_key_known")),
    )
    with tempfile.TemporaryDirectory(prefix="mendbot-agent-") as directory:
        return await _tried(spec, agent, Path(directory), steps)


async def check_command(spec: str, settings: Settings, sandbox: Sandbox) -> AgentCheck:
    """Checks `command`, which is MENDBOT_AGENT_COMMAND, or `command:ARGV`: the program, the sandbox, and the task.

    Raises UserError where nothing may run."""
    argv = operators_argv(settings, spec, by_operator=True)
    if not argv:
        return _failed(spec, "program", make_reason("agent.unset"))
    grant = operator_grant(settings)
    with tempfile.TemporaryDirectory(prefix="mendbot-agent-") as directory:
        tree = Path(directory).resolve()
        problem = await program_problem(argv, tree, sandbox, settings)
        if problem is not None:
            return _failed(spec, "program", problem)
        agent = CommandAgent(
            runner_in(sandbox, (), lambda _: SandboxGrant()),
            resolved_argv(argv, sandbox),
            env=grant.env,
            read_only=grant.read_only,
            network=grant.network,
            timeout_s=TIMEOUT_S,
        )
        steps = (_step("program", quoted(" ".join(argv))), _step("sandbox", sandbox.description))
        return await _tried(spec, agent, tree, steps)


async def _tried(spec: str, agent: Agent, tree: Path, steps: tuple[AgentCheckStep, ...]) -> AgentCheck:
    """The check with what came of the task."""
    task = AgentTask(run_id="check", attempt=1, max_attempts=1, task=TASK, focus=(FILE,))
    try:
        proposal = await agent.propose(task, tree)
    except UserError as error:
        proposal = Proposal(agent=spec, offered=False, because=error_reason(error))
    done = proposal.offered and ((tree / FILE).is_file() or bool(proposal.changes))
    why = make_reason("agent_check.done" if done else "agent_check.no_file")
    message = why if done else proposal.because or why
    last = AgentCheckStep(step="task", passed=done, message=message)
    return AgentCheck(agent=spec, steps=(*steps, last), usage=proposal.usage)


def _step(step: Step, message: Reason) -> AgentCheckStep:
    return AgentCheckStep(step=step, passed=True, message=message)


def _failed(spec: str, step: Step, message: Reason) -> AgentCheck:
    return AgentCheck(agent=spec, steps=(AgentCheckStep(step=step, passed=False, message=message),))
