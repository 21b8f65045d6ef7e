"""Sets up a person's own tree for a session, in place, where it has no environment yet. The new environment stays; an
existing one is never changed."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path, PurePath

from bot.model import SetupPlan
from bot.rules.runs.state import RunState
from bot.store.runs.runs import RunRow
from bot.workflows.checks.setup import SetupResult, run_setup
from bot.workflows.context import Context
from bot.workflows.runs.local_tree import save_edits
from bot.workspace.files.remove_tree import remove_directory
from bot.workspace.files.setup_products import hide_products
from bot.workspace.git.tree import Tree
from bot.workspace.sandbox.bubblewrap import SandboxGrant
from bot.workspace.setup.plan import plan_setup

_VENV = ".venv"
_ENVIRONMENTS = (_VENV, "node_modules")


def plan_in_place(tree: Path, near: tuple[str, ...], configured: str | tuple[str, ...] | None) -> SetupPlan:
    """The plan for a person's own tree: no steps where it has an environment, as the repository's `setup` may begin by
    deleting it. The products are those that do not exist yet."""
    detected = plan_setup(tree, near)
    products = (name for step in detected.steps for name in step.products)
    # a broken environment or a link belongs to the person, too: venv would empty it
    if not detected.steps or any(PurePath(name).name == _VENV and os.path.lexists(tree / name) for name in products):
        return SetupPlan()
    plan = detected if configured is None else plan_setup(tree, near, configured=configured)
    steps = []
    for step in plan.steps:
        named = dict.fromkeys((*step.products, *_ENVIRONMENTS))
        absent = tuple(name for name in named if not os.path.lexists(tree / name))
        steps.append(step.model_copy(update={"products": absent}))
    return plan.model_copy(update={"steps": tuple(steps)})


async def set_up_in_place(context: Context, row: RunRow, state: RunState, tree: Tree, plan: SetupPlan) -> SetupResult:
    """Set the tree up. A setup that fails leaves none of its products, as the next session would take them for an
    environment."""

    async def keep_edits() -> None:
        await save_edits(context, row, state, tree, after="setup")

    assert state.base_sha is not None
    succeeded = False
    try:
        done = await run_setup(
            context, plan, tree, state.base_sha, grant=SandboxGrant(), cache=None, before_restoring=keep_edits
        )
        succeeded = done.failed is None
        await asyncio.to_thread(hide_products, tree.path, tree.git_dir)
        return done
    finally:
        if not succeeded:
            for name in {name for step in plan.steps for name in step.products}:
                await remove_directory(tree.path / name)
