"""Runs one stage of a run's pipeline on exactly the files of a snapshot: whole, or only some of its tests."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

from bot.model import ShellCommand
from bot.model.pipeline import PipelineStage
from bot.rules.runs.state import RunState
from bot.store.runs.runs import RunRow
from bot.workflows.checks.altered_files import run_on_snapshot
from bot.workflows.checks.executed_tests import Executed, execute
from bot.workflows.context import Context
from bot.workflows.runs.begin import grant_for_run
from bot.workflows.runs.local_tree import save_edits
from bot.workspace.checks.logs import directory
from bot.workspace.checks.reach import ReachAsked
from bot.workspace.checks.single_tests import SingleTests, run_single_tests
from bot.workspace.checks.step import StepRun, run_step
from bot.workspace.git.tree import Tree
from bot.workspace.sandbox.bubblewrap import SandboxGrant

Select = Callable[[ShellCommand, Path], SingleTests | None]
"""Makes of a command one that runs only some tests; None where that is not certain."""


async def run_stage(
    context: Context,
    row: RunRow,
    state: RunState,
    tree: Tree,
    stage: PipelineStage,
    *,
    snapshot: str | None = None,
    select: Select | None = None,
    measure: ReachAsked | None = None,
) -> Executed:
    """Run the stage's command once, on the run's present snapshot or on another one that is in the tree. Files that the
    command alters are restored afterwards. With `select` only the selected tests run, or all where the runner cannot
    select, or names none that it ran. `measure` records what changed code the tests execute."""
    command, files = stage.command, snapshot or state.snapshot
    assert command is not None and files is not None
    at = replace(state, snapshot=files)

    async def keep_edits() -> None:
        await save_edits(context, row, at, tree, after=stage.name)

    # in a person's own tree an altered file may be that person's edit: a diff of it is saved before it is restored
    keeps = keep_edits if row.spec.workspace is not None else None

    async def run(command: ShellCommand, grant: SandboxGrant) -> StepRun:
        once = partial(run_step, stage.name, command, tree.path, context.sandbox, grant=grant, mask=context.mask)
        return await run_on_snapshot(tree, files, once, mask=context.mask, before_restoring=keeps)

    grant = grant_for_run(context, row)
    if measure is not None:
        grant = measure.granted(grant)
    tests = select(command, tree.path) if select is not None else None
    if tests is not None:
        found = await run_single_tests(tests, directory(context.settings.home, row.id), grant, run, context.mask)
        if found.selected and found.suite is not None and found.suite.outcomes:
            return Executed(found.run.step, found.run.log, found.run.parsed.errors, found.suite)
    return await execute(context, row, stage, tree, grant, partial(run, command))
