"""How a Python project is set up: its dependencies as wheels into `.venv`, then the project itself, editable.
Reads files of the tree and runs nothing; the commands are made in `rules.setup.python_install`."""

from __future__ import annotations

import re
import shlex
import sys
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from bot.model import CheckName, ShellCommand
from bot.model.setups import SetupStep, WantedProgram
from bot.reports.locale.catalog import t
from bot.rules.setup.manifests import Pyproject
from bot.rules.setup.python_commands import Wheels, editable, needed_python, uv_wheels, version_settings, wheels
from bot.rules.setup.python_test_installs import needed_plugins
from bot.rules.setup.requirement_files import Asked, is_requirement, name_of, normal
from bot.rules.setup.setup_remedy import PythonSetup, python_setup
from bot.workspace.detect.python_finders import ENVIRONMENTS, pytest_settings, python_tools
from bot.workspace.files.project_files import Project, quoted_directory
from bot.workspace.setup.python_needs import declaring, is_flat_mixture, needs_environment
from bot.workspace.setup.python_project import (
    FOR_DEVELOPMENT,
    FOR_TESTS,
    FOR_TYPES,
    MANIFESTS,
    PythonProject,
    read_python_project,
)

_UNKNOWN_VERSION = "1.0.0"
_CHANGES = ("CHANGES", "CHANGELOG", "HISTORY", "NEWS", "RELEASES", "docs/changelog", "docs/changes")


def python_steps(tree: Path, commands: Mapping[CheckName, ShellCommand]) -> tuple[SetupStep, ...]:
    """The steps for the Python projects of `tree` (absolute) that its checks' `commands` need; none for one that has
    its environment already, or needs none."""
    homes: dict[str, set[str]] = {}
    for check, command in commands.items():
        if command.needs == "node" or (check == "lint" and not command.needs):
            continue
        project = Project(tree, command.directory)
        home = _home(project)
        if home is not None:
            homes.setdefault(home, set()).update(python_tools(project))
    return tuple(
        step for home, tools in homes.items() for step in _steps(read_python_project(Project(tree, home)), tools)
    )


def python_remedy(project: Project, tools: Collection[str]) -> str:
    """The command by which a person sets the project up, with the tools that its checks need."""
    return _remedy(read_python_project(project), tools)


def _home(project: Project) -> str | None:
    """The directory whose files set the project up: the workspace's, where a lock file of uv lies above; None where
    there is an environment, or no project of Python."""
    here = project.upwards()
    if any(each.own_tool(f"{name}/bin/python") is not None for each in here for name in ENVIRONMENTS):
        return None
    locked = [each.directory for each in here if each.has_file("uv.lock")]
    return next(iter([*locked, *(each.directory for each in here if each.has(*MANIFESTS))]), None)


def _steps(known: PythonProject, tools: Collection[str]) -> Iterator[SetupStep]:
    if not needs_environment(known):
        return
    directory = known.project.directory
    within = known.project.within("")
    go = f"cd {quoted_directory(directory)} || exit 1\n" if directory else ""
    programs = (WantedProgram(name="uv"),) if known.by_uv else ()
    places = _places(known)
    choice = choose(known, tools, build=bool(places))
    because = within + ("uv.lock" if known.by_uv else declaring(known.project) or next(iter(known.files), ""))
    yield SetupStep(
        run=go + _install(known, choice, tools),
        because=because,
        network=True,
        shared=True,
        reads=tuple(f"{within}{name}" for name in known.files),
        products=(f"{within}.venv",),
        programs=programs,
        title=_title(known, choice),
    )
    if places:
        run = go + editable(_version(known), places, by_uv=known.by_uv)
        # tests may find the project's code where it stands, so whether it counts is for them to decide
        pip = "uv pip" if known.by_uv else "pip"
        named = " ".join(f"-e {shlex.quote(place)}" for place in places)
        title = f"{pip} install --no-deps --no-build-isolation {named}"
        yield SetupStep(run=run, because=because, programs=programs, optional=True, title=title)


def _title(known: PythonProject, choice: Choice) -> str:
    """The main command of `_install`, which falls back on less where not all of it can be had."""
    words = " ".join(_quoted(word) for word in dict.fromkeys((*choice.must, *choice.more)))
    if known.by_uv:
        options = " ".join(("uv sync --frozen --no-install-workspace --no-build", *_uv_options(known, choice)))
        return f"{options} && uv pip install {words}" if words else options
    command = f"pip install --only-binary :all: {words}"
    return t("en", "setup.lock_versions", command=command) if known.pins else command


