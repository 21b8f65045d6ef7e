"""Python projects are set up as they say: each kind ends in `.venv`, and no project's code has the network."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from bot.config import ChecksPolicy
from bot.model import CheckName, ShellCommand
from bot.model.setups import SetupPlan
from bot.workspace.checks.step import run_step
from bot.workspace.detect.detect import detect
from bot.workspace.sandbox.bubblewrap import SandboxGrant
from bot.workspace.sandbox.sandbox import open_sandbox
from bot.workspace.setup.install import Installed, install
from bot.workspace.setup.plan import plan_setup
from tests.machine import PATIENCE_S
from tests.workspace.real_projects import sources

PROJECT = '[project]\nname = "app"\nversion = "1"\n'
BACKEND = '[build-system]\nrequires = ["flit_core"]\nbuild-backend = "flit_core.buildapi"\n'
USES = "import iniconfig\n\n\ndef test_it():\n    assert iniconfig.IniConfig\n"


def plan(tree: Path, files: dict[str, str]) -> SetupPlan:
    return plan_setup(sources(tree, {"test_app.py": USES, **files}))


def words(tree: Path, files: dict[str, str]) -> str:
    """The line of the first step that installs."""
    first = plan(tree, files).steps[0]
    text = first.run if isinstance(first.run, str) else " ".join(first.run)
    return (
        next(line for line in text.splitlines() if line.startswith("install "))
        .removeprefix("install ")
        .removesuffix(" ||")
        .replace(" -- ", " ")
    )


async def carried_out(tree: Path, toolchains: tuple[Path, ...] = ()) -> Installed:
    sandbox = await open_sandbox("auto", toolchains)
    return await install(plan_setup(tree), tree, sandbox, grant=SandboxGrant(), cache=None, mask=lambda text: text)


def said(installed: Installed) -> str:
    return "\n".join(done.result.output.decode() for done in installed.steps if done.result is not None)


async def passes(tree: Path, check: CheckName = "test") -> str:
    """The command of the check, which has to pass in the sandbox."""

    command = detect(tree, check, ChecksPolicy())
    assert isinstance(command, ShellCommand), command
    ended = await run_step(
        check, command, tree, await open_sandbox("auto", ()), grant=SandboxGrant(), mask=lambda text: text
    )
    assert ended.step.passed, ended.log.decode()
    return command.text


DEPENDS = f'{PROJECT}dependencies = ["iniconfig"]\n'
EXTRAS = f"{DEPENDS}[project.optional-dependencies]\n"
HATCH = '[build-system]\nrequires = ["hatchling"]\nbuild-backend = "hatchling.build"\n'
GROUPS = 'tests = [{include-group = "base"}, "mock"]\nbase = ["iniconfig"]\ndev = ["sphinx"]\n'
PYTEST = '[tool.pytest.ini_options]\naddopts = "--cov -n auto"\ntimeout = 3\n'
HOOK = "- repo: https://github.com/pre-commit/mirrors-mypy\n  rev: v1.11.2\n"
OPTIONS = "[options]\ninstall_requires =\n  iniconfig\n[options.extras_require]\ntests =\n  mock\n"
SCRIPT = "NEEDS = ['iniconfig']\nsetup(install_requires=NEEDS + ['mock'], tests_require=['x'])\n"
SESSION = '@nox.session\ndef tests(session):\n    session.install("-e", ".[x]", "mock")\n'
TOX = "[testenv]\nextras = x\ndeps =\n  pytest-cov\n"
POETRY = (
    '[tool.poetry]\nname = "app"\n[tool.poetry.dependencies]\npython = "^3.10"\niniconfig = "^2.0"\n'
    '[tool.poetry.group.test.dependencies]\nmock = {version = "~5.1", extras = ["a"]}\n'
    '[build-system]\nrequires = ["poetry-core"]\n'
)
LISTS = {
    "requirements.txt": "iniconfig==2.0.0 --hash=sha256:12\n",
    "requirements/test.txt": "-r shared.in\npytest>=7\n",
    "requirements/shared.in": "mock\n",
    "requirements/docs.txt": "sphinx\n",
}


@pytest.mark.parametrize(
    ("files", "installed"),
    [
        (f'{EXTRAS}test = ["mock"]\ndocs = ["sphinx"]\n{BACKEND}', "iniconfig pytest flit_core mock"),
        (f'{EXTRAS}Dev = ["app[unit]"]\nunit = ["mock"]\n{BACKEND}', "iniconfig pytest flit_core mock"),
        (f"{PROJECT}[dependency-groups]\n{GROUPS}{BACKEND}", "pytest flit_core iniconfig mock"),
        (f"{DEPENDS}{PYTEST}{BACKEND}", "iniconfig pytest flit_core pytest-timeout pytest-cov pytest-xdist"),
        (f'{DEPENDS}[tool.hatch.envs.hatch-test]\nextra-dependencies = ["mock"]\n{HATCH}',
         "iniconfig pytest hatchling editables mock"),
        (POETRY, "'iniconfig>=2.0,<3' pytest poetry-core 'mock[a]>=5.1,<5.2'"),
        ({"pyproject.toml": f'{EXTRAS}x = ["mock"]\n{BACKEND}', "tox.ini": TOX},
         "iniconfig pytest flit_core mock pytest-cov"),
        ({"pyproject.toml": f"{DEPENDS}[tool.mypy]\n{BACKEND}", ".pre-commit-config.yaml": HOOK},
         "iniconfig pytest flit_core mypy==1.11.2"),
        (LISTS, "iniconfig==2.0.0 'pytest>=7' mock"),
        ({"setup.cfg": f"[metadata]\nname = app\n{OPTIONS}"}, "iniconfig pytest setuptools wheel mock"),
        ({"setup.py": f"from setuptools import setup\n{SCRIPT}"}, "iniconfig mock pytest setuptools wheel x"),
        ({"pyproject.toml": f'{EXTRAS}x = ["toml"]\n{BACKEND}', "noxfile.py": SESSION},
         "iniconfig pytest flit_core toml mock"),
        ({"Pipfile": '[packages]\niniconfig = "==2.0.0"\n[dev-packages]\nmock = "*"\n'},
         "iniconfig==2.0.0 pytest mock"),
    ],
)  # fmt: skip
def test_what_is_installed_is_what_the_project_says(
    tmp_path: Path, files: str | dict[str, str], installed: str
) -> None:
    assert words(tmp_path, {"pyproject.toml": files} if isinstance(files, str) else files) == installed


def test_only_the_wheels_have_the_network_and_only_they_are_shared(tmp_path: Path) -> None:
    wheels, itself = plan(tmp_path, {"pyproject.toml": f'{PROJECT}dependencies = ["iniconfig"]\n{BACKEND}'}).steps
    assert (wheels.network, wheels.shared, wheels.products, wheels.reads) == (
        True,
        True,
        (".venv",),
        ("pyproject.toml",),
    )
    assert (itself.network, itself.shared, itself.products, itself.optional) == (False, False, (), True)


@pytest.mark.parametrize(
    "asked",
    [
        "app @ git+https://github.com/o/app",
        "./libs/app",
        "-e ../app",
        "--index-url https://x.example",
        "--no-binary=:all:",
        "https://x.example/app.tar.gz",
        "app; $(touch ran)",
        "app --config-settings=x",
    ],
)
def test_what_pip_would_build_or_take_for_an_option_is_left_out(tmp_path: Path, asked: str) -> None:
    install = words(tmp_path, {"requirements.txt": f"iniconfig\n{asked}\n"})
    assert install == "iniconfig pytest"


@pytest.mark.parametrize(
    "files",
    [
        {"pyproject.toml": PROJECT},
        {"pyproject.toml": f'{PROJECT}[dependency-groups]\ndev = ["pytest>=7"]\n', "app.py": ""},
        {"tox.ini": "[testenv]\ncommands = pytest\n"},
        {"pyproject.toml": "[project\n"},
    ],
)
def test_nothing_is_set_up_that_needs_nothing_or_is_set_up(tmp_path: Path, files: dict[str, str]) -> None:
    assert plan(tmp_path, files) == SetupPlan()


@pytest.mark.parametrize("name", [".venv", "venv"])
def test_an_environment_that_is_there_is_left_as_it_is(tmp_path: Path, name: str) -> None:
    sources(
        tmp_path, {"pyproject.toml": f'{PROJECT}dependencies = ["iniconfig"]\n', f"{name}/bin/python": "#!/bin/sh\n"}
    )
    (tmp_path / name / "bin/python").chmod(0o755)
    assert plan(tmp_path, {}) == SetupPlan()


async def test_a_lock_file_of_poetry_pins_what_is_installed(tmp_path: Path) -> None:
    lock = '[[package]]\nname = "iniconfig"\nversion = "2.0.0"\n'
    poetry = '[tool.poetry.dependencies]\niniconfig = "*"\n'
    sources(tmp_path, {"test_app.py": USES, "pyproject.toml": poetry, "poetry.lock": lock})
    assert (await carried_out(tmp_path)).failed is None
    assert list(tmp_path.glob(".venv/lib/python*/site-packages/iniconfig-2.0.0.dist-info"))
    assert await passes(tmp_path) == "python -m pytest"


async def test_a_project_of_pip_is_installed_itself_and_its_code_has_no_network(tmp_path: Path) -> None:
    """The package's own build backend runs; it looks for the network and says what it found."""
    backend = (
        "import os, socket\nfrom flit_core.buildapi import *\nfrom flit_core import buildapi\n\n"
        "def build_editable(*args, **kwargs):\n"
        "    open('network', 'w').write(str(sorted(name for _, name in socket.if_nameindex())))\n"
        "    return buildapi.build_editable(*args, **kwargs)\n"
    )
    pyproject = (
        f'{PROJECT}description = "x"\ndependencies = ["iniconfig"]\n[project.scripts]\nsay = "app:say"\n'
        '[build-system]\nrequires = ["flit_core"]\nbuild-backend = "backend"\nbackend-path = ["tools"]\n'
    )
    test = "import subprocess\n\ndef test_it():\n    assert subprocess.check_output(['say']) == b'said\\n'\n"
    sources(
        tmp_path,
        {
            "pyproject.toml": pyproject,
            "tools/backend.py": backend,
            "src/app.py": "import iniconfig\n\ndef say():\n    print('said')\n",
            "tests/test_app.py": test,
            "venv.py": "open('ran', 'w')\n",
            "pip.py": "open('ran', 'w')\n",
        },
    )
    done = await carried_out(tmp_path)
    assert all(step.passed for step in done.steps), said(done)
    assert (tmp_path / "network").read_text() == "['lo']"
    assert not (tmp_path / "ran").exists(), "modules of the tree are not the installer's"
    assert await passes(tmp_path) == "python -m pytest"
    assert not any(str(tmp_path).encode() in path.read_bytes() for path in tmp_path.glob(".venv/lib/**/pip/**/*.pyc"))


