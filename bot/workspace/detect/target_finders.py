"""Checks by the targets of make and just, and the environments of tox and nox: how a project itself says they run."""

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


_MAKEFILES = ("GNUmakefile", "makefile", "Makefile")
_JUSTFILES = ("justfile", ".justfile", "Justfile")


def _make(project: Project, check: CheckName) -> Argv | None:
    return _target(
        project,
        check,
        _MAKEFILES,
        ("make",),
        r"(?:[^\s:=#][^\n:=#]*[ ])?NAME(?:[ ][^\n:=]*)?::?(?!=)",
    )


def _just(project: Project, check: CheckName) -> Argv | None:
    return _target(project, check, _JUSTFILES, ("just",), r"@?NAME(?:[ \t][^\n:]*)?:(?!=)")


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


_SESSION = r"^@(?:nox\.)?session\b(?:\((?:[^()]|\([^()]*\))*\))?[ \t]*\n(?:@[^\n]*\n)*def NAME\("


def _nox(project: Project, check: CheckName) -> Argv | None:
    text = project.text("noxfile.py") or ""
    for name in (*SCRIPTS[check], *_ALSO[check]):
        named = re.search(rf"^@(?:nox\.)?session\([^)]*\bname=[\"']{re.escape(name)}[\"']", text, re.MULTILINE)
        if named or re.search(_SESSION.replace("NAME", re.escape(name)), text, re.MULTILINE):
            return ("nox", "-s", name)
    project.missing(f"a `{SCRIPTS[check][0]}` session in noxfile.py")
    return None


_ALSO: dict[CheckName, tuple[str, ...]] = {
    "test": ("tests", "py", "unit"),
    "typecheck": ("type", "types", "typing", "mypy"),
    "lint": ("linters", "ruff", "flake8"),
}
"""What tox and nox files commonly call them."""

TARGETS: tuple[Finder, ...] = (_make, _just, _tox, _nox)


def _offline(finder: Finder, files: Argv) -> Finder:
    """The finder for targets that need nothing from the network, which checks do not have."""

    def found(project: Project, check: CheckName) -> Argv | None:
        argv = finder(project, check)
        text = next((text for text in map(project.text, files) if text is not None), None) or ""
        if argv is None:
            return None
        shape = rf"^@?{re.escape(argv[-1])}\b(?P<needs>[^\n]*)\n(?P<recipe>(?:[ \t]+[^\n]*\n?|[ \t]*\n)*)"
        head = re.search(shape, text, re.MULTILINE)
        if head and (_INSTALLS.search(head["recipe"]) or _PREPARES.search(head["needs"].partition(":")[2])):
            project.missing(f"a `{argv[-1]}` target of {argv[0]} that needs no network")
            return None
        return argv

    return found


_INSTALLS = re.compile(
    r"\b(?:tox|nox|uvx?|hatch|poetry|pdm|pipenv|rye|pixi|docker(?:-compose)?|podman|conda|mamba|virtualenv|curl|wget"
    r"|pip3? install|-m (?:venv|pip|tox|nox|build)|npm|apt(?:-get)?|brew|git clone)\b"
)
"""Programs that make an environment of their own, or fetch something."""
_PREPARES = re.compile(
    r"\b(?:install\w*|deps?|dependencies|requirements|v?env|virtualenv|setup|bootstrap|develop|dev|sync|init)\b|VENV"
)
"""Names of targets that do so before."""

OFFLINE_TARGETS: tuple[Finder, ...] = (_offline(_make, _MAKEFILES), _offline(_just, _JUSTFILES))