def _quoted(word: str) -> str:
    return f'"{word}"' if "'" in word and not set(word) & set('"$`\\') else shlex.quote(word)


def _install(known: PythonProject, choice: Choice, tools: Collection[str]) -> str:
    asked = known.declared.python
    python = needed_python(asked, sys.version_info.minor)
    what = Wheels(
        must=choice.must,
        more=choice.more,
        pins=known.pins,
        left_out=choice.left_out,
        python=python or ("python3",),
        asked=asked if python else "",
    )
    remedy = _remedy(known, tools)
    return uv_wheels(what, _uv_options(known, choice), remedy) if known.by_uv else wheels(what, remedy)


def _uv_options(known: PythonProject, choice: Choice) -> list[str]:
    """What `uv export` is asked for: all that belongs to the tests, in place of what developers get by default."""
    pyproject = known.project.pyproject()
    declared = {normal(name): name for name in pyproject.dependency_groups}
    groups = [declared[name] for name in choice.groups if name in declared]
    options = ["--all-packages"] if pyproject.uv.workspace is not None else []
    options += ["--no-default-groups"] if groups else []
    options += [f"--group {shlex.quote(name)}" for name in groups]
    return options + [f"--extra {shlex.quote(name)}" for name in choice.extras]


def _places(known: PythonProject) -> tuple[str, ...]:
    """The directories of the projects that are installed editable, the project's own last; "" has none."""
    own = known.declared
    members = tuple(place for place, each in known.members.items() if each.installable)
    if not own.installable or is_flat_mixture(known) or (known.by_uv and not own.has_build):
        return members
    return (*members, ".")


def _version(known: PythonProject) -> Mapping[str, str]:
    """What a build that asks git for the version is given where there is no git directory, as in a worktree."""
    project, own = known.project, known.declared
    if (project.tree / ".git").is_dir():
        return {}
    each = (own, *known.members.values())
    build = {name_of(entry) for one in each for entry in one.build}
    return version_settings(_guessed_version(project), build, own.backend)


def _guessed_version(project: Project) -> str:
    """The newest version that the list of changes names: what depends on the project may ask for a lowest one."""
    for name in _CHANGES:
        for end in (".md", ".rst", ".txt", ""):
            text = project.text(name + end) if project.has_file(name + end) else None
            found = re.search(r"(?<![\w.])v?(\d+\.\d+(?:\.\d+)?)(?![\w.]*\d)", (text or "")[:20_000])
            if found:
                return found[1]
    return _UNKNOWN_VERSION


def _remedy(known: PythonProject, tools: Collection[str]) -> str:
    project, own = known.project, known.declared
    pyproject = project.pyproject()
    choice = choose(known, tools, build=False)
    spelt = {normal(name): name for name in pyproject.project.optional_dependencies}
    lists = known.tests if known.tests.files else known.development
    groups = _group_names(choice, pyproject)
    installable = own.installable and not is_flat_mixture(known)
    of_extras = [entry for name in choice.extras for entry in own.extras[name]]
    of_groups = [entry for name in choice.groups if name in groups for entry in own.groups[name]]
    listed = [*known.plain.requirements, *lists.requirements, *own.requires, *of_extras, *of_groups]
    named = {name_of(entry) for entry in listed}
    wanted = [entry for entry in (*choice.must, *choice.more) if name_of(entry) in tools]
    return python_setup(
        PythonSetup(
            files=frozenset(known.files),
            manager=next((name for name in ("poetry", "pdm", "uv") if name in pyproject.tool), ""),
            requirements=sorted({*known.plain.files, *lists.files}),
            requires=() if installable else (*own.requires, *of_extras),
            extras=[spelt.get(name, name) for name in choice.extras],
            groups=list(groups.values()),
            tools=[entry for entry in wanted if name_of(entry) not in named],
            installable=installable,
        )
    )


def _group_names(choice: Choice, pyproject: Pyproject) -> Mapping[str, str]:
    """The chosen groups that the project's manager knows, as it spells them."""
    tables = (pyproject.dependency_groups, pyproject.poetry.group, pyproject.pdm.dev_dependencies)
    known = {normal(name): name for table in tables for name in table}
    return {name: known[name] for name in choice.groups if name in known}


_BESIDE = frozenset(("docs", "doc", "documentation", "lint", "all", "dev", "release", "build", "full"))
"""Extras that `--all-extras` of a project's own command brings, and its tests do without."""


@dataclass(frozen=True, slots=True)
class Choice:
    """`must` and `more` are requirements, without which nothing runs and with which more tests do; `extras` and
    `groups` the names of those that they come from. `left_out` is what no package index has."""

    must: tuple[str, ...]
    more: tuple[str, ...]
    extras: tuple[str, ...]
    groups: tuple[str, ...]
    left_out: tuple[str, ...]


