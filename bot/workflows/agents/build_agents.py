"""The agents of a run, built from its specs with no more rights than each needs (REQ-RUN-008).

A repository's own configuration may name the operator's `command` agent but cannot lend its own command line the
operator's variables, paths or network: those belong to MENDBOT_AGENT_COMMAND and to what the operator names with
`mendbot fix --agent`."""

from __future__ import annotations

import shlex
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from bot.agent.apply_comment import CommentPatchAgent
from bot.agent.command import CommandAgent
from bot.agent.fixers import FixersAgent
from bot.agent.hook_bundle import HookBundle, ToolError, make_bundle
from bot.agent.llm import ModelAgent, TaskFiles
from bot.agent.model_budget import ModelBudget, ModelLimits
from bot.agent.model_client import ModelClient
from bot.agent.model_judges import classify_step
from bot.agent.model_planner import ModelPlan, PlanMaterial, ask_for_plan
from bot.agent.model_providers import model_problem
from bot.agent.profiles import PROFILES
from bot.agent.protocol import Agent, Runner
from bot.agent.replay import HistoryAgent
from bot.agent.unavailable import UnavailableAgent
from bot.config import Settings, StopPolicy
from bot.errors import ConfigError, UserError
from bot.model import AgentTask, Change, ShellCommand, ValidationStep
from bot.model.agents import SpentSoFar
from bot.model.reasons import Reason
from bot.proc import ProcResult
from bot.repo_config.agents import MODEL_PREFIX, agent_problem
from bot.reports.locale.reasons import user_error
from bot.rules.reasons import error_reason, make_reason
from bot.store.database.database import Database
from bot.store.history.history import History
from bot.store.history.snapshot import tool_session_id, write_snapshot
from bot.store.runs.agent_usage import AgentUsage
from bot.store.runs.runs import RunRow
from bot.workflows.agents.profile_agents import prepare_profile
from bot.workflows.agents.task_files import read_task_files
from bot.workflows.agents.usage import with_duration
from bot.workflows.context import ModelVerdict, mirror_path, session_dir
from bot.workspace.patch import apply_changes
from bot.workspace.sandbox.agent_program import operator_grant, program_problem, resolved_argv
from bot.workspace.sandbox.bubblewrap import SandboxGrant
from bot.workspace.sandbox.sandbox import Sandbox
from bot.workspace.worktree.registry import open_tree

FIXER_TIMEOUT_S = 120.0


def check_specs(specs: Sequence[str]) -> None:
    """Raises ConfigError for an agent spec that this version does not know, and for a model that cannot be asked."""
    for spec in specs:
        problem = agent_problem(spec)
        if problem is not None:
            raise user_error(problem, ConfigError)
        missing = model_problem(spec) if spec.startswith(MODEL_PREFIX) else None
        if missing is not None:
            raise user_error(missing, ConfigError)


def not_chosen(settings: Settings, spec: str, *, by_operator: bool) -> Reason | None:
    """Returns why an agent that uses a key of the operator may not be asked; None for any other, and where it may be.

    Nobody but the operator may spend the operator's money."""
    if by_operator or spec in settings.agents:
        return None
    if spec in PROFILES:
        return make_reason("agent_profile.not_chosen", agent=spec)
    return make_reason("model.not_named", spec=spec) if spec.startswith(MODEL_PREFIX) else None


def operators_argv(settings: Settings, spec: str, *, by_operator: bool) -> tuple[str, ...] | None:
    """The command line of an agent that is the operator's own: MENDBOT_AGENT_COMMAND, which may be empty, or what the
    operator gave; None for any other agent."""
    if spec == "command":
        return settings.agent_command
    return _split(spec.removeprefix("command:")) if by_operator and spec.startswith("command:") else None


def _split(line: str) -> tuple[str, ...]:
    try:
        return tuple(shlex.split(line))
    except ValueError as error:
        raise user_error(make_reason("agent.quotes", line=line, error=str(error)), ConfigError) from None


