"""The fixers agent with real tools in the real box, and what it takes a project to be configured for."""

from __future__ import annotations

import asyncio
import json
import os
from pathlib import Path

import pytest

from bot.agent.fixers import FixersDeveloper, default_fixers
from bot.model import AgentTask, Command, Proposal, Validation
from tests.agent.boxed import boxed
from tests.machine import PATIENCE_S

TASK = AgentTask(run_id="r1", attempt=1, max_attempts=3, task="make it pass")
FAILED = Validation(passed=False, summary="lint failed")
PASSED = Validation(passed=True, summary="passed")


def ask(tree: Path, *commands: str, task: AgentTask = TASK, timeout_s: float = PATIENCE_S) -> Proposal:
    made = tuple(Command(run=command, timeout_s=timeout_s) for command in commands)
    return asyncio.run(FixersDeveloper(boxed, made).propose(task, tree))


def test_a_projects_own_tools_mend_its_files_in_place(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text('[tool.ruff.lint]\nselect = ["F", "I"]\n')
    (tmp_path / "a.py").write_text("import sys\nimport os\nprint( os.name )\n")
    proposal = ask(tmp_path, *default_fixers(tmp_path))
    assert proposal.offered
    assert proposal.edited_in_place
    assert proposal.tools == ("ruff check --fix .", "ruff format .")
    assert (tmp_path / "a.py").read_text() == "import os\n\nprint(os.name)\n"


def test_a_fixer_that_is_missing_is_noted_and_the_next_one_runs(tmp_path: Path) -> None:
    proposal = ask(tmp_path, "no-such-fixer --all", "echo mended > a.txt; exit 1")
    assert proposal.offered
    assert "`no-such-fixer --all`: not there" in proposal.note
    assert "exit 1" in proposal.note
    assert (tmp_path / "a.txt").read_text() == "mended\n"


def test_a_fixer_that_hangs_is_stopped_and_noted(tmp_path: Path) -> None:
    proposal = ask(tmp_path, "sleep 60", "touch ran", timeout_s=1.0)
    assert "stopped after 1 s" in proposal.note
    assert (tmp_path / "ran").exists()


def test_fixers_that_are_all_missing_offer_nothing(tmp_path: Path) -> None:
    proposal = ask(tmp_path, "no-such-fixer")
    assert (proposal.offered, proposal.edited_in_place, proposal.untouched) == (False, False, False)
    argv = FixersDeveloper(boxed, (Command(run=("no-such-fixer",), timeout_s=PATIENCE_S),))
    assert not asyncio.run(argv.propose(TASK, tmp_path)).offered


@pytest.mark.parametrize(
    ("baseline", "focus", "asked"),
    [(None, (), True), (FAILED, (), True), (PASSED, ("a.py",), True), (PASSED, (), False)],
)
def test_fixers_stay_silent_where_nothing_points_to_their_kind_of_work(
    tmp_path: Path, baseline: Validation | None, focus: tuple[str, ...], asked: bool
) -> None:
    proposal = ask(tmp_path, "touch ran", task=TASK.model_copy(update={"baseline": baseline, "focus": focus}))
    assert proposal.offered is asked
    assert (tmp_path / "ran").exists() is asked
    assert asked or "checks pass" in proposal.note
    assert proposal.untouched is not asked


def test_without_commands_there_is_nothing_to_offer(tmp_path: Path) -> None:
    assert not ask(tmp_path).offered


PRETTIER = "npx --no-install prettier --write . '!.github/**'"


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({}, ()),
        ({"pyproject.toml": "[project]\nname='x'\n", "a.py": "x=1"}, ()),
        ({"pyproject.toml": "[tool.ruff]\n"}, ("ruff check --fix .", "ruff format .")),
        ({"ruff.toml": ""}, ("ruff check --fix .", "ruff format .")),
        ({"pyproject.toml": "[tool.ruff]\n[tool.black]\n"}, ("ruff check --fix .", "black .")),
        ({"pyproject.toml": "tool = 3"}, ()),
        ({"pyproject.toml": "broken ["}, ()),
        ({"package.json": {"devDependencies": {"eslint": "9", "prettier": "3"}}}, ()),
        (
            {"package.json": {"devDependencies": {"eslint": "9", "prettier": "3"}},
             "node_modules/eslint/x": "", "node_modules/prettier/x": ""},
            ("npx --no-install eslint --fix .", PRETTIER),
        ),
        ({"package.json": {}, "node_modules/eslint/x": ""}, ()),
        ({"package.json": ["odd"]}, ()),
        ({"package.json": "[" * 100_000}, ()),
        ({"go.mod": "module x\n"}, ("gofmt -w .",)),
        ({"Cargo.toml": "[package]\n"}, ("cargo fmt",)),
    ],
)  # fmt: skip
def test_only_what_a_project_configures_is_run(
    tmp_path: Path, files: dict[str, object], expected: tuple[str, ...]
) -> None:
    for name, content in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(content if isinstance(content, str) else json.dumps(content))
    assert default_fixers(tmp_path) == expected


def test_a_hostile_configuration_file_neither_blocks_nor_is_followed(tmp_path: Path) -> None:
    outside = tmp_path / "outside.toml"
    outside.write_text("[tool.ruff]\n")
    tree = tmp_path / "tree"
    tree.mkdir()
    (tree / "pyproject.toml").symlink_to(outside)
    os.mkfifo(tree / "package.json")
    assert default_fixers(tree) == ()
