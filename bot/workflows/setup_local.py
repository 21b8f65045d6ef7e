"""The setup of a session in somebody's own tree: it is made in place, where there is no environment yet, and it stays.
What is there already is never touched."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

from bot.model import SetupPlan
from bot.rules.course import RunState
from bot.store.runs import RunRow
from bot.workflows.context import Context
from bot.workflows.local import keep_found
from bot.workflows.setup import CarriedOut, carry_out
from bot.workspace.removal import remove_directory
from bot.workspace.sandbox import Grant
from bot.workspace.setup_plan import plan_setup
from bot.workspace.setup_products import hide_products
from bot.workspace.tree import Tree

_ENVIRONMENTS = (".venv", "node_modules")


def plan_in_place(tree: Path, near: tuple[str, ...], configured: str | tuple[str, ...] | None) -> SetupPlan:
    """The plan for somebody's own tree: no steps where an environment is there already, as the repository's own
    `setup` may begin by deleting it. Its products are those that are not there yet."""
    detected = plan_setup(tree, near)
    if not detected.steps:
        return detected
    plan = detected if configured is None else plan_setup(tree, near, configured=configured)
    steps = []
    for step in plan.steps:
        named = dict.fromkeys((*step.products, *_ENVIRONMENTS))
        absent = tuple(name for name in named if not os.path.lexists(tree / name))
        steps.append(step.model_copy(update={"products": absent}))
    return plan.model_copy(update={"steps": tuple(steps)})


async def set_up_in_place(context: Context, row: RunRow, state: RunState, tree: Tree, plan: SetupPlan) -> CarriedOut:
    """Set the tree up. A setup that does not come to its end leaves none of its products, which the next session would
    take for an environment."""

    async def keep_edits() -> None:
        await keep_found(context, row, state, tree, after="setup")

    assert state.base_sha is not None
    succeeded = False
    try:
        done = await carry_out(
            context, plan, tree, state.base_sha, grant=Grant(), shelf=None, before_restoring=keep_edits
        )
        succeeded = done.failed is None
        await asyncio.to_thread(hide_products, tree.path, tree.git_dir)
        return done
    finally:
        if not succeeded:
            for name in {name for step in plan.steps for name in step.products}:
                await remove_directory(tree.path / name)
