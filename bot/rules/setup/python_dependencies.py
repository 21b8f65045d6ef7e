"""What a Python project's parsed files declare: run time, extras, groups and build requirements, by name."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from bot.rules.setup.declared_dependencies import normal
from bot.rules.setup.poetry_versions import poetry_requirement
from bot.rules.setup.requirement_files import name_of

__all__ = ["Declared", "declared_by", "setup_py_declares"]

_DEPTH = 10
"""Groups and extras within each other; deeper ones are taken for a circle."""
Table = Mapping[str, object]


@dataclass(frozen=True, slots=True)
class Declared:
    """`name` of the project; `requires` at run time; `extras` and `groups` by their names as PEP 685 spells them, those
    of Poetry, PDM, uv and hatch among the groups. `installable`: there is something that builds it.

    `computed` says that requirements are known only when the project is built. `local` are names that the project does
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


def declared_by(pyproject: Table, setup_cfg: Mapping[str, Mapping[str, str]], setup_py: str | None) -> Declared:
    """What the three files declare together. Broken ones count as empty."""
    project, tool = _table(pyproject.get("project")), _table(pyproject.get("tool"))
    poetry = _table(tool.get("poetry"))
    script = setup_py_declares(setup_py) if setup_py is not None else None
    options = setup_cfg.get("options", {})
    name = _text(project.get("name")) or _text(poetry.get("name")) or setup_cfg.get("metadata", {}).get("name") or ""
    requires = [*_strings(project.get("dependencies")), *_poetry(poetry.get("dependencies"), optional=False)]
    requires += _lines(options.get("install_requires")) + list(script.requires if script else ())
    extras = {normal(key): _strings(value) for key, value in _table(project.get("optional-dependencies")).items()}
    for key, value in setup_cfg.get("options.extras_require", {}).items():
        extras.setdefault(normal(key), _lines(value))
    for key, listed in script.extras.items() if script else ():
        extras.setdefault(key, list(listed))
    extras |= _poetry_extras(poetry)
    tests = _lines(options.get("tests_require"))
    groups = {key: list(listed) for key, listed in _groups(pyproject, tool, poetry).items()}
    groups |= {"tests": tests} if tests else {}
    local = _local(tool, poetry)
    build = _table(pyproject.get("build-system"))
    package_mode = poetry.get("package-mode") is not False
    return Declared(
        name=normal(name),
        requires=tuple(requires),
        extras={key: _own_extras(listed, extras, normal(name)) for key, listed in extras.items()},
        groups={key: tuple(listed) for key, listed in groups.items()},
        build=_build(build, legacy=setup_py is not None or bool(project) or bool(options)),
        backend=_text(build.get("build-backend")),
        installable=package_mode
        and (bool(project) or setup_py is not None or bool(options) or bool(poetry.get("name"))),
        computed="dependencies" in _strings(project.get("dynamic")) or (script is not None and script.computed),
        local=frozenset(normal(name) for name in local),
        paths=tuple(path for path in local.values() if path),
        python=_text(project.get("requires-python")) or _text(options.get("python_requires")) or _python(poetry),
        has_build=bool(build) or setup_py is not None,
        has_entry_points=bool({"scripts", "gui-scripts", "entry-points"} & set(project))
        or bool({"scripts", "plugins"} & set(poetry))
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
    table = values.get("extras_require")
    table = known.get(table.id) if isinstance(table, ast.Name) else table
    if isinstance(table, ast.Dict):
        for key, value in zip(table.keys, table.values, strict=True):
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


def _groups(pyproject: Table, tool: Table, poetry: Table) -> Mapping[str, list[str]]:
    raw = _table(pyproject.get("dependency-groups"))
    spelt = {normal(key): value for key, value in raw.items()}
    groups = {key: list(_included(key, spelt)) for key in spelt}
    for key, value in _table(_table(tool.get("pdm")).get("dev-dependencies")).items():
        groups.setdefault(normal(key), []).extend(_strings(value))
    groups.setdefault("dev", []).extend(_strings(_table(tool.get("uv")).get("dev-dependencies")))
    groups["dev"].extend(_poetry(poetry.get("dev-dependencies")))
    for key, value in _table(poetry.get("group")).items():
        groups.setdefault(normal(key), []).extend(_poetry(_table(value).get("dependencies")))
    for key, value in _table(_table(tool.get("hatch")).get("envs")).items():
        environment = _table(value)
        listed = [*_strings(environment.get("dependencies")), *_strings(environment.get("extra-dependencies"))]
        groups.setdefault("tests" if key in ("default", "hatch-test") else normal(key), []).extend(listed)
    return {key: listed for key, listed in groups.items() if listed}


def _included(key: str, groups: Mapping[str, object], depth: int = 0) -> Iterator[str]:
    """The requirements of a dependency group, with those of the groups that it includes (PEP 735)."""
    entries = groups.get(key)
    for entry in entries if isinstance(entries, list) and depth < _DEPTH else ():
        if isinstance(entry, str):
            yield entry
        else:
            named = _table(entry).get("include-group")
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


def _poetry(table: object, *, optional: bool = True) -> list[str]:
    """The requirements of one of Poetry's tables, without those that only an extra installs unless `optional`."""
    found = []
    for name, wanted in _table(table).items():
        if name.lower() == "python" or (not optional and _table(wanted).get("optional") is True):
            continue
        requirement = poetry_requirement(name, wanted)
        found += [requirement] if requirement is not None else []
    return found


def _poetry_extras(poetry: Table) -> dict[str, list[str]]:
    known = {normal(name): wanted for name, wanted in _table(poetry.get("dependencies")).items()}
    found = {}
    for key, names in _table(poetry.get("extras")).items():
        wanted = {name: known.get(normal(name), "*") for name in _strings(names)}
        found[normal(key)] = _poetry({name: {**value, "optional": False} if isinstance(value, Mapping) else value
                                      for name, value in wanted.items()})  # fmt: skip
    return found


def _build(build: Table, *, legacy: bool) -> tuple[str, ...]:
    """What building the project editable needs, with what backends ask for only while they build (PEP 660)."""
    listed = _strings(build.get("requires"))
    if not listed and (build or legacy):
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


def _local(tool: Table, poetry: Table) -> dict[str, str]:
    """What comes from no index, by name, with its path, or "" where it has none."""
    found = {}
    for name, source in _table(_table(tool.get("uv")).get("sources")).items():
        if {"workspace", "path", "git", "url"} & set(_table(source)):
            found[name] = _text(_table(source).get("path"))
    groups = [_table(group).get("dependencies") for group in _table(poetry.get("group")).values()]
    for table in (poetry.get("dependencies"), poetry.get("dev-dependencies"), *groups):
        found |= {name: _text(_table(wanted).get("path")) for name, wanted in _table(table).items()
                  if {"path", "git", "url", "file"} & set(_table(wanted))}  # fmt: skip
    return found


def _python(poetry: Table) -> str:
    return _text(_table(poetry.get("dependencies")).get("python"))


def _table(value: object) -> Table:
    return value if isinstance(value, Mapping) else {}


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _strings(value: object) -> list[str]:
    return [one for one in value if isinstance(one, str)] if isinstance(value, list) else []


def _lines(value: object) -> list[str]:
    return [line.strip() for line in _text(value).replace(";;", "\n").splitlines() if line.strip()]
