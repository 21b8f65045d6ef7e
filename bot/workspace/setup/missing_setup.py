"""Finds out whether a project must be set up before a detected check can run, and by which command. It runs nothing.

A project that declares dependencies is never tested with an interpreter that lacks them."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

from bot.model import NeededSetup, ShellCommand
from bot.workspace.detect.python_finders import ENVIRONMENTS, python_tools
from bot.workspace.files.project_files import Project
from bot.workspace.sandbox.check_tools import TOOLS
from bot.workspace.setup.node_plan import node_remedy
from bot.workspace.setup.python_needs import declaring, namesake
from bot.workspace.setup.python_plan import python_remedy


def needed_setup(tree: Path, command: ShellCommand, provided: Callable[[str], bool]) -> NeededSetup | None:
    """The setup that `command`, detected in `tree` (absolute), needs before it can run; None if it needs none.

    `provided` returns whether a tool is in one of the operator's toolchains, for whose packages the operator is
    responsible. A broken file of the tree declares nothing."""
    if command.needs == "node":
        return node_remedy(Project(tree, command.directory))
    if not command.needs or provided(command.needs):
        return None
    return _python(Project(tree, command.directory), command.needs)


def _python(project: Project, tool: str) -> NeededSetup | None:
    places = project.upwards()
    for here in places:
        for name in ENVIRONMENTS:
            if here.own_tool(f"{name}/bin/python") is not None:
                if tool not in TOOLS or _has_tool(here, name, tool):
                    return None
                return NeededSetup(because="tool", what=tool, place=here.within(name), command=_set_up(here, project))
    for here in places:
        file = declaring(here)
        if file is not None:
            return NeededSetup(because="dependencies", what=here.within(file), command=_set_up(here, project))
    package = namesake(project)
    if package is not None:
        return NeededSetup(because="name", what=package, command=_set_up(project, project))
    return None


def _has_tool(project: Project, environment: str, tool: str) -> bool:
    """Whether the environment has the tool, itself or by the system's packages, which it may use."""
    text = project.text(f"{environment}/pyvenv.cfg") or ""
    if re.search(r"^include-system-site-packages\s*=\s*true\s*$", text, re.MULTILINE | re.IGNORECASE):
        return True
    if project.own_tool(f"{environment}/bin/{tool}") is not None:
        return True
    library = project.place / environment / "lib"
    return any(library.glob(f"python*/site-packages/{tool}/__init__.py"))


def _set_up(home: Project, project: Project) -> str:
    """The set-up command of the project at `home`, with the tools that the checks of `project` need."""
    return home.shell(python_remedy(home, python_tools(project)))