async def test_what_exists_only_as_source_fails_with_its_name_and_the_remedy(tmp_path: Path) -> None:
    sources(tmp_path, {"test_app.py": USES, "requirements.txt": "docopt==0.6.2\n"})
    done = await carried_out(tmp_path)
    assert done.failed is not None
    output = said(done)
    assert "docopt==0.6.2" in output
    assert "set `setup` in .github/mendbot.yml, for example to `python3 -m venv .venv &&" in output


async def test_what_only_the_tests_use_does_not_sink_the_rest(tmp_path: Path) -> None:
    lists = {"requirements.txt": "iniconfig\n", "requirements-test.txt": "docopt==0.6.2\nmock\n"}
    sources(tmp_path, {"test_app.py": f"import mock\n{USES}", **lists})
    done = await carried_out(tmp_path)
    assert done.failed is None, said(done)
    assert "Left out, as no wheel of it fits: docopt==0.6.2" in said(done)
    assert await passes(tmp_path) == "python -m pytest"


async def test_a_python_that_is_too_old_is_named(tmp_path: Path) -> None:
    sources(tmp_path, {"test_app.py": USES, "pyproject.toml": f'{EXTRAS}requires-python = ">=3.19"\n'})
    text = (tmp_path / "pyproject.toml").read_text().replace("[project.optional-dependencies]\n", "")
    (tmp_path / "pyproject.toml").write_text(text)
    done = await carried_out(tmp_path)
    assert done.failed is not None
    assert "This project needs Python >=3.19, and there is none here. Install one" in said(done)


