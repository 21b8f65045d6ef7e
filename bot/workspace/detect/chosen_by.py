"""Which file of a project its check was chosen by, so that people see why that command runs."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from bot.model import ShellCommand
from bot.repo_config.keys import POLICY_PATH
from bot.workspace.detect.command_finders import ESLINT_FILES
from bot.workspace.detect.target_finders import JUSTFILES, MAKEFILES
from bot.workspace.files.project_files import Project

_FILES: Mapping[str, tuple[str, ...]] = {
    **dict.fromkeys(("npm", "pnpm", "yarn", "bun"), ("package.json",)),
    "just": JUSTFILES,
    "make": MAKEFILES,
    "tox": ("tox.ini", "pyproject.toml", "setup.cfg"),
    "nox": ("noxfile.py",),
    "go": ("go.mod", "go.work"),
    "cargo": ("Cargo.toml",),
    "tsc": ("tsconfig.json",),
    "eslint": (*ESLINT_FILES, "package.json"),
    "mypy": ("mypy.ini", ".mypy.ini", "pyproject.toml", "setup.cfg"),
    "pyright": ("pyrightconfig.json", "pyproject.toml"),
    "ty": ("ty.toml", "pyproject.toml"),
    "ruff": ("ruff.toml", ".ruff.toml", "pyproject.toml"),
    "pytest": ("pytest.ini", ".pytest.ini", "pyproject.toml", "tox.ini", "setup.cfg", "setup.py"),
}
"""The files that may ask for a program, the first that is there first."""


def chosen_by(tree: Path, command: ShellCommand, *, configured: bool) -> str:
    """The file, relative to `tree` (absolute), that a detected command was chosen by; "" where none tells. `configured`
    is a command of the repository's own configuration."""
    if configured:
        return POLICY_PATH
    project = Project(tree, command.directory)
    program = next((name for word in command.argv if (name := word.rpartition("/")[2]) in _FILES), None)
    file = next((name for name in _FILES.get(program or "", ()) if project.has(name)), "")
    return project.within(file) if file else ""
