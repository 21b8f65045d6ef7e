"""The fixers agent with real tools in the real box, and what it takes a project to be configured for."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from bot.agent.fixers import FixersAgent, default_fixers
from bot.model import AgentTask, Proposal, ShellCommand, StyleFindings, Validation
from bot.reports.locale.reasons import english
from tests.agent.runner import boxed
from tests.machine import PATIENCE_S

LINT = StyleFindings(lint=("a.py",))
FORMAT = StyleFindings(unformatted=("a.py",))
BOTH = StyleFindings(lint=("a.py",), unformatted=("a.py",))
TASK = AgentTask(run_id="r1", attempt=1, max_attempts=3, task="make it pass", style=LINT)
FAILED = Validation(passed=False, summary="lint failed")
PASSED = Validation(passed=True, summary="passed")
UGLY = "import sys\nimport os\nprint( os.name )\n"


async def ask(tree: Path, *commands: str, task: AgentTask = TASK, timeout_s: float = PATIENCE_S) -> Proposal:
    made = tuple(ShellCommand(run=command, timeout_s=timeout_s) for command in commands)
    return await FixersAgent(boxed, made or None).propose(task, tree)


@pytest.mark.parametrize(
    ("style", "tools", "text"),
    [
        (BOTH, ("ruff check --fix a.py", "ruff format a.py"), "import os\n\nprint(os.name)\n"),
        (LINT, ("ruff check --fix a.py",), "import os\nprint( os.name )\n"),
        (FORMAT, ("ruff format a.py",), "import sys\nimport os\n\nprint(os.name)\n"),
    ],
    ids=["both", "lint", "format"],
)
async def test_a_projects_own_tools_fix_the_files_with_findings_alone(
    tmp_path: Path, style: StyleFindings, tools: tuple[str, ...], text: str
) -> None:
    (tmp_path / "pyproject.toml").write_text('[tool.ruff.lint]\nselect = ["F"]\n')
    for name in ("a.py", "b.py", "-c.py"):
        (tmp_path / name).write_text(UGLY)
    proposal = await ask(tmp_path, task=TASK.model_copy(update={"style": style}))
    assert proposal.offered
    assert proposal.edited_in_place
    assert proposal.tools == tools
    assert (tmp_path / "a.py").read_text() == text
    assert (tmp_path / "b.py").read_text() == (tmp_path / "-c.py").read_text() == UGLY


async def test_a_name_that_looks_like_an_option_is_a_file(tmp_path: Path) -> None:
    (tmp_path / "ruff.toml").write_text("")
    (tmp_path / "-c.py").write_text(UGLY)
    proposal = await ask(tmp_path, task=TASK.model_copy(update={"style": StyleFindings(lint=("-c.py",))}))
    assert proposal.tools == ("ruff check --fix ./-c.py",)
    assert "import sys" not in (tmp_path / "-c.py").read_text()


async def test_a_fixer_that_is_missing_is_noted_and_the_next_one_runs(tmp_path: Path) -> None:
    proposal = await ask(tmp_path, "no-such-fixer --all", "echo mended > a.txt; exit 1")
    assert proposal.offered
    assert "`no-such-fixer --all`: not there" in english(proposal.note)
    assert "exit 1" in english(proposal.note)
    assert (tmp_path / "a.txt").read_text() == "mended\n"


async def test_a_fixer_that_hangs_is_stopped_and_noted(tmp_path: Path) -> None:
    proposal = await ask(tmp_path, "sleep 60", "touch ran", timeout_s=1.0)
    assert "stopped after 1 s" in english(proposal.note)
    assert (tmp_path / "ran").exists()


async def test_fixers_that_are_all_missing_offer_nothing(tmp_path: Path) -> None:
    proposal = await ask(tmp_path, "no-such-fixer")
    assert (proposal.offered, proposal.edited_in_place, proposal.untouched) == (False, False, False)
    argv = FixersAgent(boxed, (ShellCommand(run=("no-such-fixer",), timeout_s=PATIENCE_S),))
    assert not (await argv.propose(TASK, tmp_path)).offered


async def test_without_findings_fixers_leave_the_tree_alone(tmp_path: Path) -> None:
    for baseline in (None, FAILED, PASSED):
        task = TASK.model_copy(update={"baseline": baseline, "focus": ("a.py",), "style": StyleFindings()})
        proposal = await ask(tmp_path, "touch ran", task=task)
        assert (proposal.offered, proposal.untouched) == (False, True)
        assert "no lint or format check shows a finding" in english(proposal.because)
    assert not (tmp_path / "ran").exists()


async def test_without_commands_there_is_nothing_to_offer(tmp_path: Path) -> None:
    assert not (await ask(tmp_path)).offered


async def test_an_empty_list_of_fixers_means_none(tmp_path: Path) -> None:
    (tmp_path / "ruff.toml").write_text("")
    (tmp_path / "a.py").write_text(UGLY)
    proposal = await FixersAgent(boxed, ()).propose(TASK, tmp_path)
    assert (proposal.offered, proposal.untouched) == (False, True)
    assert "`fixers: []`" in english(proposal.because)
    assert (tmp_path / "a.py").read_text() == UGLY


ALL = StyleFindings(lint=("a.py", "b.ts"), unformatted=("a.py", "b.ts", "c.go", "d.rs"))
PRETTIER = "npx --no-install prettier --write a.py b.ts c.go d.rs"


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({}, ()),
        ({"pyproject.toml": "[project]\nname='x'\n", "a.py": "x=1"}, ()),
        ({"pyproject.toml": "[tool.ruff]\n"}, ("ruff check --fix a.py", "ruff format a.py")),
        ({"ruff.toml": ""}, ("ruff check --fix a.py", "ruff format a.py")),
        ({"pyproject.toml": "[tool.ruff]\n[tool.black]\n"}, ("ruff check --fix a.py", "black a.py")),
        ({"pyproject.toml": "tool = 3"}, ()),
        ({"pyproject.toml": "broken ["}, ()),
        ({"package.json": {"devDependencies": {"eslint": "9", "prettier": "3"}}}, ()),
        (
            {"package.json": {"devDependencies": {"eslint": "9", "prettier": "3"}},
             "node_modules/eslint/x": "", "node_modules/prettier/x": ""},
            ("npx --no-install eslint --fix b.ts", PRETTIER),
        ),
        ({"package.json": {}, "node_modules/eslint/x": ""}, ()),
        ({"package.json": ["odd"]}, ()),
        ({"package.json": "[" * 100_000}, ()),
        ({"go.mod": "module x\n"}, ("gofmt -w c.go",)),
        ({"Cargo.toml": "[package]\n"}, ("cargo fmt",)),
    ],
)  # fmt: skip
def test_only_what_a_project_configures_is_run(
    tmp_path: Path, files: dict[str, object], expected: tuple[str, ...]
) -> None:
    for name, content in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(content if isinstance(content, str) else json.dumps(content))
    assert tuple(" ".join(argv) for argv in default_fixers(tmp_path, ALL)) == expected
    assert default_fixers(tmp_path, StyleFindings()) == ()


def test_a_hostile_configuration_file_neither_blocks_nor_is_followed(tmp_path: Path) -> None:
    outside = tmp_path / "outside.toml"
    outside.write_text("[tool.ruff]\n")
    tree = tmp_path / "tree"
    tree.mkdir()
    (tree / "pyproject.toml").symlink_to(outside)
    os.mkfifo(tree / "package.json")
    assert default_fixers(tree, ALL) == ()
