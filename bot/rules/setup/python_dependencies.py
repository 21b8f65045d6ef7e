"""What a Python project's parsed files declare: run time, extras, groups and build requirements, by name."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from bot.rules.setup.manifests import BuildSystem, Poetry, Pyproject, Table, strings, table
from bot.rules.setup.requirement_files import name_of, normal

_DEPTH = 10
"""The limit of groups and extras within each other; deeper ones count as a circle."""


@dataclass(frozen=True, slots=True)
class Declared:
    """`name` of the project; `requires` at run time; `extras` and `groups` by their names as PEP 685 spells them, those
    of Poetry, PDM, uv and hatch among the groups. `installable`: there is something that builds it.

    `computed`: requirements are known only when the project is built. `local` are names that the project does
    not take from an index, `paths` the places of those that lie in a directory. `python` is `requires-python`.
    `has_entry_points`: it has programs or plug-ins, which are found only where it is installed. `has_build`: something
    builds it."""

    name: str = ""
    requires: tuple[str, ...] = ()
    extras: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    groups: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    build: tuple[str, ...] = ()
    backend: str = ""
    installable: bool = False
    computed: bool = False
    local: frozenset[str] = frozenset()
    paths: tuple[str, ...] = ()
    python: str = ""
    has_entry_points: bool = False
    has_build: bool = False


def declared_by(pyproject: Pyproject, setup_cfg: Mapping[str, Mapping[str, str]], setup_py: str | None) -> Declared:
    """What the three files declare together. Broken ones count as empty."""
    project, poetry, build = pyproject.project, pyproject.poetry, pyproject.build_system
    script = setup_py_declares(setup_py) if setup_py is not None else None
    options = setup_cfg.get("options", {})
    name = normal(next(iter(pyproject.names), setup_cfg.get("metadata", {}).get("name") or ""))
    requires = [*project.dependencies, *_poetry(poetry.dependencies, optional=False)]
    requires += _lines(options.get("install_requires")) + list(script.requires if script else ())
    extras = {normal(key): list(listed) for key, listed in project.optional_dependencies.items()}
    for key, value in setup_cfg.get("options.extras_require", {}).items():
        extras.setdefault(normal(key), _lines(value))
    for key, listed in script.extras.items() if script else ():
        extras.setdefault(key, list(listed))
    extras |= _poetry_extras(poetry)
    tests = _lines(options.get("tests_require"))
    groups = _groups(pyproject) | ({"tests": tests} if tests else {})
    local = _local(pyproject)
    legacy = setup_py is not None or project.has() or bool(options)
    return Declared(
        name=name,
        requires=tuple(requires),
        extras={key: _own_extras(listed, extras, name) for key, listed in extras.items()},
        groups={key: tuple(listed) for key, listed in groups.items()},
        build=_build(build, legacy=legacy),
        backend=build.backend,
        installable=poetry.package_mode is not False and (legacy or bool(poetry.name)),
        computed="dependencies" in project.dynamic or (script is not None and script.computed),
        local=frozenset(normal(name) for name in local),
        paths=tuple(path for path in local.values() if path),
        python=project.requires_python or options.get("python_requires") or _text(poetry.dependencies.get("python")),
        has_build=build.has() or setup_py is not None,
        has_entry_points=project.has("scripts", "gui-scripts", "entry-points")
        or poetry.has("scripts", "plugins")
        or "options.entry_points" in setup_cfg,
    )


def setup_py_declares(text: str) -> Declared:
    """The literal lists among the arguments of `setup(…)`; what is computed is not known (`computed`)."""
    try:
        module = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return Declared(computed=True)
    known: dict[str, ast.expr] = {}
    for node in module.body:
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            known[node.targets[0].id] = node.value
    calls = [node for node in ast.walk(module) if isinstance(node, ast.Call) and _called(node) == "setup"]
    values = {word.arg: word.value for call in calls for word in call.keywords if word.arg}
    requires = _literal_strings(values.get("install_requires"), known)
    tests = _literal_strings(values.get("tests_require"), known) or ()
    extras = {"tests": tests} if tests else {}
    listing = values.get("extras_require")
    listing = known.get(listing.id) if isinstance(listing, ast.Name) else listing
    if isinstance(listing, ast.Dict):
        for key, value in zip(listing.keys, listing.values, strict=True):
            listed = _literal_strings(value, known)
            if isinstance(key, ast.Constant) and isinstance(key.value, str) and listed is not None:
                extras[normal(key.value)] = listed
    unknown = "install_requires" in values and requires is None
    return Declared(requires=requires or (), extras=extras, computed=unknown)


def _called(call: ast.Call) -> str:
    function = call.func
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")


def _literal_strings(value: ast.expr | None, known: Mapping[str, ast.expr], depth: int = 0) -> tuple[str, ...] | None:
    if depth > _DEPTH:
        return None
    if isinstance(value, ast.Name):
        return _literal_strings(known.get(value.id), known, depth + 1)
    if isinstance(value, ast.List | ast.Tuple):
        texts = [one.value for one in value.elts if isinstance(one, ast.Constant) and isinstance(one.value, str)]
        return tuple(texts) if len(texts) == len(value.elts) else None
    if isinstance(value, ast.BinOp) and isinstance(value.op, ast.Add):
        left, right = (_literal_strings(side, known, depth + 1) for side in (value.left, value.right))
        return None if left is None or right is None else left + right
    return None


def _groups(pyproject: Pyproject) -> dict[str, list[str]]:
    spelt = {normal(key): value for key, value in pyproject.dependency_groups.items()}
    groups = {key: list(_included(key, spelt)) for key in spelt}
    for key, entries in pyproject.pdm.dev_dependencies.items():
        groups.setdefault(normal(key), []).extend(entries)
    groups.setdefault("dev", []).extend(pyproject.uv.dev_dependencies)
    groups["dev"].extend(_poetry(pyproject.poetry.dev_dependencies))
    for key, dependencies in pyproject.poetry.groups.items():
        groups.setdefault(normal(key), []).extend(_poetry(dependencies))
    for key, value in table(pyproject.tool.get("hatch", {}).get("envs")).items():
        listed = [*strings(table(value).get("dependencies")), *strings(table(value).get("extra-dependencies"))]
        groups.setdefault("tests" if key in ("default", "hatch-test") else normal(key), []).extend(listed)
    return {key: listed for key, listed in groups.items() if listed}


def _included(key: str, groups: Mapping[str, object], depth: int = 0) -> Iterator[str]:
    """The requirements of a dependency group, with those of the groups that it includes (PEP 735)."""
    entries = groups.get(key)
    for entry in entries if isinstance(entries, list) and depth < _DEPTH else ():
        if isinstance(entry, str):
            yield entry
        else:
            named = table(entry).get("include-group")
            if isinstance(named, str):
                yield from _included(normal(named), groups, depth + 1)


def _own_extras(listed: list[str], extras: Mapping[str, list[str]], name: str, depth: int = 0) -> tuple[str, ...]:
    """The requirements of an extra; one that names the project itself means further extras of its own."""
    found: list[str] = []
    for entry in listed:
        if name and name_of(entry) == name and depth < _DEPTH:
            wanted = entry.partition("[")[2].partition("]")[0].split(",")
            for key in wanted:
                found += _own_extras(extras.get(normal(key.strip()), []), extras, name, depth + 1)
        else:
            found.append(entry)
    return tuple(found)


def _poetry(dependencies: Table, *, optional: bool = True) -> list[str]:
    """The requirements of one of Poetry's tables, without those that only an extra installs unless `optional`."""
    found = []
    for name, wanted in dependencies.items():
        if name.lower() == "python" or (not optional and table(wanted).get("optional") is True):
            continue
        requirement = poetry_requirement(name, wanted)
        found += [requirement] if requirement is not None else []
    return found


