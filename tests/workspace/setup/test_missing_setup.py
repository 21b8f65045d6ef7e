"""A project that is not set up is not tested with another interpreter: the check names what is missing, and how."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from bot.config import CheckPolicy, ChecksPolicy
from bot.model import CheckName, CheckResult, NeededSetup, ShellCommand
from bot.proc import base_python
from bot.workspace.checks.run_checks import run_checks
from bot.workspace.detect.detect import detect
from bot.workspace.sandbox.check_tools import Tools
from bot.workspace.sandbox.sandbox import open_sandbox
from bot.workspace.setup.missing_setup import needed_setup
from tests.machine import PATIENCE_S
from tests.workspace.real_projects import sources

ROOT = Path(__file__).parents[3]
PROJECT = '[project]\nname = "app"\nversion = "1"\n'
DEPENDS = f'{PROJECT}dependencies = ["cachetools"]\n[project.optional-dependencies]\ntest = ["pytest"]\n'
TRACE = "open('ran', 'w').write('ran')\n\n\ndef test_it():\n    import cachetools\n"
PIP = "python3 -m venv .venv && .venv/bin/python -m pip install"


async def checked(
    tree: Path, *checks: CheckName, mode: Any = "auto", policy: ChecksPolicy | None = None
) -> CheckResult:
    sandbox = await open_sandbox(mode, ())
    return (await run_checks(tree, checks or ("test",), sandbox=sandbox, policy=policy)).results[0]


def needs(tree: Path, check: CheckName = "test", near: tuple[str, ...] = ()) -> NeededSetup | None:
    command = detect(tree, check, ChecksPolicy(), near)
    assert isinstance(command, ShellCommand), command
    return needed_setup(tree, command, lambda tool: False)


def lacking(item: CheckResult) -> NeededSetup | None:
    return item.could_not_run.setup if item.could_not_run else None


def command_for(tree: Path, check: CheckName = "test") -> str:
    needed = needs(tree, check)
    return needed.command if needed else "nothing is needed"


@pytest.mark.parametrize("mode", ["auto", "none"])
async def test_declared_dependencies_that_are_not_installed_are_named_and_nothing_runs(
    tmp_path: Path, mode: str
) -> None:
    sources(tmp_path, {"pyproject.toml": DEPENDS, "test_app.py": TRACE})
    item = await checked(tmp_path, mode=mode)
    setup = f"{PIP} -e '.[test]'"
    assert (item.passed, item.exit_code, item.classification) == (False, None, "runtime")
    assert lacking(item) == NeededSetup(because="dependencies", what="pyproject.toml", command=setup)
    assert item.error == (
        f"could not run: `pyproject.toml` declares dependencies that are not installed. "
        f"Run `{setup}`. Mendbot's runs install automatically; if they fail, "
        "set it as `setup` in `.github/mendbot.yml`."
    )
    assert sorted(path.name for path in tmp_path.iterdir()) == ["pyproject.toml", "test_app.py"]


def test_the_command_line_names_the_setup_once_and_fails(tmp_path: Path) -> None:
    sources(tmp_path, {"pyproject.toml": DEPENDS, "test_app.py": TRACE})
    for args in ([], ["--json"]):
        command = [sys.executable, "-m", "bot", "check", ".", "--check", "test", *args]
        done = subprocess.run(
            command, cwd=tmp_path, env=None, capture_output=True, text=True, timeout=PATIENCE_S, check=False
        )
        assert done.returncode == 1, done
        if args:
            result = json.loads(done.stdout)
            assert (result["attempt"], result["results"][0]["could_not_run"]["setup"]["because"]) == (1, "dependencies")
        else:
            assert done.stdout.startswith("✗ test: did not run\n`pyproject.toml` declares dependencies")


async def test_lint_needs_no_dependencies(tmp_path: Path) -> None:
    sources(
        tmp_path,
        {
            "pyproject.toml": f"{DEPENDS}[tool.ruff]\n[tool.mypy]\n",
            "app.py": "import cachetools\n\nprint(cachetools)\n",
        },
    )
    assert (await checked(tmp_path, "lint")).passed
    assert lacking(await checked(tmp_path, "typecheck")) is not None


async def test_a_command_of_the_repositorys_own_is_run_as_it_says(tmp_path: Path) -> None:
    sources(tmp_path, {"pyproject.toml": DEPENDS, "test_app.py": TRACE})
    assert (await checked(tmp_path, policy=ChecksPolicy(test=CheckPolicy(command="echo mine")))).passed


@pytest.mark.parametrize(
    ("files", "what"),
    [
        ({"pyproject.toml": f'{PROJECT}dependencies = ["httpx"]\n'}, "pyproject.toml"),
        ({"pyproject.toml": f'{PROJECT}[project.optional-dependencies]\ndocs = ["sphinx"]\n'}, "pyproject.toml"),
        ({"pyproject.toml": f'{PROJECT}[dependency-groups]\ndev = ["pytest", "hypothesis"]\n'}, "pyproject.toml"),
        ({"pyproject.toml": f'{PROJECT}[dependency-groups]\ndev = ["pytest<8"]\n'}, "pyproject.toml"),
        ({"pyproject.toml": f'{PROJECT}dynamic = ["dependencies"]\n'}, "pyproject.toml"),
        ({"pyproject.toml": '[tool.poetry.dependencies]\npython = "^3.11"\nhttpx = "*"\n'}, "pyproject.toml"),
        ({"pyproject.toml": '[tool.poetry.group.dev.dependencies]\nhypothesis = "*"\n'}, "pyproject.toml"),
        ({"requirements.txt": "# nothing\nhttpx==1  # one\n"}, "requirements.txt"),
        ({"requirements-dev.txt": "pytest\nhypothesis\n"}, "requirements-dev.txt"),
        ({"requirements-dev.txt": "pytest\n"}, None),
        ({"pyproject.toml": f'{PROJECT}[dependency-groups]\ndev = ["pytest>=8", "ruff"]\n'}, None),
        ({"dev-requirements.txt": "-r other.txt\n"}, "dev-requirements.txt"),
        ({"setup.cfg": "[options]\ninstall_requires =\n  httpx\n"}, "setup.cfg"),
        ({"setup.py": "from setuptools import setup\nsetup()\n"}, "setup.py"),
        ({"Pipfile": '[packages]\nhttpx = "*"\n'}, "Pipfile"),
        ({"pyproject.toml": PROJECT}, None),
        ({"pyproject.toml": f"{PROJECT}dependencies = []\n[dependency-groups]\ndev = []\n"}, None),
        ({"pyproject.toml": '[tool.poetry.dependencies]\npython = "^3.11"\n'}, None),
        ({"pyproject.toml": '[build-system]\nrequires = ["hatchling"]\n'}, None),
        ({"pyproject.toml": "[project\n"}, None),
        ({"requirements.txt": "# nothing yet\n\n--index-url x\n"}, None),
        ({"docs/requirements.txt": "sphinx\n"}, None),
        ({"setup.cfg": "[options]\ninstall_requires =\n[flake8]\n"}, None),
        ({"Pipfile": "[packages]\n"}, None),
    ],
)
def test_what_declares_dependencies(tmp_path: Path, files: dict[str, str], what: str | None) -> None:
    needed = needs(sources(tmp_path, {"test_app.py": "", **files}))
    assert (needed.what if needed else None) == what


@pytest.mark.parametrize(
    ("files", "command"),
    [
        ({"pyproject.toml": DEPENDS, "uv.lock": ""}, "uv sync --extra test"),
        ({"pyproject.toml": f'{DEPENDS}[dependency-groups]\ndev = ["mypy"]\n[tool.uv]\n[tool.mypy]\n'},
         "uv sync --extra test && uv pip install mypy"),
        ({"pyproject.toml": f'{PROJECT}dependencies = ["httpx"]\n', "uv.lock": ""}, "uv sync && uv pip install pytest"),
        ({"pyproject.toml": '[tool.poetry.group.test.dependencies]\npytest = "*"\nmock = "*"\n', "poetry.lock": ""},
         "POETRY_VIRTUALENVS_IN_PROJECT=1 poetry install --with test"),
        ({"pyproject.toml": DEPENDS, "pdm.lock": ""}, "pdm install --group test"),
        ({"Pipfile": '[packages]\nhttpx = "*"\n'},
         "PIPENV_VENV_IN_PROJECT=1 pipenv install --dev && pipenv run pip install pytest"),
        ({"Pipfile": '[dev-packages]\npytest = "*"\n'}, "PIPENV_VENV_IN_PROJECT=1 pipenv install --dev"),
        ({"requirements.txt": "httpx\n"}, f"{PIP} -r requirements.txt pytest"),
        ({"requirements.txt": "httpx\n", "requirements-dev.txt": "pytest>=8\n", "mypy.ini": "[mypy]\n"},
         f"{PIP} -r requirements-dev.txt -r requirements.txt mypy"),
        ({"setup.py": "", "setup.cfg": "[options.extras_require]\ntest = pytest\n"}, f"{PIP} -e '.[test]'"),
        ({"pyproject.toml": f'{PROJECT}[dependency-groups]\ntest = ["pytest", "mock"]\n'},
         f"{PIP} --upgrade pip && .venv/bin/python -m pip install -e . --group test"),
        # setuptools refuses to build what has several directories at its top and names no packages
        ({"pyproject.toml": f'{PROJECT}dependencies = ["httpx"]\n', "app/a.py": "", "migrations/b.py": ""},
         f"{PIP} httpx pytest"),
    ],
)  # fmt: skip
def test_the_setup_command_is_the_package_managers_own(tmp_path: Path, files: dict[str, str], command: str) -> None:
    assert command_for(sources(tmp_path, {"test_app.py": "", **files})) == command


@pytest.mark.parametrize(
    ("files", "package"),
    [
        ({"pyproject.toml": '[project]\nname = "Packaging"\n'}, "packaging"),
        ({"setup.cfg": "[metadata]\nname = mypy_extensions\n"}, "mypy-extensions"),
        ({"src/pluggy/__init__.py": ""}, "pluggy"),
        ({"src/_pytest/__init__.py": ""}, "pytest"),
        ({"typing_extensions.py": ""}, "typing-extensions"),
        ({"pyproject.toml": '[project]\nname = "cachetools"\n', "src/cachetools/__init__.py": ""}, None),
        ({"packaging/debian/rules": ""}, None),
    ],
)
def test_a_namesake_of_our_tools_needs_an_environment(
    tmp_path: Path, files: dict[str, str], package: str | None
) -> None:
    needed = needs(sources(tmp_path, {"test_app.py": "", **files}))
    assert (needed.what if needed else None) == package
    assert needed is None or needed.because == "name"


def environment(tree: Path, name: str = ".venv", *, tools: bool = True) -> Path:
    """A real virtual environment in the tree, with what the tools' directory holds, as its own installation."""
    place = tree / name
    subprocess.run([str(base_python()), "-m", "venv", "--without-pip", place], check=True, timeout=PATIENCE_S)
    (own,) = place.glob("lib/python*/site-packages")
    found = Tools().directory()
    assert found is not None
    if tools:
        (theirs,) = found.glob("lib/python*/site-packages")
        shutil.copytree(theirs, own, dirs_exist_ok=True)
        for tool in ("pytest", "mypy"):
            shutil.copy2(found / "bin" / tool, place / "bin" / tool)
    (own / "cachetools.py").write_text("WHERE = __file__\n")
    return place


