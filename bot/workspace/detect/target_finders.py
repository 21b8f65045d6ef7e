"""Finds check commands among the targets of make and just, and the environments of tox and nox."""

from __future__ import annotations

import re
from collections.abc import Callable

from bot.model import CheckName
from bot.workspace.files.project_files import Project

Argv = tuple[str, ...]
Finder = Callable[[Project, CheckName], Argv | None]

SCRIPTS: dict[CheckName, tuple[str, ...]] = {
    "test": ("test",),
    "typecheck": ("type-check", "typecheck", "check-types"),
    "lint": ("lint",),
}
"""Names of scripts and targets, in the order in which they are tried."""


MAKEFILES = ("GNUmakefile", "makefile", "Makefile")
JUSTFILES = ("justfile", ".justfile", "Justfile")


_SHAPES = {
    "make": (MAKEFILES, "Makefile", r"(?:[^\s:=#][^\n:=#]*[ ])?NAME(?:[ ][^\n:=]*)?::?(?!=)"),
    "just": (JUSTFILES, "justfile", r"@?NAME(?:[ \t][^\n:]*)?:(?!=)"),
}
"""The files of a runner, their name for people, and the pattern of a line that begins a target or recipe."""


def _text(project: Project, runner: str) -> str:
    """The text of the first of the runner's files that exists."""
    return next((text for text in map(project.text, _SHAPES[runner][0]) if text is not None), "")


def _target(project: Project, check: CheckName, runner: str) -> Argv | None:
    _, file, shape = _SHAPES[runner]
    for name in SCRIPTS[check]:
        if re.search("^" + shape.replace("NAME", re.escape(name)), _text(project, runner), re.MULTILINE):
            return (runner, name)
    project.missing("looked_for.target", name=SCRIPTS[check][0], path=file)
    return None


def _make(project: Project, check: CheckName) -> Argv | None:
    return _target(project, check, "make")


def _just(project: Project, check: CheckName) -> Argv | None:
    return _target(project, check, "just")


def _tox(project: Project, check: CheckName) -> Argv | None:
    sections = project.ini("tox.ini") if project.has("tox.ini") else {}
    for name in (*SCRIPTS[check], *_ALSO[check]):
        if f"testenv:{name}" in sections:
            return ("tox", "run", "-e", name)
    if check == "test" and sections.get("testenv", {}).get("commands"):
        return ("tox", "run")
    project.missing("looked_for.tox", name=SCRIPTS[check][0])
    return None


_SESSION = r"^@(?:nox\.)?session\b(?:\((?:[^()]|\([^()]*\))*\))?[ \t]*\n(?:@[^\n]*\n)*def NAME\("


def _nox(project: Project, check: CheckName) -> Argv | None:
    text = project.text("noxfile.py") or ""
    for name in (*SCRIPTS[check], *_ALSO[check]):
        named = re.search(rf"^@(?:nox\.)?session\([^)]*\bname=[\"']{re.escape(name)}[\"']", text, re.MULTILINE)
        if named or re.search(_SESSION.replace("NAME", re.escape(name)), text, re.MULTILINE):
            return ("nox", "-s", name)
    project.missing("looked_for.nox", name=SCRIPTS[check][0])
    return None


_ALSO: dict[CheckName, tuple[str, ...]] = {
    "test": ("tests", "py", "unit"),
    "typecheck": ("type", "types", "typing", "mypy"),
    "lint": ("linters", "ruff", "flake8"),
}
"""Other common names in tox and nox files."""

TARGETS: tuple[Finder, ...] = (_make, _just, _tox, _nox)


def has_offline_target(project: Project, check: CheckName) -> bool:
    """Whether a target of make or just needs nothing from the network, which checks do not have."""
    for runner in _SHAPES:
        argv = _target(project, check, runner)
        if argv is None:
            continue
        shape = rf"^@?{re.escape(argv[-1])}\b(?P<needs>[^\n]*)\n(?P<recipe>(?:[ \t]+[^\n]*\n?|[ \t]*\n)*)"
        head = re.search(shape, _text(project, runner), re.MULTILINE)
        if head and (_INSTALLS.search(head["recipe"]) or _PREPARES.search(head["needs"].partition(":")[2])):
            project.missing("looked_for.offline_target", name=argv[-1], runner=argv[0])
        else:
            return True
    return False


_INSTALLS = re.compile(
    r"\b(?:tox|nox|uvx?|hatch|poetry|pdm|pipenv|rye|pixi|docker(?:-compose)?|podman|conda|mamba|virtualenv|curl|wget"
    r"|pip3? install|-m (?:venv|pip|tox|nox|build)|npm|apt(?:-get)?|brew|git clone)\b"
)
"""Programs that create an environment of their own, or download something."""
_PREPARES = re.compile(
    r"\b(?:install\w*|deps?|dependencies|requirements|v?env|virtualenv|setup|bootstrap|develop|dev|sync|init)\b|VENV"
)
"""Names of prerequisite targets that do so."""
