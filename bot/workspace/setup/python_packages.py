"""Which packages a Python project's environment gets: what it runs with, what its tests need, the checks' tools."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from bot.rules.setup.declared_dependencies import normal
from bot.rules.setup.pytest_plugins import needed_plugins
from bot.rules.setup.requirement_files import Asked, is_requirement, name_of
from bot.workspace.detect.python_finders import pytest_settings
from bot.workspace.setup.python_project import FOR_DEVELOPMENT, FOR_TESTS, FOR_TYPES, PythonProject

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
    """mypy and ty where they are used; ruff where the project says which, since Mendbot has one of its own."""
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
