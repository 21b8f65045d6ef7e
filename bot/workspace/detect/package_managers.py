"""Finds the package manager of a Node project with its version, and the programs that a detected command calls.

Reads untrusted files (`Project`) and runs nothing."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence

from bot.model.setups import WantedProgram
from bot.rules.setup.needed_programs import KNOWN, NODE_MANAGERS, called_in, newest, program, wanted_manager
from bot.rules.setup.node_commands import LOCKS
from bot.workspace.detect.target_finders import JUSTFILES, MAKEFILES
from bot.workspace.files.nofollow import read_or_none
from bot.workspace.files.project_files import Project

_LOCK_HEAD = 2_000
"""Bytes at the beginning of a lock file, which contain its version."""


def package_manager(project: Project) -> str:
    """The manager of the nearest `packageManager` field or lock file upwards, else npm.

    The field decides (Corepack's documentation). A lock file counts by its existence: it may be large or binary."""
    return _manager_at(project)[0]


def node_program(project: Project, manager: str = "") -> WantedProgram:
    """The package manager, by default the project's, in the version that is pinned or that reads its lock file."""
    named, home = _manager_at(project)
    manager = manager or named
    lock = next(filter(home.has_file, LOCKS[manager]), "")
    # if it cannot be read, the installation reports what is wrong with it
    content = read_or_none(home.tree, home.within(lock)) if manager in ("pnpm", "yarn") and lock else None
    head = (content or b"")[:_LOCK_HEAD].decode("utf-8", "replace")
    release = str(_yarn_settings(home).get("yarnPath", "")) if manager == "yarn" else ""
    wanted = wanted_manager(manager, home.package(), head, release)
    if manager == "yarn" and not wanted.version:  # each line has its own options, so which one comes must be certain
        newer = home.has_file(_YARN_SETTINGS) and not head
        return wanted.model_copy(update={"version": newest("yarn", "4" if newer else "1")})
    return wanted


def programs_of(project: Project, argv: Sequence[str]) -> tuple[WantedProgram, ...]:
    """The programs that a command detected in the project calls and that a machine may lack."""
    name = program(argv)
    if name in NODE_MANAGERS:
        return (node_program(project),) if name in KNOWN else ()
    wanted = [name] if name in KNOWN else []
    for files, runner in ((MAKEFILES, "make"), (JUSTFILES, "just")):
        if name == runner:
            text = next((text for text in map(project.text, files) if text is not None), "")
            wanted += called_in(_recipe(text, argv[-1]))
    return tuple(_named(project, each) for each in dict.fromkeys(wanted))


def programs_called(project: Project, run: str | tuple[str, ...]) -> tuple[WantedProgram, ...]:
    """The same for a configured command, as text for a shell or as words."""
    if isinstance(run, tuple):
        return programs_of(project, run) if run else ()
    return tuple(_named(project, each) for each in called_in(run))


def _named(project: Project, name: str) -> WantedProgram:
    found = node_program(project) if name in NODE_MANAGERS else None
    return found if found is not None and found.name == name else WantedProgram(name=name)


def _recipe(text: str, name: str) -> str:
    """The indented lines below the head of a target or recipe."""
    match = re.search(rf"^@?{re.escape(name)}\b[^\n]*:[^\n]*\n((?:[ \t][^\n]*\n|\n)*)", f"{text}\n", re.MULTILINE)
    return match[1] if match else ""


def _manager_at(project: Project) -> tuple[str, Project]:
    for here in project.upwards():
        named = next((each for each in here.package().managers if each in NODE_MANAGERS), "")
        if named:
            return named, here
        locked = next((each for each in ("pnpm", "yarn", "bun", "npm") if any(map(here.has_file, LOCKS[each]))), None)
        if locked is not None:
            return locked, here
    return "npm", project


def yarn_prefix(project: Project) -> str:
    """Variables before a command of Yarn's second line that has the network. git is off, as Yarn runs the scripts of a
    package that comes from there; settings that may name plugins are passed over but for the linker, as those are code:
    all that hold the word, or that YAML's escapes, a link or their size keep from being read."""
    linker = _yarn_settings(project).get("nodeLinker", "")
    settings = map(_settings_text, project.upwards())
    plugins = any("plugins" in text or "\\" in text for text in settings)
    chosen = f"YARN_RC_FILENAME=.none YARN_NODE_LINKER={linker if linker in _LINKERS else 'pnp'} " if plugins else ""
    return f"GIT_ALLOW_PROTOCOL=none YARN_ENABLE_GLOBAL_CACHE={'true' if linker in _LINKERS else 'false'} {chosen}"


_LINKERS = ("node-modules", "pnpm")


def _settings_text(project: Project) -> str:
    """The text of Yarn's settings in the directory, `plugins` where they are there and cannot be read."""
    text = project.text(_YARN_SETTINGS)
    is_there = os.path.lexists(project.place / _YARN_SETTINGS)
    return text if text is not None else "plugins" if is_there else ""


_YARN_SETTINGS = ".yarnrc.yml"


def _yarn_settings(project: Project) -> dict[str, str]:
    """The settings in `.yarnrc.yml` that are one word on one line; its other settings are Yarn's own matter."""
    text = project.text(_YARN_SETTINGS) or ""
    return dict(re.findall(r"^(\w+):[ \t]*[\"']?([^\s\"'#]+)[\"']?[ \t]*$", text, re.MULTILINE))
