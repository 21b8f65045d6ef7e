"""Which command runs a check in a tree: the repository's configuration, else what its files tell (spec A, Commands).
A literal table of finders, one for each kind of project; where none knows one, all that was looked for is told."""

from __future__ import annotations

import re
import shutil
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from bot.config import CHECK_TIMEOUTS_S, POLICY_PATH, ChecksPolicy
from bot.model import CheckName, Command
from bot.workspace.project import Project, section

Argv = tuple[str, ...]
Finder = Callable[[Project, CheckName], Argv | None]


@dataclass(frozen=True, slots=True)
class Missing:
    """There is no command for the check; `looked_for` says where one would have been found, a phrase each."""

    check: CheckName
    looked_for: tuple[str, ...]


def detect(tree: Path, check: CheckName, policy: ChecksPolicy) -> Command | Missing:
    """The command for a check in `tree` (absolute) with its time limit in seconds; reads files and runs nothing.

    The repository's own command wins. A broken or unreadable file is told in `Missing.looked_for`, never raised."""
    own = policy.of(check)
    timeout_s = own.timeout or CHECK_TIMEOUTS_S[check]
    if own.command:
        return Command(run=own.command, timeout_s=timeout_s)
    project = Project(tree)
    for finder in FINDERS:
        argv = finder(project, check)
        if argv is not None:
            return Command(run=argv, timeout_s=timeout_s)
    return Missing(check, (f"`checks.{check}.command` in {POLICY_PATH}", *project.looked_for))


SCRIPTS: dict[CheckName, tuple[str, ...]] = {
    "test": ("test",),
    "typecheck": ("type-check", "typecheck", "check-types"),
    "lint": ("lint",),
}
"""Names of scripts and targets, in the order in which they are tried."""

_LOCK_FILES = (
    ("pnpm-lock.yaml", "pnpm"),
    ("yarn.lock", "yarn"),
    ("bun.lock", "bun"),
    ("bun.lockb", "bun"),
    ("package-lock.json", "npm"),
    ("npm-shrinkwrap.json", "npm"),
)
_NO_TEST = re.compile(r"Error: no test specified")
"""What `npm init` writes as the test script (npm's documentation of `npm init`)."""


def _node(project: Project, check: CheckName) -> Argv | None:
    package = project.json("package.json")
    manager = _package_manager(project, package.get("packageManager"))
    scripts = section(package, "scripts") or {}
    for name in SCRIPTS[check]:
        script = scripts.get(name)
        if isinstance(script, str) and script.strip() and not _NO_TEST.search(script):
            # `bun test` is bun's own runner, not the script; the others know the script by both spellings
            return (manager, "test") if name == "test" and manager != "bun" else (manager, "run", name)
    project.missing(f"a `{'`, `'.join(SCRIPTS[check])}` script in package.json")
    if check == "typecheck":
        if project.has("tsconfig.json") and project.has_tool("node_modules/.bin/tsc"):
            return ("tsc", "--noEmit")
        project.missing("tsconfig.json with TypeScript installed")
    if check == "lint":
        if project.has_tool("node_modules/.bin/eslint"):
            return ("eslint", ".")
        project.missing("eslint installed in node_modules")
    return None


def _package_manager(project: Project, named: object) -> str:
    """The `packageManager` field decides (Corepack's documentation), then the lock file, then npm."""
    name = named.split("@", 1)[0].strip() if isinstance(named, str) else ""
    if name in ("npm", "pnpm", "yarn", "bun"):
        return name
    # a lock file may be large, and bun's is binary: that it exists is all there is to know
    return next((manager for file, manager in _LOCK_FILES if (project.tree / file).is_file()), "npm")


def _python(project: Project, check: CheckName) -> Argv | None:
    return {"test": _pytest, "typecheck": _python_types, "lint": _python_lint}[check](project)


def _pytest(project: Project) -> Argv | None:
    options = _pytest_options(project)
    tests = (
        name for name in project.names(".py") if re.search(r"(?:^|/)(?:test_[^/]*|[^/]*_test|conftest)\.py$", name)
    )
    if options is None and next(tests, None) is None:
        project.missing("pytest's configuration or files named test_*.py")
        return None
    if project.has_tool(".venv/bin/python"):
        return ("python", "-m", "pytest")
    # as `python -m pytest` does, let tests import what stands beside them; `python` itself may be one without pytest
    return ("pytest",) if "pythonpath" in (options or ()) else ("pytest", "-o", "pythonpath=.")


def _pytest_options(project: Project) -> Sequence[str] | None:
    """The keys of pytest's configuration, or None without one (pytest's documentation, Configuration file formats)."""
    tool = section(project.toml("pyproject.toml"), "tool", "pytest")
    found = [tool, section(tool or {}, "ini_options"), section(project.toml("pytest.toml"), "pytest")]
    for file, name in (("pytest.ini", "pytest"), ("tox.ini", "pytest"), ("setup.cfg", "tool:pytest")):
        found.append(project.ini(file).get(name) if project.has(file) else None)
    if project.has("pytest.ini", "pytest.toml"):
        found.append({})
    present = [options for options in found if options is not None]
    return [key for options in present for key in options] if present else None


