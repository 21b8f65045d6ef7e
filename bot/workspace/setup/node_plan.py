"""How a Node project is set up: packages by its lock file, with the network and without scripts, then the scripts that
matter, without the network. Reads files of the tree and runs nothing (T31)."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

import yaml

from bot.model import CheckName, ShellCommand
from bot.model.setups import NeededSetup, SetupStep
from bot.rules.setup.manifests import PackageJson
from bot.rules.setup.needed_programs import KNOWN, is_berry, program
from bot.rules.setup.node_commands import (
    LOCKS,
    NodeProject,
    install_command,
    locked,
    own_scripts,
    rebuild_command,
)
from bot.rules.setup.setup_remedy import node_setup
from bot.workspace.detect.package_managers import node_program, package_manager, yarn_prefix
from bot.workspace.files.nofollow import read_or_none
from bot.workspace.files.project_files import Project
from bot.workspace.files.tree_digest import Walk
from bot.workspace.setup.node_build import directories_to_build

PRODUCTS = ("node_modules", ".pnp.cjs", ".pnp.js")
_RUNNERS = ("make", "just", "tox", "nox")
_MAX_NAMES = 100_000
_READ = frozenset(
    (
        *("package.json", *(name for names in LOCKS.values() for name in names), "pnpm-workspace.yaml"),
        *(".npmrc", ".yarnrc", ".yarnrc.yml", ".pnpmfile.cjs", ".pnpmfile.mjs", "pnpmfile.js", "bunfig.toml"),
        *(".node-version", ".nvmrc"),
    )
)
_READ_ENDS = (".patch", ".tgz", ".tar.gz")
"""The files that a package manager reads: manifests, locks, settings, patches and packages, in any directory."""
_GENERATED = re.compile(r"[@\"']exec:")


def node_steps(tree: Path, commands: Mapping[CheckName, ShellCommand], untested: str | None) -> tuple[SetupStep, ...]:
    """The setup steps for the Node projects of `tree` (absolute) that its checks' `commands` need.

    A project whose packages are installed, or that declares none, has no steps. `untested` is the project in which no
    test command was found."""
    places = [
        (check, command.directory)
        for check, command in commands.items()
        if command.needs == "node" or program(command.argv) in _RUNNERS
    ]
    places += [("test", untested)] if untested is not None else []
    found = {place: _home(Project(tree, place)) for place in dict.fromkeys(place for _, place in places)}
    homes = {home.project.directory: home for home in found.values() if home is not None}
    tested: dict[str, list[str]] = {place: [] for place in homes}
    for check, place in places:
        if check == "test" and (home := found[place]) is not None:
            tested[home.project.directory].append(place)
    return tuple(step for place, home in homes.items() for step in _steps(home, tested[place]))


def node_remedy(project: Project) -> NeededSetup | None:
    """The setup that the project needs before its checks can run, with the command that a person would use."""
    home = _home(project)
    if home is None:
        return None
    here, manager = home.project, _installer(home.project)
    files = [*_locks_of(here), *([".yarnrc.yml"] if here.has_file(".yarnrc.yml") else [])]
    command = node_setup(manager, files, here.package().package_manager)
    declaring = next(each for each in (project, *home.all) if each.package().installed)
    return NeededSetup(because="dependencies", what=declaring.within("package.json"), command=here.shell(command))


@dataclass(frozen=True, slots=True)
class _Home:
    """Where packages are installed: the project, the directories of its workspace's packages, and the files that its
    package manager may read, relative to the tree; None where there are too many files to know."""

    project: Project
    members: tuple[Project, ...]
    reads: tuple[str, ...] | None

    @property
    def all(self) -> tuple[Project, ...]:
        return (self.project, *self.members)

    @classmethod
    def at(cls, project: Project) -> _Home:
        walk = Walk(project.tree, limit=_MAX_NAMES)
        names = [name for name in walk if _is_read(name)]
        matches = _matcher(_patterns(project))
        below = project.within("")
        places = (PurePosixPath(name).parent.as_posix() for name in names if name.endswith("/package.json"))
        inside = (place for place in places if place.startswith(below) and matches(place.removeprefix(below)))
        members = tuple(Project(project.tree, place) for place in inside if place != project.directory)
        reads = None if walk.unread else tuple(name for name in names if name.startswith(below))
        return cls(project, members, reads)

    def declares(self) -> bool:
        return any(each.package().installed for each in self.all)

    def products(self, *, berry: bool) -> Iterator[str]:
        yield from (each.within("node_modules") for each in self.all)
        if berry:
            # with its cache in the tree: what Plug'n'Play loads must stay where it was when it was installed
            own = (".pnp.cjs", ".pnp.loader.mjs", ".yarn/cache", ".yarn/unplugged", ".yarn/install-state.gz")
            yield from (self.project.within(name) for name in own if not os.path.lexists(self.project.place / name))


def _home(project: Project) -> _Home | None:
    """Where the project's packages are installed: where its lock file lies, or its workspace begins; None where nothing
    is declared, or something is installed."""
    places = project.upwards()
    if any(os.path.lexists(here.place / name) for here in places for name in PRODUCTS):
        return None
    manifests = [here for here in places if here.has("package.json")]
    if not manifests:
        return None
    with_lock = (here for here in manifests if _locks_of(here))
    above = next(with_lock, None) or next((here for here in manifests if _patterns(here)), manifests[0])
    home, nearest = _Home.at(above), manifests[0]
    if nearest.directory not in {each.directory for each in home.all} and nearest.package().installed:
        home = _Home.at(nearest)  # it stands in a workspace without being part of it
    return home if home.declares() else None


def _steps(home: _Home, tested: Sequence[str]) -> Iterator[SetupStep]:
    here = home.project
    manager = _installer(here)
    wanted = node_program(here, manager)
    lock = locked(manager, _locks_of(here))
    # where it cannot be read, the installation reports what is wrong with it
    text = (read_or_none(here.tree, here.within(lock)) or b"").decode("utf-8", "replace") if lock else ""
    berry = is_berry(wanted)
    project = NodeProject(
        manager, lock, here.package(), berry, here.text("pnpm-workspace.yaml") or "", yarn_prefix(here)
    )
    programs = (wanted,) if manager in KNOWN else ()
    because = here.within(lock or "package.json")
    yield SetupStep(
        run=_at(here, install_command(project)),
        because=because,
        network=not (berry and _is_generated(home, text)),
        shared=home.reads is not None,
        reads=home.reads or (),
        products=tuple(home.products(berry=berry)),
        programs=programs,
    )
    rebuild = rebuild_command(project, text)
    if rebuild:
        called = programs if rebuild.startswith("pnpm") else ()
        yield SetupStep(run=_at(here, rebuild), because=because, programs=called, optional=True)
    yield from _own_steps(home, project, tested)


def _is_generated(home: _Home, lock: str) -> bool:
    """Whether Yarn would run a file of the project to create a package (protocol `exec:`)."""
    texts = (lock, *(each.text("package.json") or "" for each in home.all))
    return any(_GENERATED.search(text) for text in texts)


def _own_steps(home: _Home, project: NodeProject, tested: Sequence[str]) -> Iterator[SetupStep]:
    here = home.project
    scripts = own_scripts(project)
    for script in scripts:
        yield _script(here, script)
    for place in directories_to_build(here, home.members, tested, scripts):
        yield _script(Project(here.tree, place), "build", builds=True)


def _script(project: Project, name: str, *, builds: bool = False) -> SetupStep:
    """The step that runs a script of the project's `package.json`, which may fail."""
    runner = package_manager(project)
    return SetupStep(
        run=_at(project, f"{runner} run {name}"),
        because=project.within("package.json"),
        programs=(node_program(project, runner),) if runner in KNOWN else (),
        optional=True,
        builds=builds,
    )


