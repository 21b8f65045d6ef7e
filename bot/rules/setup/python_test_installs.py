"""What a project's tests need installed: by tox, nox, recipes and workflows, and by the plug-ins in pytest's settings.
Nothing of it is run; what is no literal is not known."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping

from bot.rules.setup.manifests import strings
from bot.rules.setup.requirement_files import (
    Asked,
    asked_by_lines,
    asked_by_words,
    merged,
    name_of,
    normal,
    split_words,
)

_TESTS = re.compile(r"(?:unit)?_?(?:tests?|testing|pytest|py|unit|unittests?)(?:_.*)?")
_FACTORS = frozenset(("test", "tests", "testing", "py", "py3", "unit"))
"""tox's factors whose lines hold wherever the tests are run."""
_BESIDE = re.compile(
    r"docs?|documentation|lint(?:ers?|ing)?|all|fix|release|build|bench(?:marks?)?|pre-commit|style|format"
)
"""Extras and groups that no test needs, by custom."""
_INSTALLS = re.compile(r"\b(?:pip3? install|uv (?:run|sync|pip install)|pdm install|poetry install)\b(.*)")
_FOR_TESTS = re.compile(
    r"pytest(?:-.*)?|hypothesis|mock|freezegun|responses|parameterized|coverage|nose2?|testfixtures"
)
"""Packages that a workflow installs for its tests, as opposed to those that it needs for building and publishing."""


def asked_by_tox(sections: Mapping[str, Mapping[str, str]]) -> Asked:
    """What the test environments of a `tox.ini` install."""
    names = ["testenv", *(name for name in sections if _TESTS.fullmatch(name.removeprefix("testenv:")))]
    return merged(_of_section(sections[name]) for name in dict.fromkeys(names) if name in sections)


def _of_section(section: Mapping[str, str]) -> Asked:
    deps = "\n".join(_without_factor(section.get("deps"), every=False))
    extras = [word for line in _without_factor(section.get("extras"), every=True) for word in re.split(r"[\s,]+", line)]
    groups = _without_factor(section.get("dependency_groups"), every=False)
    more = Asked(
        extras=tuple(name for name in extras if _wanted(name)),
        groups=tuple(name for line in groups for name in re.split(r"[\s,]+", line) if _wanted(name)),
    )
    return merged((asked_by_lines(deps), more))


def _without_factor(text: str | None, *, every: bool) -> Iterator[str]:
    for line in (text or "").splitlines():
        found = re.fullmatch(r"\s*(?:(?P<factors>[\w.{},!-]+):(?!/)\s*)?(?P<rest>.*?)\s*", line)
        if found is None or not found["rest"] or found["rest"].startswith("{["):
            continue
        factors = re.split(r"[,{}-]+", found["factors"] or "")
        if every or found["factors"] is None or _FACTORS.intersection(factors):
            yield found["rest"]


def asked_by_tox_toml(table: Mapping[str, object]) -> Asked:
    """The same of a `tox.toml`, or of `tool.tox` in `pyproject.toml`."""
    environments = table.get("env")
    base = [table.get("env_run_base")]
    if isinstance(environments, Mapping):
        base += [value for key, value in environments.items() if _TESTS.fullmatch(key)]
    parts = []
    for each in base:
        if isinstance(each, Mapping):
            deps, extras, groups = (strings(each.get(key)) for key in ("deps", "extras", "dependency_groups"))
            parts.append(merged((asked_by_words(deps), Asked(extras=tuple(extras), groups=tuple(groups)))))
    return merged(parts)


def asked_by_nox(text: str) -> Asked:
    """What the test sessions of a `noxfile.py` install by literal strings."""
    try:
        module = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return Asked()
    sessions = [node for node in module.body if isinstance(node, ast.FunctionDef) and _TESTS.fullmatch(node.name)]
    calls = (node for session in sessions for node in ast.walk(session) if isinstance(node, ast.Call))
    return merged(_of_call(call) for call in calls)


def _of_call(call: ast.Call) -> Asked:
    name = call.func.attr if isinstance(call.func, ast.Attribute) else ""
    words = [one.value for one in call.args if isinstance(one, ast.Constant) and isinstance(one.value, str)]
    if name == "dependency_groups":  # nox.project.dependency_groups(pyproject, "tests")
        return Asked(groups=tuple(words))
    if name in ("run", "run_install", "run_always"):
        return asked_by_options(" ".join(words)) if words[:1] in (["uv"], ["pdm"], ["poetry"]) else Asked()
    return asked_by_words(words) if name == "install" else Asked()


