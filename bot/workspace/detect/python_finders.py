"""The checks of Python projects: pytest, a type checker that the project has configured, and ruff.

Tools of the project's own environment come before Mendbot's tools."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from bot.model import CheckName
from bot.workspace.detect.target_finders import Argv, has_offline_target
from bot.workspace.files.project_files import Project, section

_NO_FIX = "--no-fix"
"""A check must not rewrite files, even if the project has `fix = true` (ruff's settings, `fix`)."""

ENVIRONMENTS = (".venv", "venv")
"""The directories of a Python project's virtual environment."""


def python_checks(project: Project, check: CheckName) -> Argv | None:
    return {"test": _pytest, "typecheck": _python_types, "lint": _python_lint}[check](project)


def python_tools(project: Project) -> list[str]:
    """The tools that the project's checks need in its environment."""
    types = _python_types(project)
    return [*(["pytest"] if _pytest(project) else []), *([types[0].rpartition("/")[2]] if types else [])]


def _pytest(project: Project) -> Argv | None:
    options = pytest_settings(project)
    tests = (
        name for name in project.names(".py") if re.search(r"(?:^|/)(?:test_[^/]*|[^/]*_test|conftest)\.py$", name)
    )
    if options is None and next(tests, None) is None:
        project.missing("looked_for.pytest")
        return None
    if options is None and has_offline_target(project, "test"):
        return None  # a file's name is a guess; the target is the project's own way to run its tests
    python = next(filter(None, (project.tool(f"{place}/bin/python") for place in ENVIRONMENTS)), None)
    command = (python, "-m", "pytest") if python is not None else ("pytest",)
    if "pythonpath" in (options or ()) or (python is not None and _is_installed(project)):
        return command
    # the project is not installed, so its code is imported from its files: beside the tests, or below src
    src = _has_src_layout(project)
    if python is not None and not src:
        return command  # started as a module, pytest finds the code beside the tests
    return (*command, "-o", f"pythonpath={'src .' if src else '.'}")


def _is_installed(project: Project) -> bool:
    """Whether the project is installed in its environment, or has no known name."""
    names = project.pyproject().names
    if not names:
        return True
    spelt = re.sub(r"[-_.]+", "[-_.]", re.escape(names[0]).replace("\\", ""))
    for above in project.upwards():
        for environment in ENVIRONMENTS:
            library = above.place / environment / "lib"
            if any(
                re.fullmatch(rf"{spelt}-[^-]+\.(?:dist|egg)-info", entry.name, re.IGNORECASE)
                for entry in library.glob("python*/site-packages/*-info")
            ):
                return True
    return False


def _has_src_layout(project: Project) -> bool:
    """Whether `src` holds packages or modules and is no package itself."""
    names = [name.split("/") for name in project.names(".py") if name.startswith("src/")]
    return bool(names) and not any(parts == ["src", "__init__.py"] for parts in names)


def pytest_settings(project: Project) -> Mapping[str, object] | None:
    """pytest's configuration, or None without one (pytest's documentation, Configuration file formats)."""
    tool = project.pyproject().tool.get("pytest")
    found = [tool, section(tool or {}, "ini_options"), section(project.toml("pytest.toml"), "pytest")]
    for file, name in (("pytest.ini", "pytest"), ("tox.ini", "pytest"), ("setup.cfg", "tool:pytest")):
        found.append(project.ini(file).get(name) if project.has(file) else None)
    if project.has("pytest.ini", "pytest.toml"):
        found.append({})
    present = [options for options in found if options is not None]
    return {key: value for options in present for key, value in options.items()} if present else None


def _python_types(project: Project) -> Argv | None:
    tools = project.pyproject().tool
    mypy = tools.get("mypy")
    for file in ("mypy.ini", ".mypy.ini", "setup.cfg"):
        if mypy is None and project.has(file):
            mypy = project.ini(file).get("mypy")
    if mypy is not None:
        named = {"files", "packages", "modules"} & set(mypy)
        return (_tool(project, "mypy"), *(() if named else _own_code(project)))
    if project.has("pyrightconfig.json") or "pyright" in tools:
        return (_tool(project, "pyright"),)
    if project.has("ty.toml") or "ty" in tools:
        return (_tool(project, "ty"), "check")
    project.missing("looked_for.python_types")
    return None


def _own_code(project: Project) -> Argv:
    """The directories of the project's packages, for a configuration that names none; everything without a package.

    Tests, documents and examples beside them are seldom written for a type checker."""
    packages = sorted(
        name.removesuffix("/__init__.py") for name in project.names(".py") if name.endswith("/__init__.py")
    )
    roots = [name for name in packages if name.rpartition("/")[0] not in packages]
    own = [name for name in roots if name.rpartition("/")[0] in ("", "src") and not _BESIDE_CODE.fullmatch(name)]
    return tuple(own) or (("src",) if _has_src_layout(project) else (".",))


_BESIDE_CODE = re.compile(
    r"(?:.*[-_])?(?:tests?|testing|docs?|examples?|samples?|scripts?|tools?|tasks|bench(?:marks?)?)(?:[-_].*)?"
)


def _python_lint(project: Project) -> Argv | None:
    if project.has("ruff.toml", ".ruff.toml") or "ruff" in project.pyproject().tool:
        return (_tool(project, "ruff"), "check", _NO_FIX)
    project.missing("looked_for.ruff_config")
    return None


def ruff_unasked(project: Project, check: CheckName, finds: Callable[[str], bool]) -> Argv | None:
    """ruff, if it is installed, for a Python project that has chosen no linter: errors only, no style.

    It informs about a project, but does not decide about a change. `finds` knows which programs are installed beside
    the tree's own."""
    if check != "lint":
        return None
    is_python = project.has("pyproject.toml", "setup.py", "setup.cfg", "requirements.txt")
    if is_python and not _lints_otherwise(project) and (project.tool(".venv/bin/ruff") or finds("ruff")):
        return (_tool(project, "ruff"), "check", _NO_FIX, "--select", "E4,E7,E9,F")
    project.missing("looked_for.ruff")
    return None


def _tool(project: Project, name: str) -> str:
    return next(filter(None, (project.tool(f"{place}/bin/{name}") for place in ENVIRONMENTS)), name)


def _lints_otherwise(project: Project) -> bool:
    files = (".flake8", ".pylintrc", "pylintrc", ".prospector.yaml")
    in_files = any("flake8" in project.ini(file) for file in ("setup.cfg", "tox.ini") if project.has(file))
    return in_files or project.has(*files) or bool({"flake8", "pylint", "pyflakes"} & set(project.pyproject().tool))
