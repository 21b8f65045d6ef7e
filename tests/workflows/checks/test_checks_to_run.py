"""Which commands judge a run: those that were given, as given; else what the project has, in the pipeline's order."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from bot.config import CHECK_TIMEOUTS_S, Policy
from bot.model.pipeline import PipelineStage
from bot.rules.runs.spec import RunSpec
from bot.workflows.checks.checks_to_run import get_stages


def stages(tree: Path, near: tuple[str, ...] = (), **more: Any) -> list[tuple[str, Any]]:
    return [(stage.name, stage.command.run if stage.command else None) for stage in whole(tree, near, **more)]


def whole(tree: Path, near: tuple[str, ...] = (), **more: Any) -> tuple[PipelineStage, ...]:
    return get_stages(RunSpec(workspace=str(tree), agents=(), **more), tree, near)


def test_given_commands_are_the_whole_pipeline_in_their_order_and_named_by_what_they_are(tmp_path: Path) -> None:
    """REQ-RUN-004: `validationCommands` as given."""
    given = ("npm test", ("pnpm", "lint"), "./check.sh", "npx tsc --noEmit")
    (tmp_path / "pyproject.toml").write_text("[tool.pytest.ini_options]\n")
    assert stages(tmp_path, validation_commands=given, test_command="ignored") == [
        ("test", "npm test"),
        ("lint", ("pnpm", "lint")),
        ("custom", "./check.sh"),
        ("typecheck", "npx tsc --noEmit"),
    ]


def test_given_commands_have_their_stages_limits_and_a_custom_one_that_of_tests(tmp_path: Path) -> None:
    policy = Policy.model_validate({"checks": {"lint": {"timeout": 7}, "test": {"timeout": 9}}})
    found = whole(tmp_path, policy=policy, validation_commands=("npm run lint", "mypy .", "pytest", "./check.sh"))
    limits = [stage.command.timeout_s for stage in found if stage.command]
    assert limits == [7, CHECK_TIMEOUTS_S["typecheck"], 9, 9]


def test_the_default_is_lint_typecheck_test_with_the_test_command_as_the_test(tmp_path: Path) -> None:
    """REQ-RUN-004: default stages without a command are skipped and say what was looked for."""
    policy = Policy.model_validate({"checks": {"typecheck": {"command": "ty"}}})
    found = whole(tmp_path, policy=policy, test_command=("make", "it"))
    assert [(stage.name, stage.command.run if stage.command else None) for stage in found] == [
        ("lint", None),
        ("typecheck", "ty"),
        ("test", ("make", "it")),
    ]
    assert found[0].looked_for and not found[2].looked_for


def test_the_project_nearest_to_the_work_decides(tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / "packages" / name).mkdir(parents=True)
        (tmp_path / "packages" / name / "package.json").write_text(f'{{"scripts": {{"test": "echo {name}"}}}}')
    (tmp_path / "package.json").write_text('{"scripts": {"test": "echo all"}}')
    root, near = (whole(tmp_path, at)[2].command for at in ((), ("packages/two/a.js",)))
    assert root is not None and near is not None
    assert "packages/two" in f"{near.run} {near.directory}" and "packages" not in f"{root.run} {root.directory}"
