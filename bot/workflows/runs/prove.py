"""Collects the evidence for a change with which all checks passed, and records its level of proof (REQ-PROOF-001).

Each execution is recorded as it ends, so a crash repeats at most one of them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime

from bot.model import Artifact, Phase, RunEvent
from bot.model.events.proof import MutantsEnded, ProofDecided, TestsWithoutChangeEnded
from bot.model.events.runs import ArtifactCreated
from bot.model.pipeline import PipelineStage
from bot.model.proof import MutantFigures, StageWithoutChange
from bot.model.reasons import Reason
from bot.reports.locale.reasons import english_json
from bot.rules.mutants.changed_lines import changed_lines
from bot.rules.mutants.generate import mutants_of
from bot.rules.mutants.mutant import Mutant, sample
from bot.rules.reach.reach import ChangedCode, Reach, changed_code
from bot.rules.runs.failing_tests import failing_tests, missing_names, new_names, without_change
from bot.rules.runs.next_action import Prove
from bot.rules.runs.pipeline import runs_tests
from bot.rules.runs.proof import next_proof_step, product_files, proof_of
from bot.rules.runs.state import RunState
from bot.rules.tampering.test_source import is_test
from bot.store.runs.runs import RunRow
from bot.workflows.checks.executed_tests import Executed, load_suite
from bot.workflows.context import Context
from bot.workflows.runs.begin import open_tree
from bot.workflows.runs.changed_tests import changed_product, changed_tests
from bot.workflows.runs.local_tree import save_edits
from bot.workflows.runs.run_stage import Select, run_stage
from bot.workflows.tampering import file_texts
from bot.workspace.checks.logs import directory
from bot.workspace.checks.reach import measuring
from bot.workspace.checks.single_tests import command_for_files, command_for_tests
from bot.workspace.checks.step import StepRun
from bot.workspace.files.nofollow import Replacement, replace_all, touch_files
from bot.workspace.git.diff import paths_with
from bot.workspace.git.tree import Tree

MAX_MUTANTS = 20
MUTANTS_BUDGET_MS = 120_000
"""The time that the checks may take for all mutants of one change together."""
_SLOWER = 5
_MIN_LIMIT_S = 10.0
"""A mutant's check is stopped after that many times its usual duration, but not before these seconds."""
_SURVIVORS_SHOWN = 5
_SHOWN_CHARS = 60
_MAX_NAMES = 20


async def prove(context: Context, row: RunRow, state: RunState, action: Prove) -> None:
    """Do the next step and record its result; the level too, once nothing more has to run."""
    attempt, fresh = action.attempt, list[RunEvent]()
    if action.step == "tests":
        stages = await _tests_without_change(context, row, state)
        fresh.append(TestsWithoutChangeEnded(iteration=attempt, stages=stages))
        state = replace(state, without_change=stages)
    elif action.step == "mutants":
        mutants = await _mutants(context, row, state)
        fresh.append(MutantsEnded(iteration=attempt, mutants=mutants))
        state = replace(state, mutants=mutants)
    if next_proof_step(row.spec, state) != "decide":
        await context.stores.runs.append(row.id, fresh)
        return
    decided = ProofDecided(iteration=attempt, proof=proof_of(row.spec, state))
    artifact = Artifact(
        id=f"{row.id}.proof.{attempt}{state.suffix}",
        session_id=row.id,
        phase=Phase.REVIEW,
        iteration=attempt,
        created_at=datetime.now(UTC),
        data=english_json(decided.data()),
    )
    created = ArtifactCreated(artifact=artifact.id, iteration=attempt)
    await context.stores.runs.append(row.id, [*fresh, decided, created], [artifact])


def _test_stages(state: RunState) -> Sequence[tuple[int, PipelineStage]]:
    """The stages that run tests, and that passed with the change."""
    steps = state.validations[-1].steps
    return [
        (index, stage)
        for index, stage in enumerate(state.stages)
        if runs_tests(stage) and index < len(steps) and steps[index].passed and not steps[index].skipped
    ]