def _poetry_extras(poetry: Poetry) -> dict[str, list[str]]:
    known = {normal(name): wanted for name, wanted in poetry.dependencies.items()}
    found = {}
    for key, names in poetry.extras.items():
        wanted = {name: known.get(normal(name), "*") for name in names}
        found[normal(key)] = _poetry({name: {**value, "optional": False} if isinstance(value, Mapping) else value
                                      for name, value in wanted.items()})  # fmt: skip
    return found


def _build(build: BuildSystem, *, legacy: bool) -> tuple[str, ...]:
    """What building the project editable needs, with what backends ask for only while they build (PEP 660)."""
    listed = list(build.requires)
    if not listed and (build.has() or legacy):
        listed = ["setuptools"]
    names = {name_of(entry) for entry in listed}
    for backend, more in _ASKED_LATER.items():
        if backend in names:
            listed += [entry for entry in more if entry not in names]
    return tuple(listed)


_ASKED_LATER: Mapping[str, tuple[str, ...]] = {
    "setuptools": ("wheel",),
    "hatchling": ("editables",),
    "pdm-backend": ("editables",),
    "scikit-build-core": ("cmake", "ninja"),
    "meson-python": ("meson", "ninja"),
}


def _local(pyproject: Pyproject) -> dict[str, str]:
    """What comes from no index, by name, with its path, or "" where it has none."""
    named = [item for listed in pyproject.poetry.all_dependencies for item in listed.items()]
    places = [*pyproject.uv.sources.items(), *((name, table(wanted)) for name, wanted in named)]
    elsewhere = {"workspace", "path", "git", "url", "file"}
    return {name: _text(place.get("path")) for name, place in places if elsewhere & set(place)}


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _lines(value: object) -> list[str]:
    return [line.strip() for line in _text(value).replace(";;", "\n").splitlines() if line.strip()]