def _python_types(project: Project) -> Argv | None:
    pyproject = project.toml("pyproject.toml")
    mypy = section(pyproject, "tool", "mypy")
    for file in ("mypy.ini", ".mypy.ini", "setup.cfg"):
        if mypy is None and project.has(file):
            mypy = project.ini(file).get("mypy")
    if mypy is not None:
        return ("mypy",) if {"files", "packages", "modules"} & set(mypy) else ("mypy", ".")
    if project.has("pyrightconfig.json") or section(pyproject, "tool", "pyright") is not None:
        return ("pyright",)
    if project.has("ty.toml") or section(pyproject, "tool", "ty") is not None:
        return ("ty", "check")
    project.missing("a configuration of mypy, pyright or ty")
    return None


def _python_lint(project: Project) -> Argv | None:
    if project.has("ruff.toml", ".ruff.toml") or section(project.toml("pyproject.toml"), "tool", "ruff") is not None:
        return ("ruff", "check")
    project.missing("a configuration of ruff")
    is_python = project.has("pyproject.toml", "setup.py", "setup.cfg", "requirements.txt")
    # unasked for, only where it's there to run and the project has not chosen another linter
    if is_python and not _lints_otherwise(project) and _can_run(project, "ruff"):
        return ("ruff", "check")
    project.missing("a Python project without another linter, and ruff installed")
    return None


def _lints_otherwise(project: Project) -> bool:
    tools = section(project.toml("pyproject.toml"), "tool") or {}
    files = (".flake8", ".pylintrc", "pylintrc", ".prospector.yaml")
    in_files = any("flake8" in project.ini(file) for file in ("setup.cfg", "tox.ini") if project.has(file))
    return in_files or project.has(*files) or bool({"flake8", "pylint", "pyflakes"} & set(tools))


def _can_run(project: Project, tool: str) -> bool:
    beside = Path(sys.prefix, "bin", tool)
    return project.has_tool(f".venv/bin/{tool}") or beside.is_file() or shutil.which(tool) is not None


def _go(project: Project, check: CheckName) -> Argv | None:
    if not project.has("go.mod"):
        project.missing("go.mod")
        return None
    if check == "lint" and project.has(".golangci.yml", ".golangci.yaml", ".golangci.toml", ".golangci.json"):
        return ("golangci-lint", "run")
    return {"test": ("go", "test", "./..."), "typecheck": ("go", "build", "./..."), "lint": ("go", "vet", "./...")}[
        check
    ]


def _rust(project: Project, check: CheckName) -> Argv | None:
    if not project.has("Cargo.toml"):
        project.missing("Cargo.toml")
        return None
    return {"test": ("cargo", "test"), "typecheck": ("cargo", "check", "--all-targets"), "lint": ("cargo", "clippy")}[
        check
    ]


def _make(project: Project, check: CheckName) -> Argv | None:
    return _target(
        project,
        check,
        ("GNUmakefile", "makefile", "Makefile"),
        ("make",),
        r"(?:[^\s:=#][^\n:=#]*[ ])?NAME(?:[ ][^\n:=]*)?::?(?!=)",
    )


def _just(project: Project, check: CheckName) -> Argv | None:
    return _target(project, check, ("justfile", ".justfile", "Justfile"), ("just",), r"@?NAME(?:[ \t][^\n:]*)?:(?!=)")


def _target(project: Project, check: CheckName, files: Argv, program: Argv, shape: str) -> Argv | None:
    """A target or recipe of one of the names at the start of a line in the first of the files that is there."""
    text = next((text for text in map(project.text, files) if text is not None), None)
    for name in SCRIPTS[check] if text else ():
        if re.search("^" + shape.replace("NAME", re.escape(name)), text or "", re.MULTILINE):
            return (*program, name)
    project.missing(f"a `{SCRIPTS[check][0]}` target in {files[-1] if program == ('make',) else files[0]}")
    return None


def _tox(project: Project, check: CheckName) -> Argv | None:
    sections = project.ini("tox.ini") if project.has("tox.ini") else {}
    for name in (*SCRIPTS[check], *_ALSO[check]):
        if f"testenv:{name}" in sections:
            return ("tox", "run", "-e", name)
    if check == "test" and sections.get("testenv", {}).get("commands"):
        return ("tox", "run")
    project.missing(f"a `testenv:{SCRIPTS[check][0]}` in tox.ini")
    return None


def _nox(project: Project, check: CheckName) -> Argv | None:
    text = project.text("noxfile.py") or ""
    for name in (*SCRIPTS[check], *_ALSO[check]):
        named = re.search(rf"^@nox\.session\([^)\n]*\bname=[\"']{re.escape(name)}[\"']", text, re.MULTILINE)
        if named or re.search(rf"^@(?:nox\.)?session\b[^\n]*\ndef {re.escape(name)}\(", text, re.MULTILINE):
            return ("nox", "-s", name)
    project.missing(f"a `{SCRIPTS[check][0]}` session in noxfile.py")
    return None


_ALSO: dict[CheckName, tuple[str, ...]] = {
    "test": ("tests", "py", "unit"),
    "typecheck": ("type", "types", "typing", "mypy"),
    "lint": ("linters", "ruff", "flake8"),
}
"""What tox and nox files commonly call them."""

FINDERS: tuple[Finder, ...] = (_node, _python, _go, _rust, _make, _just, _tox, _nox)
