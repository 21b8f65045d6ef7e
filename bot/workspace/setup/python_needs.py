"""Finds out whether a Python project needs an environment of its own before its checks can run. It runs nothing."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import islice

from bot.rules.setup.python_commands import version_settings
from bot.rules.setup.requirement_files import (
    ini_requires,
    is_requirements,
    name_of,
    normal,
    pyproject_requires,
    requirements,
)
from bot.workspace.files.project_files import Project
from bot.workspace.sandbox.check_tools import LOCK, TOOLS
from bot.workspace.setup.python_project import PythonProject

_MODULES = {
    "mypy": ("mypy", "mypyc"),
    "pytest": ("pytest", "_pytest", "py"),
    "mypy-extensions": ("mypy_extensions",),
    "typing-extensions": ("typing_extensions",),
    "ast-serialize": ("ast_serialize",),
}
"""The modules of the tools' packages, if they differ from the package's name."""
_ASKS_METADATA = re.compile(r"\b(?:importlib\.metadata|importlib_metadata|pkg_resources|_version|__version__ import)\b")
_MAX_PACKAGES = 20
_NO_PACKAGE = re.compile(
    r"(?:tests?|docs?|documentation|manpages|news|newsfragments|changelogs?|examples?|scripts|tools|util|utils|python"
    r"|build|benchmarks?|exercise|exercises|htmlcov|ci|bin|debian|tasks|fabfile|site_scons|typings|stubs|conda|recipe"
    r"|node_modules|dist|\..*|_.*|.*\.egg-info|test_.*|.*-.*)"
)
"""Directories that setuptools takes for no packages of a flat layout (its documentation, Automatic discovery)."""


def needs_environment(known: PythonProject) -> bool:
    """Whether the checks need what only an installation brings: dependencies, a version made while building, programs,
    plug-ins, or the project's own metadata."""
    own = known.declared
    if declaring(known.project) is not None or namesake(known.project) is not None:
        return True
    if not own.installable:
        return False
    asks_git = bool(version_settings("1", {name_of(entry) for entry in own.build}, own.backend))
    versioned = asks_git and "version" in known.project.pyproject().project.dynamic
    return versioned or own.has_entry_points or _reads_metadata(known.project)


def _reads_metadata(project: Project) -> bool:
    found = (name for name in project.names(".py") if name.endswith("/__init__.py") and name.count("/") <= 2)
    packages = islice(found, _MAX_PACKAGES)
    return any(_ASKS_METADATA.search(project.text(name) or "") for name in packages)


def declaring(project: Project) -> str | None:
    """The first file that declares dependencies; None where Mendbot's own tools are all that is asked for. A `setup.py`
    is a program, and what it declares is known to itself alone."""
    return next(_declaring(project), None)


def _declaring(project: Project) -> Iterator[str]:
    if _beyond_tools(pyproject_requires(project.pyproject())):
        yield "pyproject.toml"
    if project.has("setup.cfg") and _beyond_tools(ini_requires(project.ini("setup.cfg"))):
        yield "setup.cfg"
    for name in sorted(filter(is_requirements, _names(project))):
        if _beyond_tools(requirements(project.text(name) or "")):
            yield name
    if project.has("Pipfile") and any(project.toml("Pipfile").get(key) for key in ("packages", "dev-packages")):
        yield "Pipfile"
    if project.has("setup.py"):
        yield "setup.py"


def _beyond_tools(entries: Iterable[str]) -> bool:
    """Whether the entries need more than Mendbot's own tools in any version from a minimum on."""
    return any(name_of(entry) not in TOOLS or re.search(r"<|==|~=|!=|;|\[", entry) for entry in entries)


def namesake(project: Project) -> str | None:
    """The package of Mendbot's tools that is the project itself, or of which it provides a module; else None."""
    pins = re.finditer(r"^([\w.-]+)==", LOCK.read_text(encoding="utf-8"), re.MULTILINE)
    packages = frozenset(pin[1] for pin in pins)
    setup_cfg = project.ini("setup.cfg") if project.has("setup.cfg") else {}
    names = (*project.pyproject().names, setup_cfg.get("metadata", {}).get("name") or "")
    own = packages.intersection(map(normal, names))
    if own:
        return min(own)
    for package in sorted(packages):
        for module in _MODULES.get(package, (package.replace("-", "_"),)):
            if any(project.has_file(f"{top}{module}{end}") for top in ("", "src/") for end in (".py", "/__init__.py")):
                return package
    return None


def is_flat_mixture(known: PythonProject) -> bool:
    """Whether setuptools would refuse to build the project: several directories stand at its top, and nothing names
    which of them are packages (its documentation, Automatic discovery)."""
    project, own = known.project, known.declared
    if (
        (own.backend and "setuptools" not in own.backend)
        or project.has_file("setup.py")
        or project.has_file("setup.cfg")
    ):
        return False
    settings = project.pyproject().tool.get("setuptools", {})
    if {"packages", "py-modules", "package-dir", "ext-modules"} & set(settings):
        return False
    if (project.place / "src").is_dir():
        return False
    found = [
        name for name in _names(project) if _NO_PACKAGE.fullmatch(name) is None and (project.place / name).is_dir()
    ]
    return len(found) > 1


def _names(project: Project) -> frozenset[str]:
    try:
        return frozenset(entry.name for entry in project.place.iterdir())
    except OSError:
        return frozenset()