_PARTS = re.compile(r"\s*(\^|~=|~|===|==|!=|>=|<=|>|<|=)?\s*([0-9][\w.*+!-]*)\s*")


def poetry_requirement(name: str, wanted: object) -> str | None:
    """The requirement that `name = wanted` of a `tool.poetry` table stands for; None for a path, a repository or an
    address, which are no packages of an index."""
    if isinstance(wanted, list):
        found = [poetry_requirement(name, one) for one in wanted]
        return next((one for one in found if one is not None), None) if len(found) == 1 else name
    if isinstance(wanted, str):
        return f"{name}{version_specifiers(wanted) or ''}"
    if not isinstance(wanted, Mapping) or {"git", "path", "url", "file"} & set(wanted):
        return None
    version, extras, python = wanted.get("version"), wanted.get("extras"), wanted.get("python")
    text = name + (f"[{','.join(map(str, extras))}]" if isinstance(extras, list) and extras else "")
    text += (version_specifiers(version) or "") if isinstance(version, str) else ""
    markers = [str(wanted["markers"])] if isinstance(wanted.get("markers"), str) else []
    markers += _python_markers(python) if isinstance(python, str) else []
    return text + (f"; {' and '.join(f'({one})' for one in markers)}" if markers else "")


def version_specifiers(wanted: str) -> str | None:
    """`>=1.2,<2` for `^1.2`; "" for any version; None where it cannot be written so (as `^1 || ^2`)."""
    if wanted.strip() in ("", "*"):
        return ""
    specifiers = []
    for part in wanted.split(","):
        found = _PARTS.fullmatch(part)
        if found is None:
            return None
        specifiers.append(_specifier(found[1] or "", found[2]))
    return ",".join(specifiers)


def _specifier(sign: str, version: str) -> str:
    if sign in ("^", "~"):
        numbers = [int(number) for number in re.findall(r"\d+", version.split("-")[0])[:3]]
        return f">={version},<{_next(numbers, caret=sign == '^')}"
    if sign in ("", "="):
        return f"=={version}"
    return f"{sign}{version}"


def _next(numbers: list[int], *, caret: bool) -> str:
    """The first version that no longer fits: `^` keeps the first number that is not 0, `~` the first two."""
    if caret:
        at = next((index for index, number in enumerate(numbers) if number), len(numbers) - 1)
    else:
        at = min(1, len(numbers) - 1)
    return ".".join(str(number) for number in (*numbers[:at], numbers[at] + 1))


def _python_markers(python: str) -> list[str]:
    specifiers = version_specifiers(python)
    parts = re.findall(r"(===|~=|==|!=|>=|<=|>|<)([\d.]+)", specifiers or "")
    return [f"python_version {sign} '{'.'.join(version.split('.')[:2])}'" for sign, version in parts]