def _installer(project: Project) -> str:
    """The manager that installs: the project's, unless only another one has a lock file."""
    manager = package_manager(project)
    names = _locks_of(project)
    if names and not locked(manager, names):
        return next(other for other in LOCKS if locked(other, names))
    return manager


def _locks_of(project: Project) -> list[str]:
    return [name for names in LOCKS.values() for name in names if project.has_file(name)]


def _patterns(project: Project) -> tuple[str, ...]:
    text = project.text("pnpm-workspace.yaml")
    if text is None:
        return project.package().workspaces
    try:
        settings: object = yaml.safe_load(text)
    except (yaml.YAMLError, RecursionError):  # pnpm will report what is wrong with it
        return ()
    return PackageJson.model_validate({"workspaces": settings}).workspaces


def _matcher(patterns: Sequence[str]) -> Callable[[str], bool]:
    """A test whether a directory belongs to a workspace, by its patterns; `!` excludes directories."""
    wanted = [_glob(pattern) for pattern in patterns if not pattern.startswith("!")]
    unwanted = [_glob(pattern[1:]) for pattern in patterns if pattern.startswith("!")]

    def matches(place: str) -> bool:
        return any(each.fullmatch(place) for each in wanted) and not any(each.fullmatch(place) for each in unwanted)

    return matches


def _glob(pattern: str) -> re.Pattern[str]:
    plain = pattern.removeprefix("./").strip("/")
    parts = re.split(r"(\*\*/|/\*\*|\*\*|\*|\?|\{[^{}]*\})", plain)
    known = {"**/": "(?:.+/)?", "/**": "(?:/.+)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}
    return re.compile("".join(known.get(part) or _alternatives(part) for part in parts))


def _alternatives(part: str) -> str:
    if part.startswith("{") and part.endswith("}"):
        return f"(?:{'|'.join(re.escape(one) for one in part[1:-1].split(','))})"
    return re.escape(part)


def _is_read(name: str) -> bool:
    base = name.rpartition("/")[2]
    return base in _READ or base.endswith(_READ_ENDS) or name.startswith(".yarn/") or "/.yarn/" in name


def _at(project: Project, command: str) -> str:
    return project.shell(f"{{ {command}; }}") if project.directory else command
