"""The tools apart from the bot's packages: what a project without an environment is checked with, how they are made."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import signal
import subprocess
import sys
import time
import zipfile
from pathlib import Path
from typing import Any

import pytest

from bot.app.home import claim_home
from bot.errors import ConfigError
from bot.model import RunChecksResult
from bot.proc import base_python
from bot.workspace.checks.run_checks import run_checks
from bot.workspace.sandbox import check_tools
from bot.workspace.sandbox.check_tools import TOOLS, Tools, make_tools, prepared_directory, tools_digest
from bot.workspace.sandbox.sandbox import open_sandbox
from tests.machine import PATIENCE_S
from tests.workspace.real_projects import sources

ROOT = Path(__file__).parents[3]
OURS = ("pydantic", "starlette", "cachetools", "httpx2", "alembic", "bot")
PLAIN = {"pyproject.toml": '[project]\nname = "plain"\nversion = "1"\n', "plain.py": "def one():\n    return 1\n"}
PASSES = "from plain import one\n\n\ndef test_one():\n    assert one() == 1\n"
MAKE = """
import asyncio, sys
from pathlib import Path
from bot.workspace.sandbox import check_tools
check_tools.LOCK = Path(sys.argv[2])
asyncio.run(check_tools.make_tools(Path(sys.argv[1])))
"""


async def checked(tree: Path, mode: Any = "auto", *names: str) -> RunChecksResult:
    return await run_checks(tree, names or ["test"], max_attempts=1, sandbox=await open_sandbox(mode, ()))


@pytest.mark.parametrize("mode", ["auto", "none"])
async def test_a_project_without_dependencies_is_tested_without_the_bots_packages(
    tmp_path: Path, mode: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    # as whoever has activated the bot's environment has it; the project's code is beside the tests
    monkeypatch.setenv("PATH", f"{Path(sys.prefix) / 'bin'}{os.pathsep}/usr/local/bin:/usr/bin:/bin")
    monkeypatch.setenv("VIRTUAL_ENV", sys.prefix)
    refused = f"import importlib, os\nimport pytest\n\n\n@pytest.mark.parametrize('name', {OURS})\ndef test_it(name):\n"
    refused += "    assert 'VIRTUAL_ENV' not in os.environ\n"
    refused += "    with pytest.raises(ImportError):\n        importlib.import_module(name)\n"
    sources(tmp_path, {**PLAIN, "test_plain.py": PASSES, "test_apart.py": refused})
    (item,) = (await checked(tmp_path, mode)).results
    assert item.passed, item.output
    assert f"{len(OURS) + 1} passed" in item.output


async def test_in_the_sandbox_the_bots_environment_is_not_there(tmp_path: Path) -> None:
    look = "import os, sys\n\n\ndef test_it():\n"
    look += f"    assert not os.path.exists({str(Path(sys.prefix) / 'pyvenv.cfg')!r})\n"
    look += f"    assert {sys.prefix + '/bin'!r} not in os.environ['PATH'].split(':')\n"
    (item,) = (await checked(sources(tmp_path, {"test_look.py": look}), "bubblewrap")).results
    assert item.passed, item.output


@pytest.mark.parametrize("mode", ["auto", "none"])
async def test_a_src_layout_imports_its_own_code(tmp_path: Path, mode: str) -> None:
    names = ("click", "cachetools", "starlette")
    own = "import {0}\nimport tests.helpers\n\n\ndef test_own():\n    assert {0}.OWN\n"
    files = {
        "pyproject.toml": '[project]\nname = "click"\nversion = "1"\n',
        "tests/helpers.py": "",
        **{f"src/{name}/__init__.py": "OWN = True\n" for name in names},
        **{f"tests/test_{name}.py": own.format(name) for name in names},
    }
    (item,) = (await checked(sources(tmp_path, files), mode)).results
    assert item.passed, item.output
    assert item.command == "pytest -o 'pythonpath=src .'"
    assert "3 passed" in item.output


class Bare:
    """The bot in an environment for which nothing was prepared, as an ordinary installation is."""

    def __init__(self, place: Path) -> None:
        self.home, self.tree, venv = place / "home", place / "tree", place / "bare"
        subprocess.run([str(base_python()), "-m", "venv", "--without-pip", venv], check=True, timeout=PATIENCE_S)
        self.python = venv / "bin" / "python"
        programs = place / "programs"
        programs.mkdir()
        for name in ("git", "make", "sh", "true"):
            (programs / name).symlink_to(shutil.which(name) or "")
        packages = next(Path(sys.prefix).glob("lib/python*/site-packages"))
        self.env = {
            **{name: value for name, value in os.environ.items() if not name.startswith(("MENDBOT_", "PYTEST"))},
            "PATH": str(programs),
            "MENDBOT_SANDBOX": "none",
            "PYTHONPATH": f"{ROOT}{os.pathsep}{packages}",
            "MENDBOT_HOME": str(self.home),
        }

    def check(self, *args: str, **env: str) -> subprocess.CompletedProcess[str]:
        """With an empty PATH but for git and a shell: whatever this machine has of pytest is not found."""
        command = [str(self.python), "-m", "bot", "check", str(self.tree), *args]
        return subprocess.run(
            command, env={**self.env, **env}, capture_output=True, text=True, timeout=PATIENCE_S * 3, check=False
        )


@pytest.fixture
def bare(tmp_path: Path) -> Bare:
    machine = Bare(tmp_path)
    sources(machine.tree, {**PLAIN, "test_plain.py": PASSES})
    return machine


UNREACHABLE = {"PIP_INDEX_URL": "http://127.0.0.1:1/simple", "PIP_FIND_LINKS": "", "PIP_CONFIG_FILE": "/dev/null"}


def test_without_the_tools_the_missing_one_is_named_with_the_remedy(bare: Bare) -> None:
    done = bare.check("--check", "test", MENDBOT_TOOLS="off")
    assert done.returncode == 1, done
    assert "pytest is missing: MENDBOT_TOOLS=off forbids fetching it" in done.stdout
    assert "set MENDBOT_TOOLS=auto" in done.stdout
    assert not (bare.home / "tools").exists()


def test_without_the_tools_nothing_is_guessed_that_could_not_run(bare: Bare) -> None:
    result = json.loads(bare.check("--json", MENDBOT_TOOLS="off").stdout)
    assert [item["check"] for item in result["results"]] == ["test"]


def test_a_download_that_fails_is_told_and_is_not_fatal_and_the_home_is_the_servers_later(bare: Bare) -> None:
    done = bare.check("--check", "test", **UNREACHABLE)
    assert done.returncode == 1, done
    assert "pytest is missing: Mendbot could not fetch its tools (ERROR: " in done.stdout
    assert "let the project's setup install the tool" in done.stdout
    assert [path for path in (bare.home / "tools").iterdir() if not path.name.startswith(".")] == []
    claim_home(bare.home)


def test_a_wrong_value_of_the_setting_is_named(bare: Bare) -> None:
    done = bare.check(MENDBOT_TOOLS="sometimes")
    assert done.returncode == 2
    assert "MENDBOT_TOOLS" in done.stderr


def test_at_first_need_the_tools_are_made_in_the_home_and_stay(bare: Bare) -> None:
    done = bare.check("--check", "test")
    assert done.returncode == 0, done
    (place,) = (path for path in (bare.home / "tools").iterdir() if not path.name.startswith("."))
    made = place.stat()
    assert not list(place.glob("lib/python*/site-packages/pip")), "a check could add packages for the next"
    again = bare.check("--check", "test", "--check", "lint", MENDBOT_TOOLS="off", **UNREACHABLE)
    assert again.returncode == 0, again
    assert (place.stat().st_ino, place.stat().st_mtime_ns) == (made.st_ino, made.st_mtime_ns)


def test_a_home_of_others_does_not_become_ours_by_its_tools(bare: Bare) -> None:
    sources(bare.home, {"letter.txt": "mine\n"})
    bare.check("--check", "test", **UNREACHABLE)
    with pytest.raises(ConfigError, match=r"letter\.txt"):
        claim_home(bare.home)


def test_what_needs_no_python_fetches_nothing(bare: Bare) -> None:
    shutil.rmtree(bare.tree)
    sources(bare.tree, {"Makefile": "test:\n\ttrue\n"})
    assert bare.check("--check", "test").returncode == 0
    assert not (bare.home / "tools").exists()


@pytest.fixture
def small_lock(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A lock whose tools are as small as can be; how the real ones are made, the first need of them shows above."""
    pins = []
    for name in TOOLS:
        wheel, info = tmp_path / f"{name}-1+small-py3-none-any.whl", f"{name}-1+small.dist-info"
        files = {
            f"{name}.py": f"def main():\n    print('{name} 1')\n",
            f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: 1+small\n",
            f"{info}/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
            f"{info}/entry_points.txt": f"[console_scripts]\n{name} = {name}:main\n",
        }
        with zipfile.ZipFile(wheel, "w") as archive:
            for path, text in {**files, f"{info}/RECORD": "".join(f"{path},,\n" for path in files)}.items():
                archive.writestr(path, text)
        pins.append(f"{name}==1+small --hash=sha256:{hashlib.sha256(wheel.read_bytes()).hexdigest()}\n")
    lock = tmp_path / "small.lock"
    lock.write_text("".join(pins))
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path))
    return lock


