"""How a Python project is set up: its dependencies as wheels into `.venv`, then the project itself, editable.
Reads files of the tree and runs nothing; the commands are made in `rules.setup.python_install`."""

from __future__ import annotations

import re
import shlex
import sys
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path

from bot.model import CheckName, ShellCommand
from bot.model.setups import SetupStep, WantedProgram
from bot.rules.setup.declared_dependencies import normal
from bot.rules.setup.manifests import Pyproject
from bot.rules.setup.python_install import Wheels, editable, needed_python, uv_wheels, version_settings, wheels
from bot.rules.setup.requirement_files import name_of
from bot.rules.setup.setup_command import PythonSetup, python_setup
from bot.workspace.detect.python_finders import ENVIRONMENTS, python_tools
from bot.workspace.files.project_files import Project, quoted_directory
from bot.workspace.setup.python_needs import declaring, is_flat_mixture, needs_environment
from bot.workspace.setup.python_packages import Choice, choose
from bot.workspace.setup.python_project import MANIFESTS, PythonProject, look

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
    return tuple(step for home, tools in homes.items() for step in _steps(look(Project(tree, home)), tools))


def python_remedy(project: Project, tools: Collection[str]) -> str:
    """The command by which a person sets the project up, with the tools that its checks need."""
    return _remedy(look(project), tools)


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
        # tests may find the project's code where it stands, so whether it counts is for them to say
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
    pinned = " (versions of the lock file)" if known.pins else ""
    return f"pip install --only-binary :all: {words}{pinned}"


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
    """What a build that asks git for the version is told where there is no git directory, as in a worktree."""
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
