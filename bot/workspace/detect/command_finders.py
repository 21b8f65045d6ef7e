"""The finders of check commands, a literal table with one for each kind of project.

Each returns the argv for a check (spec A, Commands), or records in the project what it looked for in vain."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from pathlib import Path

from bot.model import CheckName, ShellCommand
from bot.repo_config.configuration_keys import POLICY_PATH
from bot.workspace.detect.package_managers import package_manager
from bot.workspace.detect.python_finders import python_checks
from bot.workspace.detect.target_finders import JUSTFILES, MAKEFILES, SCRIPTS, TARGETS, Argv, Finder
from bot.workspace.files.project_files import Project

_NO_TEST = re.compile(r"Error: no test specified")
"""What `npm init` writes as the test script (npm's documentation of `npm init`)."""


def _node(project: Project, check: CheckName) -> Argv | None:
    for name in SCRIPTS[check]:
        script = project.package().scripts.get(name, "")
        if script.strip() and not _NO_TEST.search(script):
            manager = package_manager(project)
            # `bun test` is bun's own runner, not the script; the others know the script by both spellings
            return (manager, "test") if name == "test" and manager != "bun" else (manager, "run", name)
    project.missing("looked_for.script", names="`, `".join(SCRIPTS[check]))
    return _node_tool(project, check, project.own_tool)


def _node_above(project: Project, check: CheckName) -> Argv | None:
    """The workspace's tools, for a package without a script and tools of its own."""
    return _node_tool(project, check, project.tool) if project.directory and project.has("package.json") else None


def _node_tool(project: Project, check: CheckName, installed: Callable[[str], str | None]) -> Argv | None:
    if check == "typecheck":
        tsc = installed("node_modules/.bin/tsc")
        if tsc is not None and project.has("tsconfig.json"):
            return (tsc, "--noEmit")
        project.missing("looked_for.typescript")
    if check == "lint":
        eslint = installed("node_modules/.bin/eslint")
        if eslint is not None and _has_eslint_settings(project):
            return (eslint, ".")
        project.missing("looked_for.eslint")
    return None


ESLINT_FILES = (
    *(f"eslint.config.{end}" for end in ("js", "mjs", "cjs", "ts", "mts", "cts")),
    *(f".eslintrc{end}" for end in ("", ".js", ".cjs", ".yaml", ".yml", ".json")),
)


def _has_eslint_settings(project: Project) -> bool:
    """Whether eslint finds settings in the project or above it; without them it ends with an error."""
    return any(here.has(*ESLINT_FILES) or here.package().eslint is not None for here in project.upwards())


def needs(finder: Finder, check: CheckName, argv: Argv) -> str:
    """What a command needs installed: the tool in a Python project's environment, `node` for packages, or ""."""
    if finder in (_node, _node_above):
        return "node"
    if finder is not python_checks or check == "lint":
        return ""
    return "pytest" if check == "test" else argv[0].rpartition("/")[2]


def _go(project: Project, check: CheckName) -> Argv | None:
    if not project.has("go.mod"):
        project.missing("looked_for.file", path="go.mod")
        return None
    if check == "lint" and project.has(".golangci.yml", ".golangci.yaml", ".golangci.toml", ".golangci.json"):
        return ("golangci-lint", "run", "--fix=false")
    # without -o a module of one program would have it written into the tree (`go help build`)
    return {
        "test": ("go", "test", "./..."),
        "typecheck": ("go", "build", "-o", "/dev/null", "./..."),
        "lint": ("go", "vet", "./..."),
    }[check]


def _rust(project: Project, check: CheckName) -> Argv | None:
    if not project.has("Cargo.toml"):
        project.missing("looked_for.file", path="Cargo.toml")
        return None
    return {"test": ("cargo", "test"), "typecheck": ("cargo", "check", "--all-targets"), "lint": ("cargo", "clippy")}[
        check
    ]


FINDERS: tuple[Finder, ...] = (_node, python_checks, _go, _rust, *TARGETS)
GUESSES: tuple[Finder, ...] = (_node_above,)
"""Commands that the project does not ask for; they are tried after all others."""


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
"""The files that may ask for a program, in the order in which they are looked for."""


def chosen_by(tree: Path, command: ShellCommand, *, configured: bool) -> str:
    """The file, relative to `tree` (absolute), by which a command was chosen, or "".

    `configured`: the command is from the repository's own configuration."""
    if configured:
        return POLICY_PATH
    project = Project(tree, command.directory)
    program = next((name for word in command.argv if (name := word.rpartition("/")[2]) in _FILES), None)
    file = next((name for name in _FILES.get(program or "", ()) if project.has(name)), "")
    return project.within(file) if file else ""
