"""`run_checks` over real processes: node, npm, pytest and shells, in the box and without one (REQ-CHECK-001..007)."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from bot.config import CheckPolicy, ChecksPolicy
from bot.model import PreviousError
from bot.workspace.checks.run_checks import run_checks
from bot.workspace.sandbox.sandbox import Sandbox, open_sandbox
from tests.workspace.checks.check_projects import _own_tools_on_path, check, node_project, policy

__all__ = ["_own_tools_on_path"]


@pytest.fixture(params=["none", "auto"])
def sandbox(request: pytest.FixtureRequest, _own_tools_on_path: None) -> Iterator[Sandbox]:
    yield asyncio.run(open_sandbox(request.param, ()))


async def test_passing_scripts_of_an_npm_project_pass(tmp_path: Path, sandbox: Sandbox) -> None:
    """REQ-CHECK-001, REQ-CHECK-002, REQ-CHECK-003."""
    node_project(tmp_path, test="node -e \"console.log('3 passed')\"", lint="node -e 0", type_check="node -e 0")
    result = await check(tmp_path, ["test", "typecheck", "lint"], sandbox=sandbox)
    assert result.passed, result
    assert [item.check for item in result.results] == ["typecheck", "lint", "test"]
    assert [item.command for item in result.results] == ["npm run type-check", "npm run lint", "npm test"]
    assert "3 passed" in result.results[2].output
    assert result.results[2].error is None
    assert (result.attempt, result.max_retries_exceeded, result.previous_errors) == (1, False, ())
    assert all(item.exit_code == 0 and item.classification is None for item in result.results)


async def test_a_failing_script_is_told_with_its_error(tmp_path: Path, sandbox: Sandbox) -> None:
    """REQ-CHECK-001."""
    (tmp_path / "sum.test.js").write_text("throw new Error('sum is wrong');\n")
    node_project(tmp_path, test="node sum.test.js")
    result = await check(tmp_path, ["test"], sandbox=sandbox, max_attempts=1)
    (item,) = result.results
    assert not result.passed
    assert not item.passed
    assert item.exit_code == 1
    assert item.classification == "test"
    assert "sum is wrong" in (item.error or "")
    assert "sum is wrong" in item.output
    assert [(note.path, note.start_line) for note in item.annotations] == [("sum.test.js", 1)]


async def test_a_pytest_project_is_run_and_its_failure_placed(tmp_path: Path, sandbox: Sandbox) -> None:
    """REQ-CHECK-001."""
    (tmp_path / "calc.py").write_text("def add(a, b):\n    return a - b\n")
    (tmp_path / "tests").mkdir()
    test = "from calc import add\n\n\ndef test_add():\n    assert add(2, 2) == 4\n"
    (tmp_path / "tests" / "test_calc.py").write_text(test)
    result = await check(tmp_path, ["test"], sandbox=sandbox, max_attempts=1)
    (item,) = result.results
    assert not result.passed
    assert (item.error or "").startswith("tests/test_calc.py::test_add — assert 0 == 4 (tests/test_calc.py:5)\n")
    assert [(one.path, one.line) for one in item.failures] == [("tests/test_calc.py", 5)]
    (note,) = item.annotations
    assert (note.path, note.start_line, note.level) == ("tests/test_calc.py", 5, "failure")
    assert "assert 0 == 4" in note.message
    assert not list(tmp_path.rglob("*.pyc"))
    # an edit of the same size in the same second, as a quick fixer makes it, is seen
    before = (tmp_path / "calc.py").stat()
    (tmp_path / "calc.py").write_text("def add(a, b):\n    return a + b\n")
    os.utime(tmp_path / "calc.py", ns=(before.st_atime_ns, before.st_mtime_ns))
    assert (await check(tmp_path, ["test"], sandbox=sandbox)).passed


async def test_ruff_and_mypy_name_file_and_line(tmp_path: Path, sandbox: Sandbox) -> None:
    """REQ-CHECK-002, REQ-CHECK-003."""
    (tmp_path / "pyproject.toml").write_text("[tool.ruff]\n[tool.mypy]\n")
    (tmp_path / "app.py").write_text("import os\n\nx: int = 'text'\n")
    result = await check(tmp_path, ["lint", "typecheck"], sandbox=sandbox, fail_fast=False, max_attempts=1)
    types, lint = result.results
    assert (types.classification, lint.classification) == ("type", "lint")
    assert "app.py:3" in (types.error or "")
    assert "F401" in lint.output
    assert [(note.path, note.start_line, note.rule) for note in types.annotations] == [("app.py", 3, "assignment")]
    assert [(note.path, note.start_line, note.rule) for note in lint.annotations] == [("app.py", 1, "F401")]


async def test_each_check_keeps_its_own_verdict(tmp_path: Path) -> None:
    """REQ-CHECK-004."""
    commands = policy(typecheck="true", lint="echo bad; exit 3", test="true")
    result = await check(tmp_path, ["typecheck", "lint", "test"], fail_fast=False, max_attempts=1, policy=commands)
    assert not result.passed
    assert [(item.check, item.passed) for item in result.results] == [
        ("typecheck", True),
        ("lint", False),
        ("test", True),
    ]


async def test_the_first_failure_ends_an_attempt(tmp_path: Path) -> None:
    """REQ-CHECK-005."""
    commands = policy(typecheck="false", lint="touch lint-ran", test="touch test-ran")
    result = await check(tmp_path, ["test", "lint", "typecheck"], max_attempts=1, policy=commands)
    assert [item.check for item in result.results] == ["typecheck"]
    assert list(tmp_path.iterdir()) == []


async def test_duplicates_run_once_and_in_the_fixed_order(tmp_path: Path) -> None:
    """REQ-CHECK-004."""
    commands = policy(lint="echo lint >> ran", test="echo test >> ran")
    assert (await check(tmp_path, ["test", "lint", "test", "lint"], policy=commands)).passed
    assert (tmp_path / "ran").read_text().split() == ["lint", "test"]


async def test_a_missing_worktree_is_said(tmp_path: Path) -> None:
    """REQ-CHECK-006."""
    result = await check(tmp_path / "gone", ["test"])
    assert not result.passed
    assert "Worktree not found" in (result.error or "")
    assert result.results == ()


@pytest.mark.parametrize(
    ("path", "names", "options", "said"),
    [
        ("relative/path", ["test"], {}, "absolute"),
        ("", ["test"], {}, "absolute"),
        (None, ["test"], {}, "absolute"),
        ("/nowhere\0", ["test"], {}, "Worktree not found"),
        (__file__, ["test"], {}, "Worktree not found"),
        (".", [], {}, "at least one"),
        (".", "test", {}, "list"),
        (".", ["build"], {}, "unknown check 'build'"),
        (".", ["test", 3], {}, "unknown check"),
        (".", ["test"], {"max_attempts": 0}, "max_attempts"),
        (".", ["test"], {"max_attempts": 4}, "max_attempts"),
        (".", ["test"], {"max_attempts": True}, "max_attempts"),
    ],
)
async def test_bad_input_is_an_error_and_nothing_runs(
    tmp_path: Path, path: Any, names: Any, options: dict[str, Any], said: str
) -> None:
    """REQ-CHECK-006."""
    where = str(tmp_path) if path == "." else path
    result = await run_checks(where, names, policy=policy(test="touch ran"), **options)
    assert not result.passed
    assert said in (result.error or "")
    assert result.results == ()
    assert list(tmp_path.iterdir()) == []


async def test_a_check_without_a_command_says_what_was_looked_for(tmp_path: Path) -> None:
    result = await check(tmp_path, ["test"])
    (item,) = result.results
    assert not result.passed
    assert result.error == item.error
    assert "package.json" in (result.error or "")
    assert (result.attempt, result.max_retries_exceeded) == (1, False)


async def test_three_failures_are_the_end(tmp_path: Path) -> None:
    """REQ-CHECK-007."""
    commands = policy(lint="echo fine >> ../fine", test="echo boom >> ../count; echo boom; exit 1")
    result = await check(tmp_path, ["lint", "test"], policy=commands)
    assert (result.passed, result.attempt, result.max_retries_exceeded) == (False, 3, True)
    assert [(error.attempt, error.check) for error in result.previous_errors] == [(1, "test"), (2, "test")]
    assert all("boom" in error.error and error.timestamp.tzinfo is not None for error in result.previous_errors)
    assert (tmp_path.parent / "count").read_text().count("boom") == 3
    assert (tmp_path.parent / "fine").read_text() == "fine\n", "what passed is not run again on the same tree"


async def test_what_the_step_between_attempts_mends_is_not_flaky(tmp_path: Path) -> None:
    """REQ-CHECK-007."""
    calls: list[tuple[PreviousError, ...]] = []

    def mend(errors: tuple[PreviousError, ...]) -> None:
        calls.append(errors)
        if len(calls) == 2:
            (tmp_path / "fixed").write_text("yes")

    result = await check(
        tmp_path, ["test"], policy=policy(test="test -e fixed || { echo not yet; exit 1; }"), before_retry=mend
    )
    assert (result.passed, result.attempt, result.results[0].flaky) == (True, 3, False)
    assert [[error.attempt for error in errors] for errors in calls] == [[1], [1, 2]]
    assert [error.attempt for error in result.previous_errors] == [1, 2]


async def test_the_step_between_attempts_may_be_a_coroutine(tmp_path: Path) -> None:
    async def mend(errors: tuple[PreviousError, ...]) -> None:
        (tmp_path / "fixed").write_text("yes")

    result = await check(tmp_path, ["test"], policy=policy(test="test -e fixed"), before_retry=mend)
    assert (result.passed, result.attempt, result.results[0].flaky) == (True, 2, False)


@pytest.mark.parametrize("idle", [None, lambda errors: None])
async def test_a_pass_on_the_same_tree_is_flaky(tmp_path: Path, idle: Any) -> None:
    """REQ-CHECK-007."""
    tree, counter = tmp_path / "tree", tmp_path / "counter"
    tree.mkdir()
    command = f"test -e {counter} || {{ touch {counter}; exit 1; }}"
    result = await check(tree, ["test"], policy=policy(test=command), before_retry=idle)
    assert (result.passed, result.attempt, result.results[0].flaky) == (True, 2, True)


async def test_writing_the_same_content_again_is_no_change(tmp_path: Path) -> None:
    tree, counter = tmp_path / "tree", tmp_path / "counter"
    tree.mkdir()
    (tree / "a.txt").write_text("a")
    command = f"test -e {counter} || {{ touch {counter}; exit 1; }}"
    result = await check(
        tree, ["test"], policy=policy(test=command), before_retry=lambda errors: (tree / "a.txt").write_text("a")
    )
    assert result.results[0].flaky


async def test_a_pass_after_a_change_and_a_failure_after_it_is_flaky(tmp_path: Path) -> None:
    tree, counter = tmp_path / "tree", tmp_path / "counter"
    tree.mkdir()
    command = f"echo x >> {counter}; test $(wc -l < {counter}) -ge 3"

    def change_once(errors: tuple[PreviousError, ...]) -> None:
        (tree / "a.txt").write_text("a")

    result = await check(tree, ["test"], policy=policy(test=command), before_retry=change_once)
    assert (result.attempt, result.results[0].flaky) == (3, True)


async def test_a_time_out_is_told_and_leaves_nobody(tmp_path: Path) -> None:
    limited = ChecksPolicy(test=CheckPolicy(command="(setsid sleep 600 &) ; echo started; sleep 600", timeout=1.5))
    result = await check(tmp_path, ["test"], policy=limited, max_attempts=1)
    (item,) = result.results
    assert (item.passed, item.timed_out, item.classification) == (False, True, "runtime")
    assert "timed out after 1.5 s" in (item.error or "")
    assert "started" in item.output
    assert item.duration_ms < 600_000


async def test_too_much_memory_is_told_with_the_limit_that_the_environment_sets(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MENDBOT_CHECK_MEMORY_MB", "1536")
    eat = f"{sys.executable} -I -S -c 'import time; held = b\"x\" * (2 << 30); time.sleep(600)'"
    result = await check(tmp_path, ["test"], policy=policy(test=f"echo started; {eat}"), max_attempts=1)
    (item,) = result.results
    assert (item.passed, item.over_memory_mb, item.timed_out, item.classification) == (False, 1536, False, "runtime")
    assert "needed more than 1.5 GB of memory and was stopped" in (item.error or "")
    assert "started" in item.output


@pytest.mark.parametrize("command", [("no-such-program-here",), "no-such-program-here"])
async def test_a_missing_program_is_a_runtime_failure(
    tmp_path: Path, command: str | tuple[str, ...], sandbox: Sandbox
) -> None:
    result = await check(tmp_path, ["lint"], policy=policy(lint=command), max_attempts=1, sandbox=sandbox)
    (item,) = result.results
    assert item.classification == "runtime"
    assert "no-such-program-here" in (item.error or "")
    assert "` could not run: " in (item.error or "") and item.could_not_run is not None


async def test_a_signal_is_a_runtime_failure(tmp_path: Path, sandbox: Sandbox) -> None:
    result = await check(tmp_path, ["test"], policy=policy(test="kill -SEGV $$"), max_attempts=1, sandbox=sandbox)
    assert result.results[0].classification == "runtime"
