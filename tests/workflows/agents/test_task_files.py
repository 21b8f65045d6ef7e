"""The files that a model gets with a task: named ones with their tests, none that is large, no link."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from bot.model import AgentTask, ShownFailure, Validation, ValidationStep
from bot.workflows.agents.task_files import MAX_FILE_BYTES, MAX_FILES, read_task_files


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    texts = {
        "src/sum.py": "def add(): ...",
        "tests/test_sum.py": "def test_add(): ...",
        "src/other.py": "x = 1",
        "lib/deep.py": "y = 2",
        "AGENTS.md": "Be brief.",
        "data.bin": "\0",
        "huge.py": "#" * (MAX_FILE_BYTES + 1),
        ".env": "KEY=1",
        ".gitignore": ".env\n",
    }
    for name, text in texts.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    for number in range(MAX_FILES):
        (tmp_path / f"more{number}").touch()
    (tmp_path / "data.bin").write_bytes(b"\xff\xfe")
    (tmp_path / "link.py").symlink_to("/etc/passwd")
    subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)
    return tmp_path


def task(text: str, *failures: ShownFailure) -> AgentTask:
    step = ValidationStep(command="pytest", stage="test", passed=False, output="see lib/deep.py:3", failures=failures)
    baseline = Validation(passed=False, summary="", steps=(step,)) if failures else None
    return AgentTask(run_id="r", attempt=1, max_attempts=1, task=text, baseline=baseline)


async def test_named_files_come_with_their_tests_and_the_projects_rules(tree: Path) -> None:
    """REQ-RUN-008."""
    found = await read_task_files(tree / ".git", task("`src/sum.py` is wrong"), tree)
    assert list(found.texts) == ["src/sum.py", "tests/test_sum.py", "AGENTS.md"]
    assert "src/other.py" in found.paths and ".env" not in found.paths


async def test_failures_name_files_too(tree: Path) -> None:
    found = await read_task_files(tree / ".git", task("it is wrong", ShownFailure(path="src/other.py")), tree)
    assert list(found.texts) == ["src/other.py", "lib/deep.py", "AGENTS.md"]


async def test_what_is_large_no_text_a_link_or_ignored_stays_here(tree: Path) -> None:
    """REQ-RUN-008."""
    found = await read_task_files(tree / ".git", task("huge.py data.bin link.py .env ../../etc/passwd"), tree)
    assert list(found.texts) == ["AGENTS.md"]


async def test_of_a_small_repository_every_file_is_read(tree: Path) -> None:
    for number in range(MAX_FILES):
        (tree / f"more{number}").unlink()
    found = await read_task_files(tree / ".git", task("it is wrong"), tree)
    assert {"src/sum.py", "src/other.py", "lib/deep.py"} <= set(found.texts)
    assert not {".env", "link.py", "data.bin", "huge.py"} & set(found.texts)


async def test_files_that_are_asked_for_come_first_and_only_those_of_the_repository(tree: Path) -> None:
    """REQ-RUN-008."""
    asked = ("lib/deep.py", "/etc/passwd", "../x", ".env", "link.py")
    found = await read_task_files(tree / ".git", task("`src/sum.py` is wrong"), tree, asked)
    assert list(found.texts) == ["lib/deep.py", "src/sum.py", "tests/test_sum.py", "AGENTS.md"]
