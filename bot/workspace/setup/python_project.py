"""Reads the files of one Python project for what must be installed. The files are untrusted and never run."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import PurePosixPath

from bot.rules.setup.manifests import strings
from bot.rules.setup.python_dependencies import Declared, declared_by
from bot.rules.setup.python_test_installs import (
    asked_by_commands,
    asked_by_nox,
    asked_by_tox,
    asked_by_tox_toml,
    pinned_hooks,
)
from bot.rules.setup.requirement_files import Asked, asked_by_lines, is_requirement, is_requirements, merged
from bot.workspace.files.project_files import Project, section

MANIFESTS = ("pyproject.toml", "setup.py", "setup.cfg", "requirements.txt", "Pipfile", "tox.ini", "noxfile.py")
"""Files that make a directory a Python project of its own."""
FOR_TESTS = ("test", "tests", "testing", "unittest", "unittests", "pytest")
FOR_DEVELOPMENT = ("dev", "develop", "development")
FOR_TYPES = ("typing", "type", "types", "mypy", "typecheck", "type-check", "type-checking")
"""Extras, groups and files that hold what tests, developers and type checkers need, by custom."""
_PLAIN = frozenset(("base", "common", "main", "prod", "production", "install", "core", "in", "txt", ""))
_MAX_FILES = 40
_MAX_PINS = 1_000
_LOCKS = ("poetry.lock", "pdm.lock", "pylock.toml")
_WORKFLOWS = ".github/workflows"


@dataclass(frozen=True, slots=True)
class PythonProject:
    """The requirements of a Python project.

    `plain` are those of its requirements files for running, `tests`, `development` and `types` those for these uses.
    `ways` are those that its ways to run tests install (tox, nox, recipes, workflows). `pins` are a lock file's
    versions, `hooks` the versions of tools that pre-commit uses, `members` the directories of a workspace's other
    projects, with their declarations. `files` are the files that were read."""

    project: Project
    declared: Declared
    plain: Asked
    tests: Asked
    development: Asked
    types: Asked
    ways: Asked
    pins: tuple[str, ...]
    hooks: Mapping[str, str]
    members: Mapping[str, Declared]
    files: tuple[str, ...]

    @property
    def by_uv(self) -> bool:
        """Whether uv's lock file decides what is installed."""
        return self.project.has_file("uv.lock")


def read_python_project(project: Project) -> PythonProject:
    """The requirements in the files of the project."""
    files = _Files(project)
    listed = {kind: files.requirements(kind) for kind in ("plain", "tests", "development", "types")}
    own = _declared(project)
    members = dict(_members(project, own))
    of_members = (f"{place}/{name}" for place in members for name in _READ)
    return PythonProject(
        project=project,
        declared=own,
        **listed,
        ways=_ways(project),
        pins=(*_pins(project), *files.constraints()),
        hooks=pinned_hooks(project.text(".pre-commit-config.yaml") or ""),
        members=members,
        files=tuple(sorted({*files.seen, *filter(project.has_file, (*_READ, *of_members))})),
    )


_READ = (
    *("pyproject.toml", "setup.py", "setup.cfg", "Pipfile", "Pipfile.lock", "tox.ini", "tox.toml", "noxfile.py"),
    *("poetry.lock", "pdm.lock", "pylock.toml", "uv.lock", "uv.toml", ".python-version", ".pre-commit-config.yaml"),
)


def _declared(project: Project) -> Declared:
    setup_cfg = project.ini("setup.cfg") if project.has_file("setup.cfg") else {}
    found = declared_by(project.pyproject(), setup_cfg, project.text("setup.py"))
    named = section(project.pyproject().tool, "setuptools", "dynamic", "dependencies") or {}
    listed = named.get("file")
    names = [listed] if isinstance(listed, str) else strings(listed)
    texts = [project.text(name) for name in names if _is_inside(name)]
    if not texts:
        return found
    more = merged(asked_by_lines(text or "") for text in texts).requirements
    return replace(found, requires=(*found.requires, *more), computed=False)


