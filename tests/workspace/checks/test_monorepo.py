"""`run_checks` and `mendbot check` on a directory inside a repository: the nearest project is run and told by place."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from bot.config import CheckPolicy, ChecksPolicy
from bot.model import RunChecksResult
from bot.workspace.checks.run_checks import run_checks
from bot.workspace.sandbox.sandbox import open_sandbox
from tests.machine import PATIENCE_S
from tests.workspace.real_projects import pnpm_home

ROOT = Path(__file__).parents[3]
TYPES = "def add(a: int, b: int) -> int:\n    return str(a + b)\n"


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    """A repository of a Python service and a web package whose tool is installed at the top."""
    files = {
        "package.json": json.dumps({"scripts": {"lint": "pwd > linted; true"}}),
        "pnpm-lock.yaml": "",
        "node_modules/.bin/tsc": "#!/bin/sh\npwd > typed\necho 'src/x.ts(2,1): error TS2322: wrong'\nexit 1\n",
        "services/api/pyproject.toml": "[tool.mypy]\nstrict = true\n",
        "services/api/calc.py": TYPES,
        "packages/web/package.json": "{}",
        "packages/web/tsconfig.json": "{}",
        "packages/web/src/x.ts": "one\ntwo\n",
        "src/x.ts": "one\ntwo\n",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    (tmp_path / "node_modules/.bin/tsc").chmod(0o755)
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    return tmp_path


async def check(path: Path, name: str, policy: ChecksPolicy | None = None) -> RunChecksResult:
    return await run_checks(path, [name], max_attempts=1, policy=policy, sandbox=await open_sandbox("auto", ()))


async def test_the_nearest_project_is_run_and_its_findings_have_the_repositorys_paths(repo: Path) -> None:
    (item,) = (await check(repo / "services/api", "typecheck")).results
    assert item.command == "env -C services/api mypy ."
    assert [(note.path, note.start_line) for note in item.annotations] == [("services/api/calc.py", 2)]


async def test_a_tool_of_the_top_runs_in_the_package_below_it(repo: Path) -> None:
    """From a directory of the package: the project file above it tells, and relative places are the package's."""
    (item,) = (await check(repo / "packages/web/src", "typecheck")).results
    assert item.command == "env -C packages/web tsc --noEmit"
    assert (repo / "packages/web/typed").exists()
    assert [(note.path, note.start_line) for note in item.annotations] == [("packages/web/src/x.ts", 2)]


async def test_what_the_repository_configures_runs_at_its_top(repo: Path) -> None:
    policy = ChecksPolicy(lint=CheckPolicy(command="pwd > configured"))
    assert (await check(repo / "packages/web", "lint", policy)).passed
    assert (repo / "configured").exists()


async def test_nothing_above_a_directory_without_a_repository_is_looked_at(repo: Path) -> None:
    (repo / ".git").rename(repo / "git")
    result = await check(repo / "packages", "lint")
    assert "no command for the check `lint`" in (result.error or "")


def test_the_command_line_chooses_the_checks_that_the_directory_has(repo: Path) -> None:
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    env = {"PATH": path, "PYTHONPATH": str(ROOT), "MENDBOT_TOOLCHAINS": str(pnpm_home())}
    command = [sys.executable, "-m", "bot", "check", "packages/web/src", "--json", "--max-attempts", "1"]
    done = subprocess.run(
        [*command, "--no-fail-fast"], capture_output=True, text=True, env=env, cwd=repo, timeout=PATIENCE_S, check=False
    )
    assert done.returncode == 1, done.stderr
    checked = {item["check"]: item["command"] for item in json.loads(done.stdout)["results"]}
    assert checked == {"typecheck": "env -C packages/web tsc --noEmit", "lint": "pnpm run lint"}
