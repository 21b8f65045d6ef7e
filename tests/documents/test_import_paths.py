"""The import paths that other programs use (the contract, *Python, for embedding and tests*) lead where they led."""

from __future__ import annotations

import importlib

import pytest

PATHS = {
    "bot.rules.stop": "StopConditions StopReason LoopState DEFAULT_STOP_CONDITIONS should_stop load_stop_conditions"
    " loop_run_to_state",
    "bot.rules.progress": "made_progress",
    "bot.rules.failures": "classify normalize_error",
    "bot.rules.grouping": "group_issues",
    "bot.rules.commands": "parse_commands",
    "bot.agent.progress": "SimpleProgressDetector JudgeProgressDetector StopConditionManager",
    "bot.workspace.checks": "run_checks",
    "bot.workspace.worktree": "manage_worktree",
    "bot.workspace.patch": "apply_changes",
}


@pytest.mark.parametrize(("path", "name"), [(path, name) for path, names in PATHS.items() for name in names.split()])
def test_the_contracts_import_paths_hold(path: str, name: str) -> None:
    assert hasattr(importlib.import_module(path), name)
