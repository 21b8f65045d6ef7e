"""The plan of a tree names its setup and its checks, and runs nothing."""

from __future__ import annotations

from pathlib import Path

from bot.config import Policy
from bot.workflows.checks.project_plan import plan_project

PACKAGE = '{"scripts": {"test": "touch ran"}, "dependencies": {"a": "1.0.0"}}'


def test_the_plan_names_commands_with_their_files_and_what_was_looked_for(tmp_path: Path) -> None:
    (tmp_path / "package.json").write_text(PACKAGE)
    plan = plan_project(tmp_path, Policy())
    assert [(step.because, step.network) for step in plan.setup][:1] == [("package.json", True)]
    found = {check.check: check for check in plan.checks}
    assert (found["test"].command, found["test"].because) == ("npm test", "package.json")
    assert not found["lint"].command and found["lint"].looked_for
    assert [path.name for path in tmp_path.iterdir()] == ["package.json"]


def test_only_the_checks_that_are_wanted_and_the_configured_setup(tmp_path: Path) -> None:
    (tmp_path / "package.json").write_text(PACKAGE)
    plan = plan_project(tmp_path, Policy(setup="make deps"), ("test",))
    assert [step.command for step in plan.setup] == ["make deps"]
    assert [check.check for check in plan.checks] == ["test"]