async def test_a_version_that_git_would_say_is_guessed_where_git_is_not_there(tmp_path: Path) -> None:
    build = HATCH.replace('"hatchling"', '"hatchling", "hatch-vcs"', 1) + "[tool.hatch.version]\n"
    test = "from importlib.metadata import version\n\ndef test_it():\n    assert version('app') == '24.3.1'\n"
    files = {
        "pyproject.toml": f'[project]\nname = "app"\ndynamic = ["version"]\n{build}source = "vcs"\n',
        "CHANGELOG.md": "# Changes\n\n## 24.3.1 (unreleased)\n",
        "src/app/__init__.py": "",
        "tests/test_app.py": test,
    }
    sources(tmp_path, files)
    done = await carried_out(tmp_path)
    assert all(step.passed for step in done.steps), said(done)
    assert await passes(tmp_path) == "python -m pytest"


async def test_several_directories_at_the_top_are_found_where_they_stand(tmp_path: Path) -> None:
    """setuptools refuses such a project."""
    pyproject = f'{PROJECT}dependencies = ["iniconfig"]\n'
    sources(tmp_path, {"pyproject.toml": pyproject, "app/a.py": "import iniconfig\n", "other/b.py": ""})
    sources(tmp_path, {"tests/test_app.py": "import app.a\n\ndef test_it():\n    pass\n"})
    (step,) = plan_setup(tmp_path).steps
    assert step.shared
    done = await carried_out(tmp_path)
    assert done.failed is None, said(done)
    await passes(tmp_path)


