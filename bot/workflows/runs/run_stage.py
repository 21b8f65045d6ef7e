"""Runs one stage of a run's pipeline on exactly the files of a snapshot."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from bot.model.pipeline import PipelineStage
from bot.rules.runs.state import RunState
from bot.store.runs.runs import RunRow
from bot.workflows.checks.altered_files import run_on_snapshot
from bot.workflows.checks.executed_tests import Executed, execute
from bot.workflows.context import Context
from bot.workflows.runs.begin import grant_for_run
from bot.workflows.runs.local_tree import save_edits
from bot.workspace.checks.step import StepRun, run_step
from bot.workspace.git.tree import Tree
from bot.workspace.sandbox.bubblewrap import SandboxGrant


async def run_stage(
    context: Context, row: RunRow, state: RunState, tree: Tree, stage: PipelineStage, *, snapshot: str | None = None
) -> Executed:
    """Run the stage's command once, on the run's present snapshot or on another one that is in the tree. Files that the
    command alters are restored afterwards."""
    command, files = stage.command, snapshot or state.snapshot
    assert command is not None and files is not None
    at = replace(state, snapshot=files)

    async def keep_edits() -> None:
        await save_edits(context, row, at, tree, after=stage.name)

    # in a person's own tree an altered file may be that person's edit: a diff of it is saved before it is restored
    keeps = keep_edits if row.spec.workspace is not None else None

    async def run(grant: SandboxGrant) -> StepRun:
        once = partial(run_step, stage.name, command, tree.path, context.sandbox, grant=grant, mask=context.mask)
        return await run_on_snapshot(tree, files, once, mask=context.mask, before_restoring=keeps)

    return await execute(context, row, stage, tree, grant_for_run(context, row), run)
