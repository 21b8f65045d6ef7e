"""What the files of one project tell about its checks: a literal table of finders, one for each kind of project.
Each gives the argv for a check (spec A, Commands), or notes in the project what it looked for in vain."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from bot.model import CheckName
from bot.workspace.package_managers import package_manager
from bot.workspace.project import Project, section

Argv = tuple[str, ...]
Finder = Callable[[Project, CheckName], Argv | None]

SCRIPTS: dict[CheckName, tuple[str, ...]] = {
    "test": ("test",),
    "typecheck": ("type-check", "typecheck", "check-types"),
    "lint": ("lint",),
}
"""Names of scripts and targets, in the order in which they are tried."""

_NO_FIX = "--no-fix"
"""A check looks and does not rewrite, whatever the project's `fix = true` says (ruff's settings, `fix`)."""

ENVIRONMENTS = (".venv", "venv")
"""Where the virtual environment of a Python project lies."""
_NO_TEST = re.compile(r"Error: no test specified")
"""What `npm init` writes as the test script (npm's documentation of `npm init`)."""


def _node(project: Project, check: CheckName) -> Argv | None:
    package = project.json("package.json")
    scripts = section(package, "scripts") or {}
    for name in SCRIPTS[check]:
        script = scripts.get(name)
        if isinstance(script, str) and script.strip() and not _NO_TEST.search(script):
            manager = package_manager(project)
            # `bun test` is bun's own runner, not the script; the others know the script by both spellings
            return (manager, "test") if name == "test" and manager != "bun" else (manager, "run", name)
    project.missing(f"a `{'`, `'.join(SCRIPTS[check])}` script in package.json")
    return _node_tool(project, check, project.own_tool)


def _node_above(project: Project, check: CheckName) -> Argv | None:
    """The workspace's tools, in a package that has none of its own and no script."""
    return _node_tool(project, check, project.tool) if project.directory and project.has("package.json") else None


def _node_tool(project: Project, check: CheckName, installed: Callable[[str], str | None]) -> Argv | None:
    if check == "typecheck":
        tsc = installed("node_modules/.bin/tsc")
        if tsc is not None and project.has("tsconfig.json"):
            return (tsc, "--noEmit")
        project.missing("tsconfig.json with TypeScript installed")
    if check == "lint":
        eslint = installed("node_modules/.bin/eslint")
        if eslint is not None and _has_eslint_settings(project):
            return (eslint, ".")
        project.missing("eslint installed in node_modules, with its configuration")
    return None


_ESLINT_FILES = (
    *(f"eslint.config.{end}" for end in ("js", "mjs", "cjs", "ts", "mts", "cts")),
    *(f".eslintrc{end}" for end in ("", ".js", ".cjs", ".yaml", ".yml", ".json")),
)


def _has_eslint_settings(project: Project) -> bool:
    """Whether eslint finds settings in the project or above it, without which it ends with an error."""
    places = (project if place == project.directory else Project(project.tree, place) for place in project.upwards())
    return any(here.has(*_ESLINT_FILES) or "eslintConfig" in here.json("package.json") for here in places)


def _python(project: Project, check: CheckName) -> Argv | None:
    return {"test": _pytest, "typecheck": _python_types, "lint": _python_lint}[check](project)


def python_tools(project: Project) -> list[str]:
    """The tools that the project's checks need in its environment."""
    checks: tuple[CheckName, ...] = ("test", "typecheck")
    found = ((check, _python(project, check)) for check in checks)
    return [needs(_python, check, argv) for check, argv in found if argv is not None]


def _pytest(project: Project) -> Argv | None:
    options = _pytest_options(project)
    tests = (
        name for name in project.names(".py") if re.search(r"(?:^|/)(?:test_[^/]*|[^/]*_test|conftest)\.py$", name)
    )
    if options is None and next(tests, None) is None:
        project.missing("pytest's configuration or files named test_*.py")
        return None
    if options is None and any(finder(project, "test") for finder in _TARGETS):
        return None  # a file's name is a guess, and here somebody has said how the tests are run
    python = next(filter(None, (project.tool(f"{place}/bin/python") for place in ENVIRONMENTS)), None)
    if python is not None:
        return (python, "-m", "pytest")
    if "pythonpath" in (options or ()):
        return ("pytest",)
    # nothing has installed the project, so its own code is found where it stands: beside the tests, or below src
    return ("pytest", "-o", f"pythonpath={'src .' if _has_src_layout(project) else '.'}")


def _has_src_layout(project: Project) -> bool:
    """Whether `src` holds packages or modules and is no package itself."""
    names = [name.split("/") for name in project.names(".py") if name.startswith("src/")]
    return bool(names) and not any(parts == ["src", "__init__.py"] for parts in names)


def _pytest_options(project: Project) -> Sequence[str] | None:
    """The keys of pytest's configuration, or None without one (pytest's documentation, Configuration file formats)."""
    tool = section(project.toml("pyproject.toml"), "tool", "pytest")
    found = [tool, section(tool or {}, "ini_options"), section(project.toml("pytest.toml"), "pytest")]
    for file, name in (("pytest.ini", "pytest"), ("tox.ini", "pytest"), ("setup.cfg", "tool:pytest")):
        found.append(project.ini(file).get(name) if project.has(file) else None)
    if project.has("pytest.ini", "pytest.toml"):
        found.append({})
    present = [options for options in found if options is not None]
    return [key for options in present for key in options] if present else None


def _python_types(project: Project) -> Argv | None:
    pyproject = project.toml("pyproject.toml")
    mypy = section(pyproject, "tool", "mypy")
    for file in ("mypy.ini", ".mypy.ini", "setup.cfg"):
        if mypy is None and project.has(file):
            mypy = project.ini(file).get("mypy")
    if mypy is not None:
        return (
            (_tool(project, "mypy"),) if {"files", "packages", "modules"} & set(mypy) else (_tool(project, "mypy"), ".")
        )
    if project.has("pyrightconfig.json") or section(pyproject, "tool", "pyright") is not None:
        return (_tool(project, "pyright"),)
    if project.has("ty.toml") or section(pyproject, "tool", "ty") is not None:
        return (_tool(project, "ty"), "check")
    project.missing("a configuration of mypy, pyright or ty")
    return None


def _python_lint(project: Project) -> Argv | None:
    if project.has("ruff.toml", ".ruff.toml") or section(project.toml("pyproject.toml"), "tool", "ruff") is not None:
        return (_tool(project, "ruff"), "check", _NO_FIX)
    project.missing("a configuration of ruff")
    return None


def ruff_unasked(project: Project, check: CheckName, finds: Callable[[str], bool]) -> Argv | None:
    """ruff for a Python project that has chosen no linter, where it is there to run: for errors, since nobody asked
    for a style. It is good for a look at a project, not for a verdict on a change.

    `finds` says which programs there are beside the tree's own."""
    if check != "lint":
        return None
    is_python = project.has("pyproject.toml", "setup.py", "setup.cfg", "requirements.txt")
    if is_python and not _lints_otherwise(project) and (project.tool(".venv/bin/ruff") or finds("ruff")):
        return (_tool(project, "ruff"), "check", _NO_FIX, "--select", "E4,E7,E9,F")
    project.missing("a Python project without another linter, and ruff installed")
    return None


def _tool(project: Project, name: str) -> str:
    return next(filter(None, (project.tool(f"{place}/bin/{name}") for place in ENVIRONMENTS)), name)


def needs(finder: Finder, check: CheckName, argv: Argv) -> str:
    """What a command needs installed: the tool in a Python project's environment, `node` for packages, or ""."""
    if finder in (_node, _node_above):
        return "node"
    if finder is not _python or check == "lint":
        return ""
    return "pytest" if check == "test" else argv[0].rpartition("/")[2]


def _lints_otherwise(project: Project) -> bool:
    tools = section(project.toml("pyproject.toml"), "tool") or {}
    files = (".flake8", ".pylintrc", "pylintrc", ".prospector.yaml")
    in_files = any("flake8" in project.ini(file) for file in ("setup.cfg", "tox.ini") if project.has(file))
    return in_files or project.has(*files) or bool({"flake8", "pylint", "pyflakes"} & set(tools))


def _go(project: Project, check: CheckName) -> Argv | None:
    if not project.has("go.mod"):
        project.missing("go.mod")
        return None
    if check == "lint" and project.has(".golangci.yml", ".golangci.yaml", ".golangci.toml", ".golangci.json"):
        return ("golangci-lint", "run", "--fix=false")
    # without -o a module of one program would have it written into the tree (`go help build`)
    return {
        "test": ("go", "test", "./..."),
        "typecheck": ("go", "build", "-o", "/dev/null", "./..."),
        "lint": ("go", "vet", "./..."),
    }[check]


def _rust(project: Project, check: CheckName) -> Argv | None:
    if not project.has("Cargo.toml"):
        project.missing("Cargo.toml")
        return None
    return {"test": ("cargo", "test"), "typecheck": ("cargo", "check", "--all-targets"), "lint": ("cargo", "clippy")}[
        check
    ]


def _make(project: Project, check: CheckName) -> Argv | None:
    return _target(
        project,
        check,
        ("GNUmakefile", "makefile", "Makefile"),
        ("make",),
        r"(?:[^\s:=#][^\n:=#]*[ ])?NAME(?:[ ][^\n:=]*)?::?(?!=)",
    )


def _just(project: Project, check: CheckName) -> Argv | None:
    return _target(project, check, ("justfile", ".justfile", "Justfile"), ("just",), r"@?NAME(?:[ \t][^\n:]*)?:(?!=)")


def _target(project: Project, check: CheckName, files: Argv, program: Argv, shape: str) -> Argv | None:
    """A target or recipe of one of the names at the start of a line in the first of the files that is there."""
    text = next((text for text in map(project.text, files) if text is not None), None)
    for name in SCRIPTS[check] if text else ():
        if re.search("^" + shape.replace("NAME", re.escape(name)), text or "", re.MULTILINE):
            return (*program, name)
    project.missing(f"a `{SCRIPTS[check][0]}` target in {files[-1] if program == ('make',) else files[0]}")
    return None


def _tox(project: Project, check: CheckName) -> Argv | None:
    sections = project.ini("tox.ini") if project.has("tox.ini") else {}
    for name in (*SCRIPTS[check], *_ALSO[check]):
        if f"testenv:{name}" in sections:
            return ("tox", "run", "-e", name)
    if check == "test" and sections.get("testenv", {}).get("commands"):
        return ("tox", "run")
    project.missing(f"a `testenv:{SCRIPTS[check][0]}` in tox.ini")
    return None


_SESSION = r"^@(?:nox\.)?session\b(?:\((?:[^()]|\([^()]*\))*\))?[ \t]*\n(?:@[^\n]*\n)*def NAME\("


def _nox(project: Project, check: CheckName) -> Argv | None:
    text = project.text("noxfile.py") or ""
    for name in (*SCRIPTS[check], *_ALSO[check]):
        named = re.search(rf"^@(?:nox\.)?session\([^)]*\bname=[\"']{re.escape(name)}[\"']", text, re.MULTILINE)
        if named or re.search(_SESSION.replace("NAME", re.escape(name)), text, re.MULTILINE):
            return ("nox", "-s", name)
    project.missing(f"a `{SCRIPTS[check][0]}` session in noxfile.py")
    return None


_ALSO: dict[CheckName, tuple[str, ...]] = {
    "test": ("tests", "py", "unit"),
    "typecheck": ("type", "types", "typing", "mypy"),
    "lint": ("linters", "ruff", "flake8"),
}
"""What tox and nox files commonly call them."""

_TARGETS: tuple[Finder, ...] = (_make, _just, _tox, _nox)
FINDERS: tuple[Finder, ...] = (_node, _python, _go, _rust, *_TARGETS)
GUESSES: tuple[Finder, ...] = (_node_above,)
"""What nobody asked for in so many words; it comes after all that somebody did."""