async def _tests_without_change(context: Context, row: RunRow, state: RunState) -> tuple[StageWithoutChange, ...]:
    """The tests on the base with only the change's test files. What failed there is run once more with the whole
    change, and a new test before that once more without it: a test that fails only sometimes shows nothing."""
    tree, found = await _open(context, row, state), list[StageWithoutChange]()
    assert state.snapshot is not None
    tests = await changed_tests(tree, state, state.snapshot, state.changed_paths)
    async with _only_test_files(tree, state, tests) as snapshot:

        async def run(index: int, stage: PipelineStage) -> StageWithoutChange:
            select = _selection(context, row, state, index, tests)
            ran = await run_stage(context, row, state, tree, stage, snapshot=snapshot, select=select)
            after = load_suite(context, row, state.last_suites.get(index))
            new = await _new_names(tree, state, ran)
            return without_change(index, ran.step, ran.errors, ran.suite, after, new)

        for index, stage in _test_stages(state):
            seen = await run(index, stage)
            on_base = state.baseline.steps[index] if state.baseline and index < len(state.baseline.steps) else None
            if seen.failed and (on_base is None or on_base.passed):
                again = await run(index, stage)
                lasting = tuple(name for name in seen.tests if name in again.tests)
                fails = again.failed and bool(lasting or not seen.tests)
                seen = again.model_copy(update={"tests": lasting, "failed": fails})
            found.append(seen)
    selects = {seen.index: _selection(context, row, state, seen.index, tests) for seen in found}
    return tuple([await _with_change_again(context, row, state, tree, seen, selects[seen.index]) for seen in found])


async def _with_change_again(
    context: Context, row: RunRow, state: RunState, tree: Tree, seen: StageWithoutChange, select: Select | None
) -> StageWithoutChange:
    """What a check shows without the change, less the tests that fail with the change when they run again."""
    if not seen.failed or seen.not_loaded:
        return seen
    stage, code = state.stages[seen.index], await _code_to_reach(tree, state, seen)
    async with measuring(directory(context.settings.home, row.id), tree.path, code) as asked:
        ran = await run_stage(context, row, state, tree, stage, select=select, measure=asked if code else None)
        reach = await asked.answer(StepRun(ran.step)) if code else Reach()
    if reach.ran is False:
        return seen.model_copy(update={"tests": (), "not_reached": True})
    if ran.step.passed:
        return seen
    passed = frozenset(ran.suite.named("passed")) if ran.suite is not None else frozenset()
    lasting = tuple(name for name in seen.tests if name in passed)
    if not seen.tests and state.validations[-1].steps[seen.index].tolerated:
        return seen  # other failures are left alone, and no name separates them
    return seen.model_copy(update={"tests": lasting, "unsteady": not lasting})


async def _code_to_reach(tree: Tree, state: RunState, seen: StageWithoutChange) -> tuple[ChangedCode, ...]:
    """The changed code that new tests must execute; empty where it cannot be measured, or for tests of the base."""
    assert state.start is not None and state.snapshot is not None
    on_base = state.baseline.steps if state.baseline else ()
    if seen.index >= len(on_base) or not on_base[seen.index].passed:
        return ()
    files = await file_texts(tree.git_dir, state.start, state.snapshot, await changed_product(tree, state))
    code = await asyncio.to_thread(changed_code, files)
    return () if isinstance(code, Reason) else code


async def _new_names(tree: Tree, state: RunState, ran: Executed) -> frozenset[str]:
    """The names that the failing tests miss, and that only the change brings: no other file of the base uses them."""
    assert state.start is not None and state.snapshot is not None
    missing = missing_names("\n".join([ran.step.output, *(printed.text for printed in ran.errors.values())]))
    if not missing:
        return missing
    product = await changed_product(tree, state)
    missing &= new_names(await file_texts(tree.git_dir, state.start, state.snapshot, product))
    names = sorted(missing)[:_MAX_NAMES]
    return frozenset([name for name in names if not product_files(await paths_with(tree.git_dir, state.start, name))])


async def _open(context: Context, row: RunRow, state: RunState) -> Tree:
    """The tree with the change; a crash may have left a mutant, or only a part of the change, in it. In a person's own
    tree a diff of anything else is saved first."""
    assert state.snapshot is not None
    tree = await open_tree(context, row, state)
    if row.spec.workspace is not None:
        await save_edits(context, row, state, tree)
    await tree.restore(state.snapshot)
    return tree


