"""Checks of real projects: tsc, eslint and vitest by npm and pnpm; mypy, ruff and pytest (REQ-CHECK-001..007)."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from bot.config import CheckPolicy, ChecksPolicy
from bot.model import CheckResult, PreviousError, RunChecksResult
from bot.workspace.checks.run_checks import run_checks
from bot.workspace.sandbox.sandbox import open_sandbox
from tests.workspace.real_projects import (
    NODE_SOURCES,
    PYTHON_SOURCES,
    node_project,
    pnpm_home,
    python_project,
    sources,
)

ROOT = Path(__file__).parents[3]
ALL = ["test", "lint", "typecheck"]
COMMANDS = {
    "npm": ["npm run type-check", "npm run lint", "npm test"],
    "pnpm": ["pnpm run typecheck", "eslint .", "pnpm test"],
    "pytest": ["mypy .", "ruff check --no-fix", "pytest -o pythonpath=."],
}
BROKEN = {
    "node": {
        "typecheck": ("src/sum.ts", 'export const sum = (a: number, b: number): number => a + b;\nsum(1, "2");\n'),
        "lint": ("src/extra.ts", "const unused = 1;\n\nexport let never = 2;\n"),
        "test": ("src/sum.test.ts", NODE_SOURCES["src/sum.test.ts"].replace("toBe(4)", "toBe(5)")),
    },
    "python": {
        "typecheck": (
            "calc.py",
            'def add(a: int, b: int) -> int:\n    return a + b\n\n\ndef bad() -> int:\n    return add(1, "2")\n',
        ),
        "lint": ("extra.py", "import os\n"),
        "test": ("tests/test_calc.py", PYTHON_SOURCES["tests/test_calc.py"].replace("== 4", "== 5")),
    },
}
"""A file that breaks one check alone."""
SAID = {
    "node": {"typecheck": "src/sum.ts(2,8): error TS2345", "lint": "no-unused-vars", "test": "expected 4 to be 5"},
    "python": {"typecheck": "calc.py:6: error:", "lint": "F401", "test": "assert 4 == 5"},
}
PLACES = {
    "node": {"typecheck": ("src/sum.ts", 2), "lint": ("src/extra.ts", 1), "test": ("src/sum.test.ts", 5)},
    "python": {"typecheck": ("calc.py", 6), "lint": ("extra.py", 1), "test": ("tests/test_calc.py", 5)},
}


class Project:
    """One installed project, put back to its first state for each test."""

    def __init__(self, tree: Path, kind: str) -> None:
        self.tree, self.kind = tree, kind
        self.family = "python" if kind == "pytest" else "node"

    def reset(self) -> None:
        for path, _ in BROKEN[self.family].values():
            (self.tree / path).unlink(missing_ok=True)
        sources(self.tree, PYTHON_SOURCES if self.family == "python" else NODE_SOURCES)

    def break_(self, *checks: str) -> None:
        for check in checks:
            path, text = BROKEN[self.family][check]
            (self.tree / path).write_text(text)

    async def run(self, checks: list[str], mode: str = "auto", **options: Any) -> RunChecksResult:
        sandbox = await open_sandbox("auto" if mode == "auto" else "none", (pnpm_home(),))
        return await run_checks(self.tree, checks, sandbox=sandbox, **options)


@pytest.fixture(autouse=True)
def _own_tools_on_path(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the box, checks inherit PATH (contract, Particulars)."""
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Project]:
    made: dict[str, Project] = {}

    def get(kind: str) -> Project:
        if kind not in made:
            tree = tmp_path_factory.mktemp(kind)
            made[kind] = Project(python_project(tree) if kind == "pytest" else node_project(tree, kind), kind)
        made[kind].reset()
        return made[kind]

    return get


@pytest.fixture(params=["npm", "pnpm", "pytest"])
def project(request: pytest.FixtureRequest, installed: Callable[[str], Project]) -> Iterator[Project]:
    yield installed(request.param)


@pytest.fixture
def calc(installed: Callable[[str], Project]) -> Project:
    return installed("pytest")


async def command_line(project: Project, *args: str) -> subprocess.CompletedProcess[str]:
    inherited = {name: os.environ[name] for name in ("PATH", "HOME")}
    env = {**inherited, "PYTHONPATH": str(ROOT), "MENDBOT_TOOLCHAINS": str(pnpm_home())}
    command = [sys.executable, "-m", "bot", "check", str(project.tree), "--json", *args]
    return subprocess.run(command, capture_output=True, text=True, env=env, cwd=project.tree, timeout=120, check=False)


