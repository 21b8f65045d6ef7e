"""Whether a Node project's tests load what its own `build` script makes, so that it must be built before they run.
Reads files with care and runs nothing."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence

from bot.rules.declared import node_packages
from bot.workspace.project import Project, section

_ENTRIES = ("main", "module", "types", "typings", "exports", "bin")
_SOURCES = (".ts", ".tsx", ".mts", ".cts", ".js", ".jsx", ".mjs", ".cjs")
_ASIDE = re.compile(r"(?:^|/)(?:bench|benchmarks?|docs?|examples?|playgrounds?|website|templates?|fixtures?)(?:/|$)")
"""What uses the package as its users do, and is no part of its tests."""
_MOST_FILES = 500
_DEEPEST = 8


def needs_build(home: Project, members: Sequence[Project], scripts_run: Sequence[str]) -> bool:
    """Whether `build` of the project at `home` must be run: its tests, or packages of its workspace, load entry points
    that are not in the tree. Not where the tests build by themselves, or one of `scripts_run` did."""
    scripts = section(home.json("package.json"), "scripts") or {}
    if not isinstance(scripts.get("build"), str) or "prepare" in scripts_run:
        return False
    if re.search(r"\bbuild\b", " ".join(str(scripts.get(name, "")) for name in ("pretest", "test", *scripts_run))):
        return False
    unbuilt = {name for each in (home, *members) if (name := _name(each)) and _is_unbuilt(each)}
    if any(unbuilt.intersection(node_packages(each.json("package.json"))) for each in members):
        return True
    return _name(home) in unbuilt and _names_itself(home)


def _name(project: Project) -> str:
    name = project.json("package.json").get("name")
    return name if isinstance(name, str) else ""


def _is_unbuilt(project: Project) -> bool:
    """Whether a file by which the package is loaded is missing."""
    package = project.json("package.json")
    named = (file for key in _ENTRIES for file in _files(package.get(key), 0))
    within = (file.removeprefix("./") for file in named if "*" not in file and ".." not in file and file[:1] != "/")
    return any(not os.path.lexists(project.tree / project.directory / file) for file in within if "\0" not in file)


def _files(entry: object, depth: int) -> Iterator[str]:
    if isinstance(entry, str):
        yield entry
    elif isinstance(entry, Mapping) and depth < _DEEPEST:
        for value in entry.values():
            yield from _files(value, depth + 1)


def _names_itself(project: Project) -> bool:
    """Whether its sources or tests load the package by its own name."""
    name = re.escape(_name(project))
    own = re.compile(rf"(?:\bfrom|\bimport|\brequire|\bmock)\s*\(?\s*[\"']{name}(?:/[^\"']*)?[\"']")
    left = _MOST_FILES
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