def started(place: Path, lock: Path) -> subprocess.Popen[bytes]:
    return subprocess.Popen([sys.executable, "-c", MAKE, str(place), str(lock)], cwd=ROOT, start_new_session=True)


def ended(process: subprocess.Popen[bytes]) -> int:
    return process.wait(PATIENCE_S * 3)


def works(place: Path) -> bool:
    said = subprocess.run([place / "bin" / "pytest", "--version"], capture_output=True, text=True, timeout=PATIENCE_S)
    return said.stdout.startswith("pytest ")


def test_two_processes_make_the_tools_of_a_python_that_is_gone_anew_and_once(tmp_path: Path, small_lock: Path) -> None:
    place = tmp_path / "tools" / "pins"
    (place / "bin").mkdir(parents=True)
    (place / "bin" / "python").symlink_to(tmp_path / "gone")
    both = [started(place, small_lock), started(place, small_lock)]
    while both[0].poll() is None and both[1].poll() is None:
        time.sleep(0.02)
    made = place.stat()
    assert [ended(process) for process in both] == [0, 0]
    assert (place.stat().st_ino, place.stat().st_mtime_ns) == (made.st_ino, made.st_mtime_ns)
    assert works(place)
    assert [path.name for path in place.parent.iterdir() if path.is_dir()] == ["pins"]