@pytest.mark.parametrize("name", [".venv", "venv"])
async def test_its_own_environment_is_used(tmp_path: Path, name: str) -> None:
    test = f"import cachetools\nimport sys\n\n\ndef test_it():\n    assert '/{name}/' in cachetools.WHERE\n"
    test += f"    assert sys.prefix.endswith('/{name}')\n"
    sources(tmp_path, {"pyproject.toml": DEPENDS, "test_app.py": test})
    environment(tmp_path, name)
    item = await checked(tmp_path)
    assert item.passed, item.output
    assert item.command == "python -m pytest"


async def test_an_environment_without_the_tool_is_named(tmp_path: Path) -> None:
    sources(tmp_path, {"pyproject.toml": DEPENDS, "test_app.py": TRACE})
    environment(tmp_path, tools=False)
    item = await checked(tmp_path)
    assert lacking(item) == NeededSetup(because="tool", what="pytest", place=".venv", command=f"{PIP} -e '.[test]'")
    assert (item.error or "").startswith("could not run: The environment `.venv` has no `pytest`. Run `")
    assert not (tmp_path / "ran").exists()


def test_an_environment_that_came_after_the_command_was_chosen_counts(tmp_path: Path) -> None:
    """Runs choose their commands before set-up."""
    sources(tmp_path, {"pyproject.toml": DEPENDS, "test_app.py": "import cachetools\n\n\ndef test_it():\n    pass\n"})
    command = detect(tmp_path, "test", ChecksPolicy())
    assert isinstance(command, ShellCommand)
    assert needed_setup(tmp_path, command, lambda tool: False) is not None
    environment(tmp_path)
    assert needed_setup(tmp_path, command, lambda tool: False) is None