@pytest.fixture(scope="session")
def uv(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A toolchain with uv alone."""
    place = tmp_path_factory.mktemp("uv")
    subprocess.run([sys.executable, "-m", "venv", place / "env"], check=True, timeout=PATIENCE_S)
    pip = [place / "env/bin/python", "-m", "pip", "install", "-q", "uv"]
    subprocess.run(pip, check=True, timeout=PATIENCE_S)
    (place / "bin").mkdir()
    shutil.copy2(place / "env/bin/uv", place / "bin/uv")
    return place


async def test_a_lock_file_of_uv_is_installed_by_uv(tmp_path: Path, uv: Path) -> None:
    pyproject = (
        f'{PROJECT}requires-python = ">=3.9"\ndependencies = ["iniconfig", "lib"]\n{BACKEND}'
        '[dependency-groups]\ntest = ["mock"]\n[tool.uv.workspace]\nmembers = ["libs/*"]\n'
        "[tool.uv.sources]\nlib = {workspace = true}\n[tool.mypy]\n"
    ).replace('version = "1"', 'version = "1"\ndescription = "x"')
    member = PROJECT.replace("app", "lib") + f'description = "x"\ndependencies = ["packaging"]\n{BACKEND}'
    sources(
        tmp_path,
        {
            "pyproject.toml": pyproject,
            "src/app/__init__.py": "import lib\nimport iniconfig\nimport mock\n",
            "libs/lib/pyproject.toml": member,
            "libs/lib/src/lib/__init__.py": "import packaging\n",
            "tests/test_app.py": "import app\n\ndef test_it():\n    pass\n",
        },
    )
    subprocess.run([uv / "bin/uv", "lock", "-q"], cwd=tmp_path, check=True, timeout=PATIENCE_S)
    wheels, itself = plan_setup(tmp_path).steps
    assert [program.name for program in (*wheels.programs, *itself.programs)] == ["uv", "uv"]
    assert {"uv.lock", "pyproject.toml", "libs/lib/pyproject.toml"} <= set(wheels.reads)
    done = await carried_out(tmp_path, (uv,))
    assert all(step.passed for step in done.steps), said(done)
    assert await passes(tmp_path) == "python -m pytest"


@pytest.mark.parametrize(
    ("files", "command"),
    [
        ({"Makefile": "test:\n\ttox\n"}, "pytest"),
        ({"Makefile": "install:\n\ttrue\ntest: install\n\tpytest\n"}, "pytest"),
        ({"justfile": "test:\n  uv run pytest\n"}, "pytest"),
        ({"justfile": "test:\n  python -m unittest\n"}, "just"),
        ({"tox.ini": "[testenv]\ncommands = pytest\n"}, "pytest"),
        ({"noxfile.py": "@nox.session\ndef tests(session): ...\n"}, "pytest"),
    ],
)
def test_a_way_to_run_tests_that_needs_the_network_loses(tmp_path: Path, files: dict[str, str], command: str) -> None:
    found = detect(sources(tmp_path, {"tests/test_app.py": "", **files}), "test", ChecksPolicy())
    assert isinstance(found, ShellCommand)
    assert found.run[0] == command


@pytest.mark.parametrize(
    ("files", "command"),
    [
        ({"src/app/__init__.py": "", "src/app/deep/__init__.py": "", "tests/__init__.py": ""}, "mypy src/app"),
        ({"app/__init__.py": "", "tests/__init__.py": "", "docs/conf.py": "", "examples/__init__.py": ""}, "mypy app"),
        ({"src/app.py": ""}, "mypy src"),
        ({"app.py": ""}, "mypy ."),
    ],
)
def test_mypy_without_files_of_its_own_looks_at_the_packages(
    tmp_path: Path, files: dict[str, str], command: str
) -> None:
    sources(tmp_path, {"pyproject.toml": f"{PROJECT}[tool.mypy]\nstrict = true\n", **files})
    found = detect(tmp_path, "typecheck", ChecksPolicy())
    assert isinstance(found, ShellCommand)
    assert found.text == command
