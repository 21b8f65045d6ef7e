"""The agents of a run, built from its specs: what each is given, and no more (REQ-RUN-008).

A repository's own configuration may name the operator's `command` agent but cannot lend its own command line the
operator's variables, paths or network: those belong to MENDBOT_AGENT_COMMAND alone."""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from bot.agent.command import CommandDeveloper
from bot.agent.developer import Developer, Runner
from bot.agent.fixers import FixersDeveloper, default_fixers
from bot.config import Policy, Settings
from bot.errors import ConfigError
from bot.model import Command
from bot.proc import ProcResult
from bot.rules.course import RunSpec
from bot.workspace.sandbox import Grant, Sandbox

KINDS = ("fixers", "command", "command:ARGV")
FIXER_TIMEOUT_S = 120.0


def check_specs(specs: Sequence[str]) -> None:
    """Raises ConfigError for an agent spec that this version does not know."""
    for spec in specs:
        kind, _, argv = spec.partition(":")
        if spec not in ("fixers", "command") and not (kind == "command" and argv.strip()):
            raise ConfigError(f"unknown agent `{spec}`; this version knows {', '.join(KINDS)}")


def runner_in(sandbox: Sandbox, mirror: Path) -> Runner:
    """A runner for agents: the box, with the git directory that the tree's `.git` file names."""

    async def run(
        command: Command,
        tree: Path,
        *,
        network: bool = False,
        env: Mapping[str, str] | None = None,
        read_only: tuple[Path, ...] = (),
        stdin: bytes | None = None,
    ) -> ProcResult:
        grant = Grant(network=network, env=env or {}, read_only=(mirror, *read_only))
        return await sandbox.run(command, tree, grant=grant, stdin=stdin)

    return run


def developers_of(
    settings: Settings, sandbox: Sandbox, mirror_of: Callable[[RunSpec], Path]
) -> Callable[[RunSpec, Path], Sequence[Developer]]:
    """What makes a run's agents, in the order in which they are asked."""

    def make(spec: RunSpec, tree: Path) -> Sequence[Developer]:
        runner = runner_in(sandbox, mirror_of(spec))
        return [_developer(name, settings, spec.policy, runner, tree) for name in spec.agents]

    return make


def _developer(spec: str, settings: Settings, policy: Policy, runner: Runner, tree: Path) -> Developer:
    if spec == "fixers":
        commands = policy.fixers or default_fixers(tree)
        return FixersDeveloper(runner, tuple(Command(run=run, timeout_s=FIXER_TIMEOUT_S) for run in commands))
    if spec == "command":
        env = {name: os.environ[name] for name in settings.agent_env if name in os.environ}
        return CommandDeveloper(
            runner,
            settings.agent_command,
            env=env,
            read_only=settings.agent_binds,
            network=settings.agent_network,
        )
    check_specs([spec])
    return CommandDeveloper(runner, tuple(shlex.split(spec.removeprefix("command:"))))
