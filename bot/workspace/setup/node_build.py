"""Finds the `build` scripts that a Node project's tests need to be run before. Reads files and runs nothing."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence

from bot.workspace.files.project_files import Project

_SOURCES = (".ts", ".tsx", ".mts", ".cts", ".js", ".jsx", ".mjs", ".cjs")
_ASIDE = re.compile(r"(?:^|/)(?:bench|benchmarks?|docs?|examples?|playgrounds?|website|templates?|fixtures?)(?:/|$)")
"""Directories with code that uses the package as its users do, and is not part of its tests."""
_BUILDS = re.compile(r"\bbuild\b")
_MAX_FILES = 500
_MAX_DEPTH = 8
_MAX_CHAIN = 100


def directories_to_build(
    home: Project, members: Sequence[Project], tested: Sequence[str], scripts_run: Sequence[str]
) -> tuple[str, ...]:
    """The directories whose `build` script must be run, in this order, before the tests of the projects at `tested`.

    A build is needed if the tests, or packages of the workspace that they use, load entry points that are missing. It
    is not needed if the tests of `home`, or one of its `scripts_run`, build by themselves."""
    if "prepare" in scripts_run:
        return ()
    at_home = home.directory in tested
    if at_home and _builds_itself(home, scripts_run):
        return ()
    workspace = {name: each for each in (home, *members) if (name := each.package().name)}
    roots = [each for each in (home, *members) if at_home or each.directory in tested]
    used = _used_by(roots, workspace)
    known = {each.directory for each in used}
    unbuilt = [each for each in used if _is_unbuilt(each)]
    alone = (each for each in roots if each.directory not in known and _is_unbuilt(each))
    unbuilt += [each for each in alone if not _builds_itself(each, ()) and _names_itself(each)]
    if not unbuilt:
        return ()
    if not at_home and all(_has_build(each) for each in unbuilt):
        return tuple(each.directory for each in unbuilt)
    return (home.directory,) if _has_build(home) else tuple(each.directory for each in unbuilt if _has_build(each))


def _used_by(roots: Sequence[Project], workspace: Mapping[str, Project]) -> list[Project]:
    """The packages of the workspace that these use, each after its own dependencies."""
    used: list[Project] = []
    entered: set[str] = set()

    def enter(project: Project, depth: int) -> None:
        for name in project.package().installed:
            if name not in workspace or name in entered or depth > _MAX_CHAIN:
                continue
            entered.add(name)
            enter(workspace[name], depth + 1)
            used.append(workspace[name])

    for root in roots:
        enter(root, 0)
    return used


def _has_build(project: Project) -> bool:
    return "build" in project.package().scripts


def _builds_itself(project: Project, scripts_run: Sequence[str]) -> bool:
    """Whether its tests, or scripts that ran before them, build the package."""
    scripts = project.package().scripts
    return any(_BUILDS.search(scripts.get(name, "")) for name in ("pretest", "test", *scripts_run))


def _is_unbuilt(project: Project) -> bool:
    """Whether a file by which the package is loaded is missing."""
    named = (file for entry in project.package().entry_points for file in _files(entry, 0))
    within = (file.removeprefix("./") for file in named if "*" not in file and ".." not in file and file[:1] != "/")
    return any(not os.path.lexists(project.place / file) for file in within if "\0" not in file)


def _files(entry: object, depth: int) -> Iterator[str]:
    if isinstance(entry, str):
        yield entry
    elif isinstance(entry, Mapping) and depth < _MAX_DEPTH:
        for value in entry.values():
            yield from _files(value, depth + 1)


def _names_itself(project: Project) -> bool:
    """Whether its sources or tests load the package by its own name."""
    name = re.escape(project.package().name)
    own = re.compile(rf"(?:\bfrom|\bimport|\brequire|\bmock)\s*\(?\s*[\"']{name}(?:/[^\"']*)?[\"']")
    left = _MAX_FILES
    for suffix in _SOURCES:
        for file in project.names(suffix):
            if _ASIDE.search(file):
                continue
            left -= 1
            if own.search(project.text(file) or ""):
                return True
            if left < 0:
                return False
    return False
