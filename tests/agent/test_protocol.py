"""The brief that every agent gets: the task, what failed and how, and how to answer."""

from __future__ import annotations

from pathlib import Path

import pytest

from bot.agent.command import read_changes
from bot.agent.protocol import build_prompt
from bot.model import AgentTask, Validation, ValidationStep

STEP = ValidationStep(
    command="pytest -q", stage="test", passed=False, exit_code=1, output="\n".join(f"line {n}" for n in range(100))
)
TASK = AgentTask(run_id="r1", attempt=2, max_attempts=3, task="Round totals to cents.")


def test_it_holds_everything_an_agent_must_know() -> None:
    """REQ-RUN-008."""
    lint = ValidationStep(command="ruff check", stage="lint", passed=True)
    late = ValidationStep(command="slow", stage="test", passed=False, timed_out=True)
    large = ValidationStep(command="big", stage="test", passed=False, exit_code=-9, over_memory_mb=6144)
    gone = ValidationStep(command="tsc", stage="typecheck", passed=False)
    prompt = build_prompt(
        TASK.model_copy(
            update={
                "focus": ("src/cart.py",),
                "baseline": Validation(passed=False, summary="", steps=(lint, STEP)),
                "previous": (
                    Validation(passed=False, summary="", steps=(late, large)),
                    Validation(passed=False, summary="", steps=(gone,)),
                ),
                "guidance": ("Last time `round` helped.",),
                "failed_patches": ("--- a/x\n+++ b/x\n",),
            }
        )
    )
    for expected in (
        "attempt 2 of 3",
        "Round totals to cents.",
        "- src/cart.py",
        "test: `pytest -q`: exit code 1\n    line 0\n",
        "    ... 60 more lines",
        "After attempt 1: test: `slow`: ran into its time limit",
        "After attempt 1: test: `big`: needed more than 6 GB of memory and was stopped",
        "After attempt 2: typecheck: `tsc`: could not be started",
        "- Last time `round` helped.",
        "    +++ b/x",
        '{"changes": [{"path"',
        "fallbackContent",
    ):
        assert expected in prompt
    assert "ruff check" not in prompt
    assert "line 40" not in prompt


def test_what_is_not_known_has_no_heading() -> None:
    prompt = build_prompt(TASK)
    assert [line for line in prompt.splitlines() if line.startswith("## ")] == ["## Task", "## How to answer"]


def test_an_endless_task_is_cut() -> None:
    assert len(build_prompt(TASK.model_copy(update={"task": "x" * 1_000_000}))) < 30_000


def test_a_program_that_prints_its_prompt_has_given_no_answer() -> None:
    for task in (TASK, TASK.model_copy(update={"only_test": True})):
        assert read_changes(build_prompt(task).encode()) == ((), None)


def test_the_commands_that_judge_are_named_though_they_pass() -> None:
    step = ValidationStep(command="pytest -q", stage="test", passed=True, exit_code=0)
    baseline = Validation(passed=True, summary="passed: test", steps=(step,))
    for task in (TASK, TASK.model_copy(update={"only_test": True})):
        assert "- test: `pytest -q`" in build_prompt(task.model_copy(update={"baseline": baseline}))


@pytest.mark.parametrize("only_test", [False, True])
def test_the_projects_own_instructions_are_named_where_they_exist(tmp_path: Path, only_test: bool) -> None:
    """REQ-RUN-008."""
    task = AgentTask(run_id="r", attempt=1, max_attempts=1, task="t", only_test=only_test)
    assert "own instructions" not in build_prompt(task, tmp_path)
    (tmp_path / "AGENTS.md").write_text("a text that the agent reads itself")
    (tmp_path / ".github").mkdir()
    (tmp_path / ".github" / "CONTRIBUTING.md").touch()
    (tmp_path / "CLAUDE.md").mkdir()
    prompt = build_prompt(task, tmp_path)
    assert "- AGENTS.md\n- .github/CONTRIBUTING.md\n" in prompt
    assert "CLAUDE.md" not in prompt and "reads itself" not in prompt
