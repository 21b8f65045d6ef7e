"""Plans the setup of a tree: by the repository's own `setup`, else by its files. Reads files and runs nothing."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from bot.config import ChecksPolicy
from bot.model import CHECK_ORDER, ShellOrArgv
from bot.model.setups import SetupPlan, SetupStep
from bot.repo_config.configuration_keys import POLICY_PATH
from bot.workspace.detect.detect import NoCommand, detect
from bot.workspace.detect.monorepo import projects_above
from bot.workspace.detect.package_managers import programs_called
from bot.workspace.files.project_files import Project
from bot.workspace.setup.go_and_rust import native_steps
from bot.workspace.setup.node_plan import node_steps
from bot.workspace.setup.python_plan import python_steps


def plan_setup(tree: Path, focus: Sequence[str] = (), *, configured: ShellOrArgv | None = None) -> SetupPlan:
    """The plan for `tree` (absolute). In a repository with many projects, the files in `focus` choose the project.

    See `workspace.detect.detect`. A broken or unreadable file adds no step."""
    if configured is not None:
        programs = programs_called(Project(tree), configured)
        step = SetupStep(run=configured, because=POLICY_PATH, network=True, programs=programs)
        return SetupPlan(steps=(step,), configured=True)
    checks = {check: detect(tree, check, ChecksPolicy(), focus) for check in CHECK_ORDER}
    commands = {check: command for check, command in checks.items() if not isinstance(command, NoCommand)}
    # what is installed may bring a test command to a Node project without one
    untested = None if "test" in commands else projects_above(tree, focus[0])[0] if focus else ""
    steps = (*node_steps(tree, commands, untested), *native_steps(tree, commands), *python_steps(tree, commands))
    # what has the network comes first: code of the project could leave settings for it that no commit has
    return SetupPlan(steps=tuple(sorted(steps, key=lambda step: not step.network)))