async def test_what_a_killed_process_left_is_made_anew(
    tmp_path: Path, small_lock: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = tmp_path / "tools" / "pins"
    first = started(place, small_lock)
    half = place.with_name(".pins.new") / "bin" / "python"
    deadline = time.monotonic() + PATIENCE_S
    while not half.exists():
        assert first.poll() is None and time.monotonic() < deadline
        time.sleep(0.005)
    os.killpg(first.pid, signal.SIGKILL)
    ended(first)
    assert not place.exists()
    monkeypatch.setattr(check_tools, "LOCK", small_lock)
    await make_tools(place)
    assert works(place)
    assert not half.parent.parent.exists()


@pytest.mark.parametrize(
    ("pattern", "message"),
    [
        ('*"-m pip"*', "$0: No module named pip"),
        # pip before 22.3, as the Python of Ubuntu 22.04 has it
        ('*"-m pip"*" --python "*', "\\nUsage:   \\n  pip <command> [options]\\n\\nno such option: --python\\n"),
    ],
    ids=["without pip", "with an old pip"],
)
async def test_a_python_without_a_usable_pip_gets_the_one_that_it_brings_for_as_long_as_it_is_needed(
    tmp_path: Path, small_lock: Path, monkeypatch: pytest.MonkeyPatch, pattern: str, message: str
) -> None:
    real, python, place = base_python(), tmp_path / "python", tmp_path / "tools" / "pins"
    python.write_text(f"""#!/bin/sh
case "$*" in {pattern}) printf "{message}" >&2; exit 2 ;; esac
exec {real} "$@"
""")
    python.chmod(0o755)
    monkeypatch.setattr(sys, "_base_executable", str(python))
    monkeypatch.setattr(check_tools, "LOCK", small_lock)
    await make_tools(place)
    assert works(place)
    assert {path.name.split("-")[0] for path in place.glob("lib/python*/site-packages/*.dist-info")} == {*TOOLS}


def test_the_tools_run_where_they_are_moved_to(tmp_path: Path) -> None:
    found = Tools().directory()
    assert found == prepared_directory() / "tools" / tools_digest(), "`make .venv` prepares them"
    moved = tmp_path / "with space" / "moved"
    shutil.copytree(found, moved, symlinks=True)
    assert works(moved)
