"""The shell command that sets a project up, by the files that name its package manager. It leaves what it installs in
the tree, which is all that the sandbox keeps from one command to the next."""

from __future__ import annotations

import re
import shlex
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from bot.rules.setup.node_commands import locked


@dataclass(frozen=True, slots=True)
class PythonSetup:
    """The facts about a Python project: `files` are its file names, `tools` are those that its checks need and nothing
    declares.

    `requirements` are its requirements files, `extras` and `groups` the names of optional ones that its checks need;
    `requires` are its dependencies, for a project that cannot be installed itself."""

    files: Collection[str]
    manager: str = ""
    requirements: Sequence[str] = ()
    requires: Sequence[str] = ()
    extras: Sequence[str] = ()
    groups: Sequence[str] = ()
    tools: Sequence[str] = ()
    installable: bool = False


def python_setup(known: PythonSetup) -> str:
    """The command that makes `.venv` with the project, what it declares for tests, and its tools."""
    extras, groups = known.extras, known.groups
    tools = " ".join(map(shlex.quote, known.tools))
    if "uv.lock" in known.files or known.manager == "uv":
        words = ["uv sync", *(f"--extra {name}" for name in extras), *(f"--group {name}" for name in groups)]
        return " ".join(words) + (f" && uv pip install {tools}" if tools else "")
    if "poetry.lock" in known.files or known.manager == "poetry":
        words = ["POETRY_VIRTUALENVS_IN_PROJECT=1 poetry install", *(f"--extras {name}" for name in extras)]
        words += [f"--with {name}" for name in groups]
        return " ".join(words) + (f" && poetry run pip install {tools}" if tools else "")
    if "pdm.lock" in known.files or known.manager == "pdm":
        words = ["pdm install", *(f"--group {name}" for name in (*extras, *groups))]
        return " ".join(words) + (f" && pdm run python -m ensurepip && pdm run pip install {tools}" if tools else "")
    if "Pipfile" in known.files:
        return "PIPENV_VENV_IN_PROJECT=1 pipenv install --dev" + (
            f" && pipenv run pip install {tools}" if tools else ""
        )
    return _with_pip(known, extras, groups)


def _with_pip(known: PythonSetup, extras: Sequence[str], groups: Sequence[str]) -> str:
    words = [f"-r {shlex.quote(name)}" for name in known.requirements]
    if known.installable:
        words.append(f"-e '.[{','.join(extras)}]'" if extras else "-e .")
    else:
        words += map(shlex.quote, known.requires)
    upgrade = ""
    if groups:  # the option came with pip 25.1, and many interpreters bring an older one
        upgrade = " && .venv/bin/python -m pip install --upgrade pip"
        words += [f"--group {name}" for name in groups]
    words += map(shlex.quote, known.tools)
    return f"python3 -m venv .venv{upgrade} && .venv/bin/python -m pip install {' '.join(words)}"


def node_setup(manager: str, files: Collection[str], named: str = "") -> str:
    """The command that installs a Node project's packages by its lock file, where there is one.

    `named` is the `packageManager` field; from its second version on Yarn spells the option another way."""
    if not locked(manager, files):
        return f"{manager} install"
    if manager == "npm":
        return "npm ci"
    modern = ".yarnrc.yml" in files or re.match(r"yarn@(?!1\.)", named) is not None
    return f"{manager} install {'--immutable' if manager == 'yarn' and modern else '--frozen-lockfile'}"