def choose(known: PythonProject, tools: Collection[str], *, build: bool) -> Choice:
    """What is installed for the checks' `tools`. `build`: the project itself is installed too."""
    own = known.declared
    extras, groups, listed = _named(known, types=bool({"mypy", "ty", "pyright"} & set(tools)))
    members = tuple(known.members.values())
    must = [*own.requires, *(entry for each in members for entry in each.requires)]
    must += known.plain.requirements if not own.requires else ()
    more = [entry for name in extras for entry in own.extras[name]]
    more += [entry for name in groups for entry in own.groups[name]]
    more += [*listed.requirements, *(known.plain.requirements if own.requires else ())]
    plugins = needed_plugins(pytest_settings(known.project) or {})
    named = [*must, *more]
    if known.by_uv:  # its lock file has these
        must, more = [], []
    must += [entry for entry in named if name_of(entry) == "pytest" and not known.by_uv]
    must += _not_named((tool for tool in tools if tool == "pytest"), named, known)
    more += _not_named((*plugins, *_checkers(known, tools)), named, known)
    must += [*own.build, *(entry for each in members for entry in each.build)] if build else []
    local = {own.name, *own.local, *(each.name for each in members)} - {""}
    left_out = [entry for entry in (*must, *more) if not is_requirement(entry)]
    left_out += [*listed.left_out, *known.plain.left_out]
    return Choice(
        must=_plain(must, local),
        more=tuple(entry for entry in _plain(more, local) if entry not in must),
        extras=extras,
        groups=groups,
        left_out=tuple(dict.fromkeys(re.sub(r"\s+", " ", entry) for entry in left_out)),
    )


def _plain(entries: Iterable[str], local: Collection[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(entry for entry in entries if is_requirement(entry) and name_of(entry) not in local))


def _named(known: PythonProject, *, types: bool) -> tuple[tuple[str, ...], tuple[str, ...], Asked]:
    """The extras and groups that tests need, and what files ask for beside: for tests, or else for development."""
    own, ways = known.declared, known.ways
    asked = [normal(name) for name in (*ways.extras, *known.plain.extras, *known.tests.extras)]
    every = [name for name in own.extras if name not in _BESIDE] if "*" in asked else []
    grouped = [normal(name) for name in ways.groups]
    kinds = FOR_TESTS if _has(known, FOR_TESTS, known.tests) or asked or grouped else FOR_DEVELOPMENT
    listed = known.tests if kinds == FOR_TESTS else known.development
    names = [*kinds, *(FOR_TYPES if types else ())]
    extras = [name for name in (*names, *asked, *every) if name in own.extras]
    groups = [name for name in (*names, *grouped) if name in own.groups]
    more = (*listed.requirements, *ways.requirements, *(known.types.requirements if types else ()))
    return (
        tuple(dict.fromkeys(extras)),
        tuple(dict.fromkeys(groups)),
        Asked(requirements=more, left_out=listed.left_out),
    )


def _has(known: PythonProject, names: Iterable[str], listed: Asked) -> bool:
    own = {*known.declared.extras, *known.declared.groups}
    return bool(own.intersection(names) or listed.requirements or known.ways.requirements)


def _checkers(known: PythonProject, tools: Collection[str]) -> list[str]:
    """mypy and ty where they are used; ruff where the project names which, since Mendbot has one of its own."""
    return [tool for tool in ("mypy", "ty") if tool in tools] + (["ruff"] if _spec("ruff", known) != "ruff" else [])


def _not_named(wanted: Iterable[str], entries: Iterable[str], known: PythonProject) -> list[str]:
    """Those that no entry names yet, as the project spells them elsewhere. One with a marker may be for others."""
    names = {name_of(entry) for entry in entries if ";" not in entry}
    return [_spec(one, known) for one in wanted if normal(one) not in names]


def _spec(tool: str, known: PythonProject) -> str:
    """The requirement for a tool as any of the project's lists has it, else the version that pre-commit uses."""
    tables: tuple[Mapping[str, tuple[str, ...]], ...] = (known.declared.groups, known.declared.extras)
    listed = [entry for table in tables for entries in table.values() for entry in entries]
    listed += [*known.development.requirements, *known.types.requirements, *known.plain.requirements]
    found = [entry for entry in listed if name_of(entry) == normal(tool) and is_requirement(entry) and ";" not in entry]
    pinned = f"{tool}=={known.hooks[tool]}" if tool in known.hooks else tool
    return found[0] if found else pinned