@dataclass(frozen=True, slots=True)
class AgentFactory:
    """What agents are built from, once per process."""

    settings: Settings
    sandbox: Sandbox
    database: Database
    history: History
    mask: Callable[[str], str]

    def developers(self, row: RunRow) -> Sequence[Agent]:
        """A run's agents, in the order in which they are asked."""
        if row.spec.given:
            return [CommentPatchAgent(row.spec.given)]
        return [self._developer(name, row) for name in row.spec.agents]

    def _developer(self, spec: str, row: RunRow) -> Agent:
        policy, settings, repo = row.spec.policy, self.settings, row.spec.repo
        git_dirs = () if repo is None else (mirror_path(settings, repo),)
        if spec in PROFILES:
            return self._profile(spec, row, git_dirs)
        runner = runner_in(self.sandbox, git_dirs)
        if spec == "fixers":
            lines = policy.fixers
            configured = (
                None if lines is None else tuple(ShellCommand(run=run, timeout_s=FIXER_TIMEOUT_S) for run in lines)
            )
            return FixersAgent(runner, configured, FIXER_TIMEOUT_S)
        if spec == "history":
            return self._replay(row)
        if spec.startswith(MODEL_PREFIX):
            return self._model(spec, row)
        check_specs([spec])
        own = operators_argv(settings, spec, by_operator=row.spec.agents_by_operator)
        grant = operator_grant(settings) if own is not None else SandboxGrant()
        return CommandAgent(
            runner,
            _split(spec.removeprefix("command:")) if own is None else resolved_argv(own, self.sandbox),
            env=grant.env,
            read_only=grant.read_only,
            network=grant.network,
            explain=partial(self._explain, own) if own else None,
            budget=self._budget(row),
            make_bundle=partial(self._kit, row),
            record_errors=partial(self._learn, row),
        )

    async def _explain(self, argv: tuple[str, ...], tree: Path) -> Reason | None:
        return await program_problem(argv, tree, self.sandbox, self.settings)

    def _model(self, spec: str, row: RunRow) -> Agent:
        unnamed = not_chosen(self.settings, spec, by_operator=row.spec.agents_by_operator)
        if unnamed is not None:
            return UnavailableAgent(spec, unnamed)
        problem = model_problem(spec)
        if problem is not None:
            return UnavailableAgent(spec, _unavailable(problem))
        return ModelAgent(self._client(spec, row), partial(self._task_files, row))

    async def _task_files(self, row: RunRow, task: AgentTask, tree: Path, first: Sequence[str]) -> TaskFiles:
        repo, settings = row.spec.repo, self.settings
        local = session_dir(settings, row.id) / "git"
        git_dir = local if repo is None else open_tree(mirror_path(settings, repo), tree).git_dir
        return await read_task_files(git_dir, task, tree, first)

    def _client(self, spec: str, row: RunRow) -> ModelClient:
        return ModelClient(spec.removeprefix(MODEL_PREFIX), self._budget(row), self.mask)

    def _budget(self, row: RunRow) -> ModelBudget:
        async def read(day: str, run_id: str) -> SpentSoFar:
            return await AgentUsage(self.database).spent(day, row.spec.place, run_id)

        return ModelBudget(model_limits(self.settings, row.spec.policy.stop), read)

    async def plan(self, row: RunRow, material: PlanMaterial) -> ModelPlan | None:
        """What the first model among the run's agents adds to the plan; None without one."""
        spec = self._first_model(row)
        if spec is None:
            return None
        began = time.monotonic()
        plan = await ask_for_plan(self._client(spec, row), row.id, material)
        return replace(plan, usage=with_duration(plan.usage, began))

    def _first_model(self, row: RunRow) -> str | None:
        models = (spec for spec in row.spec.agents if spec.startswith(MODEL_PREFIX) and self._may_ask(spec, row))
        return next(models, None)

    async def classify(self, row: RunRow, step: ValidationStep) -> ModelVerdict | None:
        """Why a step failed, by the first model among the run's agents; None without one."""
        spec = self._first_model(row)
        if spec is None:
            return None
        began = time.monotonic()
        kind, usage = await classify_step(self._client(spec, row), row.id, step)
        return ModelVerdict(spec, kind, with_duration(usage, began))

    def _may_ask(self, spec: str, row: RunRow) -> bool:
        return not_chosen(self.settings, spec, by_operator=row.spec.agents_by_operator) is None

    def _profile(self, name: str, row: RunRow, git_dirs: tuple[Path, ...]) -> Agent:
        """The coding agent of that name, which works with the operator's key, or why it cannot be asked.

        A repository's configuration may name only those that the operator chose."""
        unchosen = not_chosen(self.settings, name, by_operator=row.spec.agents_by_operator)
        if unchosen is not None:
            return UnavailableAgent(name, _unavailable(unchosen))
        prepared = prepare_profile(name, self.settings)
        if isinstance(prepared, Reason):
            return UnavailableAgent(name, _unavailable(prepared))
        return CommandAgent(
            runner_in(self.sandbox, git_dirs, prepared.grant),
            prepared.argv,
            name=name,
            env=prepared.env,
            read_only=prepared.read_only,
            read=prepared.profile.read,
            budget=self._budget(row),
            make_bundle=partial(self._kit, row, settings=prepared.profile.run_settings()),
            record_errors=partial(self._learn, row),
        )

    def _replay(self, row: RunRow) -> HistoryAgent:
        place, protected = row.spec.place, row.spec.policy.protected_paths

        async def fits(tree: Path, changes: Sequence[Change]) -> Reason | None:
            try:
                await apply_changes(tree, changes, protected=protected)
            except UserError as error:
                return error_reason(error)
            return None

        return HistoryAgent(
            look_up=partial(self.history.by_errors, repo=place),
            dead_ends=self.history.dead_ends,
            fits=fits,
        )

    async def _kit(self, row: RunRow, _: str, settings: Mapping[str, Any] | None = None) -> HookBundle:
        language = row.spec.policy.language or self.settings.language
        kit = make_bundle(kit_dir(self.settings, row.id), language=language, settings=settings)
        await write_snapshot(self.database, kit.database, repo=row.spec.place, session=row.id)
        return kit

    async def _learn(self, row: RunRow, _: str, errors: Sequence[ToolError]) -> None:
        for error in errors:
            session = tool_session_id(
                row.id, self.mask(error.session_id)
            )  # its own word, so it stays under the run's id
            tool, text = self.mask(error.tool), self.mask(error.error)
            await self.history.tool_error(session, tool, text, project=row.spec.place)


