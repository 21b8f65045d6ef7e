"""A run on a real clone up to the end of its first attempt, which is where most of its trouble begins."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from bot.config import Policy
from bot.rules.runs.next_action import Implement
from bot.workflows.runs.begin import begin_run, set_up
from bot.workflows.runs.implement import implement
from tests.workflows.conftest import Harness, ScriptedAgent

CHECKS = {"checks": {"test": {"command": "python3 check.py"}}}
SET_UP = Policy.model_validate({**CHECKS, "setup": "echo made > ignored.txt; echo litter > litter.txt"})


def mend(tree: Path) -> None:
    (tree / "answer.txt").write_text("42\n")


async def attempted(at: Harness, run_id: str, edit: Callable[[Path], None] = mend) -> Path:
    """A run after its first attempt; its tree."""
    row = await at.row(run_id)
    await begin_run(at.context, row)
    if row.spec.policy.setup is not None:
        await set_up(at.context, row, await at.state(run_id))
    at.hands = [ScriptedAgent(edit)]
    await implement(at.context, row, await at.state(run_id), Implement(attempt=1))
    return at.context.tree_path(row)