def _selection(context: Context, row: RunRow, state: RunState, index: int, touched: Sequence[str]) -> Select | None:
    """Which tests are enough: those that failed on the base, or those of the test files that the change touches. None
    where both may matter."""
    on_base = next((seen for seen in state.suites if seen.stage == index and not seen.attempt), None)
    suite = load_suite(context, row, on_base.log) if on_base is not None else None
    failed = suite.named("failed") if suite is not None else ()
    if touched:
        green = on_base is not None and not on_base.red
        tests = tuple(path for path in touched if is_test(path))
        return (lambda command, tree: command_for_files(command, tests, tree)) if green and tests else None
    return (lambda command, tree: command_for_tests(command, failed, tree)) if failed else None


@asynccontextmanager
async def _only_test_files(tree: Tree, state: RunState, paths: Sequence[str]) -> AsyncIterator[str]:
    """The tree holds the base with the change's test files until the end; the value is its snapshot."""
    assert state.start is not None and state.snapshot is not None
    try:
        await tree.restore(state.start)
        if paths:
            await tree.restore(state.snapshot, paths)
        await asyncio.to_thread(touch_files, tree.path, state.changed_paths)
        yield await tree.snapshot()
    finally:
        await tree.restore(state.snapshot)
        await asyncio.to_thread(touch_files, tree.path, state.changed_paths)


async def _mutants(context: Context, row: RunRow, state: RunState) -> MutantFigures:
    """How many mutants of the changed lines make a check of tests fail, as far as the time reaches."""
    tree = await _open(context, row, state)
    assert state.start is not None and state.snapshot is not None
    files = await file_texts(tree.git_dir, state.start, state.snapshot, await changed_product(tree, state))
    texts = {file.path: file.after for file in files if file.after is not None}
    every = await asyncio.to_thread(
        lambda: tuple(
            mutant
            for file in files
            if file.after is not None
            for mutant in mutants_of(file.path, file.after, changed_lines(file.before, file.after))
        )
    )
    stages, steps = _test_stages(state), state.validations[-1].steps
    usual_ms = max(sum(steps[index].duration_ms for index, _ in stages), 1)
    chosen = sample(every, min(MAX_MUTANTS, MUTANTS_BUDGET_MS // usual_ms))
    limited = [_limited(stage, steps[index].duration_ms) for index, stage in stages]
    survivors, made, began = list[Mutant](), 0, asyncio.get_running_loop().time()
    for mutant in chosen:
        if (asyncio.get_running_loop().time() - began) * 1000 > 2 * MUTANTS_BUDGET_MS:
            break
        async with _with_mutant(tree, state, mutant, texts[mutant.path]) as snapshot:
            result = await _noticed(context, row, state, tree, limited, snapshot)
        made += result is not None
        if result is False:
            survivors.append(mutant)
    shown = tuple(context.mask(_shown(mutant)) for mutant in survivors[:_SURVIVORS_SHOWN])
    return MutantFigures(noticed=made - len(survivors), made=made, survivors=shown)


async def _noticed(
    context: Context, row: RunRow, state: RunState, tree: Tree, stages: Sequence[PipelineStage], snapshot: str
) -> bool | None:
    """Whether a check fails on the snapshot; None where its tests could not be loaded, which no test has noticed."""
    for stage in stages:
        ran = await run_stage(context, row, state, tree, stage, snapshot=snapshot)
        if not ran.step.passed:
            found = failing_tests(ran.step, ran.errors, ran.suite)
            return None if found is None or found.not_loaded else True
    return False


@asynccontextmanager
async def _with_mutant(tree: Tree, state: RunState, mutant: Mutant, text: str) -> AsyncIterator[str]:
    """The tree holds the change with the mutant until the end; the value is its snapshot."""
    assert state.snapshot is not None
    try:
        wanted = Replacement(mutant.path, mutant.apply(text).encode())
        await asyncio.to_thread(replace_all, tree.path, [wanted])
        yield await tree.snapshot()
    finally:
        await tree.restore(state.snapshot)
        await asyncio.to_thread(touch_files, tree.path, [mutant.path])


def _limited(stage: PipelineStage, usual_ms: int) -> PipelineStage:
    """The stage with a time limit that an endless loop reaches soon."""
    assert stage.command is not None
    limit = min(stage.command.timeout_s, max(_MIN_LIMIT_S, _SLOWER * usual_ms / 1000))
    return stage.model_copy(update={"command": stage.command.model_copy(update={"timeout_s": limit})})


def _shown(mutant: Mutant) -> str:
    before, after = (" ".join(part.split())[:_SHOWN_CHARS] for part in (mutant.before, mutant.after))
    return f"{mutant.path}:{mutant.line}: {before} → {after}"