def lives(pid: int) -> bool:
    """Whether the process is there and no zombie that its new parent has yet to collect."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except (FileNotFoundError, ProcessLookupError):
        return False


async def test_a_sound_project_passes_each_check_in_order(project: Project) -> None:
    """REQ-CHECK-001, -002, -003, -004, -007: three checks asked for out of order and twice, once each, attempt 1."""
    args = [word for name in (*ALL, "test", "typecheck") for word in ("--check", name)]
    done = await command_line(project, *args)
    result = json.loads(done.stdout)
    assert (done.returncode, result["passed"], result["attempt"]) == (0, True, 1), done
    assert [item["check"] for item in result["results"]] == ["typecheck", "lint", "test"]
    assert [item["command"] for item in result["results"]] == COMMANDS[project.kind]
    assert all(item["passed"] and item["error"] is None and item["duration_ms"] > 0 for item in result["results"])
    assert "passed" in result["results"][2]["output"]
    assert all(len(item["output"]) <= 500 for item in result["results"])


async def test_each_fault_is_told_by_its_check_with_file_and_line(project: Project) -> None:
    """REQ-CHECK-001, REQ-CHECK-002, REQ-CHECK-003, REQ-CHECK-004: file and line, the violated rule, its own verdict."""
    project.break_(*ALL)
    result = await project.run(ALL, fail_fast=False, max_attempts=1)
    assert not result.passed
    assert [item.check for item in result.results] == ["typecheck", "lint", "test"]
    for item in result.results:
        said, place = SAID[project.family][item.check], PLACES[project.family][item.check]
        assert not item.passed
        assert said in (item.error or ""), item
        assert said in item.output, item
        assert place in [(note.path, note.start_line) for note in item.annotations], item
        assert item.classification == {"typecheck": "type"}.get(item.check, item.check)


@pytest.mark.parametrize("broken", ALL)
async def test_one_fault_leaves_the_other_checks_their_pass(calc: Project, broken: str) -> None:
    """REQ-CHECK-004: the whole fails, and only the check that failed is marked so."""
    calc.break_(broken)
    done = await command_line(calc, "--no-fail-fast", "--max-attempts", "1")
    result = json.loads(done.stdout)
    assert (done.returncode, result["passed"]) == (1, False)
    assert {item["check"]: item["passed"] for item in result["results"]} == {name: name != broken for name in ALL}


@pytest.mark.parametrize("kind", ["pnpm", "pytest"])
async def test_the_first_fault_is_the_only_one_told(installed: Callable[[str], Project], kind: str) -> None:
    """REQ-CHECK-005: no entry for what did not run."""
    project = installed(kind)
    project.break_(*ALL)
    result = await project.run(ALL, max_attempts=1)
    assert [(item.check, item.passed) for item in result.results] == [("typecheck", False)]


@pytest.mark.parametrize("kind", ["npm", "pytest"])
async def test_a_fault_mended_between_attempts_passes_the_second(
    installed: Callable[[str], Project], kind: str
) -> None:
    """REQ-CHECK-007: `attempt` 2, the first one's error kept with the check that failed, and not flaky."""
    project = installed(kind)
    project.break_("test")
    seen: list[tuple[PreviousError, ...]] = []

    def mend(errors: tuple[PreviousError, ...]) -> None:
        seen.append(errors)
        project.reset()

    result = await project.run(["test"], before_retry=mend)
    assert (result.passed, result.attempt, result.max_retries_exceeded) == (True, 2, False)
    assert not result.results[0].flaky
    assert [(error.attempt, error.check) for error in result.previous_errors] == [(1, "test")]
    assert SAID[project.family]["test"] in result.previous_errors[0].error
    assert seen == [result.previous_errors]


COUNTING = {
    "npm": (
        "src/sum.test.ts",
        'import {{ appendFileSync, readFileSync }} from "node:fs";\nimport {{ expect, test }} from "vitest";\n\n'
        'test("adds", () => {{\n  appendFileSync("{0}", "x");\n  expect(readFileSync("{0}").length).toBe({1});\n}});\n',
    ),
    "pytest": (
        "tests/test_calc.py",
        "def test_add() -> None:\n    with open('{0}', 'a+') as file:\n        file.write('x')\n        file.seek(0)\n"
        "        assert len(file.read()) == {1}\n",
    ),
}