def asked_by_commands(text: str) -> Asked:
    """What the commands of a makefile, a justfile or a workflow install for tests, as far as the project names it."""
    parts = []
    for found in _INSTALLS.finditer(text[:200_000]):
        parts.append(asked_by_options(found[1]))
    asked = merged(parts)
    packages = tuple(entry for entry in asked.requirements if _FOR_TESTS.fullmatch(name_of(entry)))
    extras, groups = (tuple(filter(_wanted, names)) for names in (asked.extras, asked.groups))
    return Asked(requirements=packages, extras=extras, groups=groups)


def asked_by_options(line: str) -> Asked:
    """What one command line asks for; `--all-extras` stands as the extra `*`."""
    line = re.sub(r"\$?\{\{.*?\}\}", " ", line)
    words = split_words(re.split(r"&&|\|\||[;|]", line)[0])
    words = [part for word in words for part in re.split(r"(?<=^--group)=|(?<=^--extra)=", word)]
    every = Asked(extras=("*",)) if "--all-extras" in words else Asked()
    return merged((asked_by_words(words), every))


def _wanted(name: str) -> bool:
    return bool(name) and _BESIDE.fullmatch(normal(name)) is None


_HOOKS = (("ruff", r"astral-sh/ruff-pre-commit"), ("mypy", r"pre-commit/mirrors-mypy"))


def pinned_hooks(text: str) -> Mapping[str, str]:
    """The versions of ruff and mypy that a `.pre-commit-config.yaml` names."""
    found = {}
    for tool, repository in _HOOKS:
        rev = rf"{repository}(?:\.git)?[\"']?\s*\n\s*rev:\s*"
        pin = re.search(rf"{rev}[0-9a-f]{{40}}\s*#.*?v?(\d+(?:\.\d+)+)", text)
        pin = pin or re.search(rf"{rev}[\"']?v?(\d+(?:\.\d+)+)[\"']?\s", text)
        if pin:
            found[tool] = pin[1]
    return found


_BY_OPTION = (
    (r"--(?:no-)?cov(?:-[\w-]+)?", "pytest-cov"),
    (r"-n(?:=?\d+|auto|logical)?|--numprocesses|--dist|--maxprocesses", "pytest-xdist"),
    (r"--timeout(?:-[\w-]+)?", "pytest-timeout"),
    (r"--benchmark-[\w-]+", "pytest-benchmark"),
    (r"--reruns(?:-[\w-]+)?", "pytest-rerunfailures"),
    (r"--asyncio-mode", "pytest-asyncio"),
    (r"--randomly-[\w-]+", "pytest-randomly"),
    (r"--random-order[\w-]*", "pytest-random-order"),
    (r"--mypy[\w-]*", "pytest-mypy"),
    (r"--ruff[\w-]*", "pytest-ruff"),
    (r"--black", "pytest-black"),
    (r"--flake8", "pytest-flake8"),
    (r"--nbval[\w-]*", "nbval"),
    (r"--ds|--reuse-db|--create-db|--nomigrations|--no-migrations", "pytest-django"),
    (r"--html|--self-contained-html", "pytest-html"),
    (r"--disable-socket|--allow-hosts", "pytest-socket"),
    (r"--hypothesis-[\w-]+", "hypothesis"),
)
_BY_KEY = {
    "asyncio_mode": "pytest-asyncio",
    "asyncio_default_fixture_loop_scope": "pytest-asyncio",
    "timeout": "pytest-timeout",
    "timeout_method": "pytest-timeout",
    "DJANGO_SETTINGS_MODULE": "pytest-django",
    "env": "pytest-env",
    "mock_use_standalone_module": "pytest-mock",
    "qt_api": "pytest-qt",
    "trio_mode": "pytest-trio",
}


def needed_plugins(settings: Mapping[str, object]) -> tuple[str, ...]:
    """The packages of the plug-ins that the settings of pytest, with its `addopts`, name."""
    options = settings.get("addopts")
    words = options.split() if isinstance(options, str) else options if isinstance(options, list) else []
    found = [package for key, package in _BY_KEY.items() if key in settings]
    for word in words:
        name = str(word).partition("=")[0]
        found += [package for shape, package in _BY_OPTION if package and re.fullmatch(shape, name)]
    return tuple(dict.fromkeys(found))