def model_limits(settings: Settings, stop: StopPolicy | None = None) -> ModelLimits:
    """The limits of the operator's settings; a repository's own can only lower them."""
    tokens = (settings.model_repo_day_tokens, stop.max_day_tokens if stop else None)
    costs = (settings.model_repo_day_cost, stop.max_day_cost if stop else None)
    return ModelLimits(
        run_tokens=settings.model_run_tokens,
        day_tokens=settings.model_day_tokens,
        run_cost=settings.model_run_cost,
        day_cost=settings.model_day_cost,
        place_day_tokens=min((each for each in tokens if each is not None), default=None),
        place_day_cost=min((each for each in costs if each is not None), default=None),
    )


def _unavailable(why: Reason) -> Reason:
    return make_reason("agent.unavailable", why=why)


def kit_dir(settings: Settings, run_id: str) -> Path:
    """Where the hook of a run's command agent has its settings and its snapshot: outside every tree."""
    return settings.home / "kits" / run_id


def runner_in(
    sandbox: Sandbox, git_dirs: tuple[Path, ...], base: Callable[[Path], SandboxGrant] = lambda _: SandboxGrant()
) -> Runner:
    """A runner for agents: the sandbox, with the git directories that the tree's `.git` file names.

    `base` makes what every run in a tree is granted beyond the arguments."""

    async def run(
        command: ShellCommand,
        tree: Path,
        *,
        network: bool = False,
        env: Mapping[str, str] | None = None,
        read_only: tuple[Path, ...] = (),
        writable: tuple[Path, ...] = (),
        stdin: bytes | None = None,
    ) -> ProcResult:
        readable = (*git_dirs, *read_only)
        grant = replace(base(tree), network=network, env=env or {}, read_only=readable, writable=writable)
        return await sandbox.run(command, tree, grant=grant, stdin=stdin)

    return run