class _Files:
    """The requirements files of a project by their use, with the files that they include."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self.seen: set[str] = set()
        self._constraints: list[str] = []
        self._names = tuple(islice(self._candidates(), _MAX_FILES))

    def requirements(self, kind: str) -> Asked:
        """The requirements in the files of the kind and in those that they include; `files` are the files of the kind.

        Constraints are in `constraints`."""
        pipfile = self.project.toml("Pipfile") if self.project.has_file("Pipfile") else {}
        key = {"plain": "packages", "development": "dev-packages"}.get(kind, "")
        listed = section(pipfile, key) or {} if key else {}
        from_pipfile = Asked(requirements=tuple(_pipfile_entry(name, value) for name, value in listed.items()))
        names = [name for name in self._names if _kind(name) == kind]
        asked = merged((from_pipfile, *(self.with_named(name) for name in names)))
        return replace(asked, files=tuple(names))

    def constraints(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(self._constraints))

    def _candidates(self) -> Iterator[str]:
        for place in ("", "requirements", "tests", "test", "ci", ".ci"):
            here = self.project.place / place
            try:
                names = sorted(entry.name for entry in os.scandir(here) if entry.is_file(follow_symlinks=False))
            except OSError:
                continue
            ends = (".txt", ".in") if place == "requirements" else (".txt",)
            stems = {name.rpartition(".")[0] for name in names if name.endswith(".txt")}
            for name in names:
                shaped = name.endswith(ends) if place == "requirements" else is_requirements(name)
                if shaped and not (name.endswith(".in") and name[:-3] in stems):
                    yield f"{place}/{name}" if place else name

    def with_named(self, name: str, depth: int = 0) -> Asked:
        if (name in self.seen and depth) or depth > 5 or not _is_inside(name):
            return Asked()
        text = self.project.text(name)
        if text is None:
            return Asked()
        self.seen.add(name)
        asked = asked_by_lines(text)
        for named in asked.constraints:
            self._constrain(_beside(name, named))
        return merged((asked, *(self.with_named(_beside(name, other), depth + 1) for other in asked.files)))

    def _constrain(self, name: str) -> None:
        text = self.project.text(name) if _is_inside(name) else None
        if text is not None:
            self.seen.add(name)
            self._constraints += asked_by_lines(text).requirements


def _kind(name: str) -> str:
    """The use of a requirements file, by the words of its name."""
    words = set(re.split(r"[-_./]", name.lower())) - {"requirements", "ci"}
    for kind, known in (("tests", FOR_TESTS), ("development", FOR_DEVELOPMENT), ("types", FOR_TYPES)):
        if words.intersection(known):
            return kind
    return "plain" if words <= _PLAIN else ""


def _pipfile_entry(name: str, wanted: object) -> str:
    version = wanted if isinstance(wanted, str) else wanted.get("version") if isinstance(wanted, Mapping) else None
    entry = f"{name}{version}" if isinstance(version, str) and version != "*" else name
    path = isinstance(wanted, Mapping) and {"git", "path", "file"} & set(wanted)
    return f"{name} @ elsewhere" if path else entry


def _ways(project: Project) -> Asked:
    tox = project.pyproject().tool.get("tox", {})
    legacy = tox.get("legacy_tox_ini")
    ini = project.ini("tox.ini") if project.has_file("tox.ini") else {}
    if isinstance(legacy, str):
        ini = project.sections(legacy, "pyproject.toml")
    parts = [asked_by_tox(ini), asked_by_tox_toml(tox)]
    parts += [asked_by_tox_toml(project.toml("tox.toml"))] if project.has_file("tox.toml") else []
    parts.append(asked_by_nox(project.text("noxfile.py") or ""))
    named = [name for name in ("Makefile", "makefile", "justfile", "Justfile", ".justfile") if project.has_file(name)]
    parts += [asked_by_commands(project.text(name) or "") for name in (*named, *_workflows(project))]
    asked = merged(parts)
    files = _Files(project)
    return merged((asked, *(files.with_named(name) for name in asked.files)))


def _workflows(project: Project) -> list[str]:
    try:
        with os.scandir(project.place / _WORKFLOWS) as entries:
            names = sorted(entry.name for entry in entries if entry.name.endswith((".yml", ".yaml")))
    except OSError:
        return []
    return [f"{_WORKFLOWS}/{name}" for name in names[:_MAX_FILES]]


def _pins(project: Project) -> tuple[str, ...]:
    """The versions of a lock file, without packages that have several: only the lock's own program can choose one."""
    found: dict[str, set[str]] = {}
    for name in _LOCKS:
        data = project.toml(name) if project.has_file(name) else {}
        packages = data.get("package", data.get("packages"))
        for package in packages if isinstance(packages, list) else ():
            if isinstance(package, Mapping) and not _is_elsewhere(package):
                found.setdefault(str(package.get("name")), set()).add(f"=={package.get('version')}")
    locked = project.json("Pipfile.lock") if project.has_file("Pipfile.lock") else {}
    for key in ("default", "develop"):
        for package, entry in (section(locked, key) or {}).items():
            version = entry.get("version") if isinstance(entry, Mapping) else None
            if isinstance(version, str):
                found.setdefault(package, set()).add(version)
    pins = (f"{package}{next(iter(versions))}" for package, versions in found.items() if len(versions) == 1)
    return tuple(islice(filter(is_requirement, pins), _MAX_PINS))


def _is_elsewhere(package: Mapping[str, object]) -> bool:
    source = package.get("source")
    kind = source.get("type") if isinstance(source, Mapping) else None
    elsewhere = {"git", "path", "url", "directory", "vcs"}
    return kind in {"file", *elsewhere} or bool(elsewhere & set(package))


def _members(project: Project, own: Declared) -> Iterator[tuple[str, Declared]]:
    """The other projects that are installed with this one: members of its workspace, and dependencies by path."""
    tree = project.place
    workspace = project.pyproject().uv.workspace or {}
    patterns = list(filter(_is_inside, strings(workspace.get("members"))))
    places = set(filter(_is_inside, own.paths))
    for pattern in patterns[:_MAX_FILES]:
        try:
            found = [path for path in islice(tree.glob(pattern), _MAX_FILES) if not path.is_symlink()]
        except (ValueError, OSError, RuntimeError):
            continue
        places |= {path.relative_to(tree).as_posix() for path in found if (path / "pyproject.toml").is_file()}
    for place in sorted(places - {".", ""}):
        yield place, _declared(project.at(project.within(place)))


def _beside(file: str, named: str) -> str:
    return os.path.normpath(str(PurePosixPath(file).parent / named)) if named else ""


def _is_inside(path: str) -> bool:
    return bool(path) and not path.startswith("/") and ".." not in PurePosixPath(path).parts