def test_a_toolchain_of_the_operators_answers_for_itself(tmp_path: Path) -> None:
    sources(tmp_path, {"pyproject.toml": DEPENDS, "test_app.py": ""})
    command = detect(tmp_path, "test", ChecksPolicy())
    assert isinstance(command, ShellCommand)
    assert needed_setup(tmp_path, command, lambda tool: tool == "pytest") is None


def package(**more: Any) -> str:
    return json.dumps({"scripts": {"test": "echo ran > ran", "lint": "eslint ."}, **more})


DEV = {"devDependencies": {"vitest": "^4"}}


@pytest.mark.parametrize(
    ("files", "command"),
    [
        ({"package-lock.json": "{}"}, "npm ci"),
        ({}, "npm install"),
        ({"pnpm-lock.yaml": ""}, "pnpm install --frozen-lockfile"),
        ({"yarn.lock": ""}, "yarn install --frozen-lockfile"),
        ({"yarn.lock": "", ".yarnrc.yml": ""}, "yarn install --immutable"),
        ({"bun.lock": ""}, "bun install --frozen-lockfile"),
    ],
)
async def test_packages_of_node_that_are_not_installed_are_named_and_nothing_runs(
    tmp_path: Path, files: dict[str, str], command: str
) -> None:
    sources(tmp_path, {"package.json": package(**DEV), **files})
    item = await checked(tmp_path)
    assert lacking(item) == NeededSetup(because="dependencies", what="package.json", command=command)
    assert f"Run `{command}`" in (item.error or "")
    assert not (tmp_path / "ran").exists()
    assert needs(tmp_path, "lint") == lacking(item)


async def test_node_without_dependencies_or_with_its_packages_runs(tmp_path: Path) -> None:
    assert (await checked(sources(tmp_path / "plain", {"package.json": package()}))).passed
    assert (
        await checked(sources(tmp_path / "set-up", {"package.json": package(**DEV), "node_modules/.keep": ""}))
    ).passed
    assert needs(sources(tmp_path / "pnp", {"package.json": package(**DEV), ".pnp.cjs": ""})) is None


def test_in_a_monorepo_setup_runs_where_the_lock_file_is(tmp_path: Path) -> None:
    sources(
        tmp_path,
        {
            "package.json": json.dumps({"private": True, "devDependencies": {"turbo": "2"}}),
            "pnpm-lock.yaml": "",
            "apps/web/package.json": package(),
            "apps/my api/pyproject.toml": DEPENDS,
            "apps/my api/test_api.py": "",
        },
    )
    web, api = needs(tmp_path, near=("apps/web",)), needs(tmp_path, near=("apps/my api",))
    assert web == NeededSetup(because="dependencies", what="package.json", command="pnpm install --frozen-lockfile")
    assert api is not None
    assert (api.what, api.command) == ("apps/my api/pyproject.toml", f"cd 'apps/my api' && {PIP} -e '.[test]'")