@pytest.mark.parametrize("kind", sorted(COUNTING))
@pytest.mark.parametrize(("passes_at", "executions"), [(2, 2), (4, 3)])
async def test_a_test_is_never_executed_a_fourth_time(
    installed: Callable[[str], Project], kind: str, passes_at: int, executions: int, tmp_path: Path
) -> None:
    """REQ-CHECK-007: three at most, flaky where the same tree passes later, `max_retries_exceeded` after the third."""
    project = installed(kind)
    path, text = COUNTING[kind]
    sources(project.tree, {path: text.format(tmp_path / "count", passes_at)})
    result = await project.run(["test", "lint"], mode="none")
    assert (tmp_path / "count").read_text() == "x" * executions
    assert (result.passed, result.attempt) == (passes_at <= 3, executions)
    assert result.max_retries_exceeded == (passes_at > 3)
    by_name: dict[str, CheckResult] = {item.check: item for item in result.results}
    assert by_name["test"].flaky == (1 < passes_at <= 3)
    assert not by_name["lint"].flaky
    told = [(error.attempt, error.check) for error in result.previous_errors]
    assert told == [(attempt, "test") for attempt in range(1, executions)]


async def test_previous_errors_name_the_check_that_failed_each_time(calc: Project) -> None:
    """REQ-CHECK-007: a type error first, then a failing test, then success."""
    calc.break_("typecheck", "test")
    later = iter([("calc.py",), ("tests/test_calc.py",)])

    def mend_one(errors: tuple[PreviousError, ...]) -> None:
        sources(calc.tree, {name: PYTHON_SOURCES[name] for name in next(later)})

    result = await calc.run(ALL, before_retry=mend_one)
    assert (result.passed, result.attempt) == (True, 3)
    assert [(error.attempt, error.check) for error in result.previous_errors] == [(1, "typecheck"), (2, "test")]
    assert all(error.timestamp.tzinfo is not None for error in result.previous_errors)


async def test_the_command_line_gives_up_after_three_attempts(calc: Project) -> None:
    """REQ-CHECK-007, contract: exit 1 and one JSON document."""
    calc.break_("lint")
    done = await command_line(calc, "--check", "lint")
    result = json.loads(done.stdout)
    assert (done.returncode, result["attempt"], result["max_retries_exceeded"]) == (1, 3, True)
    assert [error["attempt"] for error in result["previous_errors"]] == [1, 2]


@pytest.mark.parametrize("kind", sorted(COUNTING))
async def test_a_hanging_test_is_ended_with_what_left_its_session(
    installed: Callable[[str], Project], kind: str, tmp_path: Path
) -> None:
    """Spec A, Time limits: the whole tree dies, also who has a session of its own and holds the pipe."""
    project, pid = installed(kind), tmp_path / "pid"
    hanging = {
        "npm": f"""import {{ spawn }} from "node:child_process";
import {{ test }} from "vitest";

test("hangs", async () => {{
  spawn("sh", ["-c", "echo $$ > {pid}; exec sleep 600"], {{ detached: true, stdio: "inherit" }});
  await new Promise(() => {{}});
}}, 600_000);
""",
        "pytest": "import subprocess\nimport time\n\n\ndef test_hangs() -> None:\n    subprocess.Popen(['sh', '-c',"
        f" 'echo $$ > {pid}; exec sleep 600'], start_new_session=True)\n    time.sleep(600)\n",
    }
    sources(project.tree, {COUNTING[kind][0]: hanging[kind]})
    limited = ChecksPolicy(test=CheckPolicy(timeout=3))
    result = await project.run(["test"], mode="none", policy=limited, max_attempts=1)
    (item,) = result.results
    assert (item.passed, item.timed_out, item.classification) == (False, True, "runtime")
    assert item.duration_ms < 600_000
    assert not lives(int(pid.read_text()))


async def test_a_talkative_failure_is_cut_in_the_middle(calc: Project) -> None:
    """Spec A, Output: at most 5,000 characters, head and tail kept, the cut marked, no ANSI."""
    noise = "    for number in range(200_000):\n        print(f'\\033[31mline {number} of the log\\033[0m')\n"
    sources(calc.tree, {"tests/test_calc.py": f"def test_add() -> None:\n{noise}    assert 4 == 5\n"})
    (item,) = (await calc.run(["test"], max_attempts=1)).results
    assert len(item.output) <= 5_000
    assert "\033" not in item.output
    assert "test session starts" in item.output
    assert "1 failed" in item.output
    assert "assert 4 == 5" in (item.error or "")
