"""Asks an agent for a test that fails because of the fault, before any fix, and sees it fail (REQ-PROOF-001).

The attempts are counted apart from those of the fix. Of an agent's change only the test files stay."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from datetime import UTC, datetime

from bot.agent.protocol import Agent
from bot.model import AgentTask, Artifact, Phase, Validation
from bot.model.events.phases import PhaseStarted
from bot.model.events.proof import ReproductionCompleted, ReproductionEnded, ReproductionFailed
from bot.model.events.runs import AgentStarted, ArtifactCreated
from bot.model.reasons import Reason
from bot.reports.locale.catalog import t
from bot.reports.locale.reasons import english, english_json
from bot.rules.reasons import all_reasons, make_reason
from bot.rules.runs.changes import FREE
from bot.rules.runs.failing_tests import failing_tests
from bot.rules.runs.next_action import Reproduce
from bot.rules.runs.pipeline import make_validation, runs_tests
from bot.rules.runs.reproduction import MAX_REPRODUCTION_ATTEMPTS
from bot.rules.runs.state import RunState
from bot.rules.tampering.test_source import is_test
from bot.store.runs.runs import RunRow
from bot.workflows.agents.ask_agents import AcceptedChange, ask
from bot.workflows.agents.usage import agent_ended
from bot.workflows.context import Context
from bot.workflows.runs.begin import open_tree
from bot.workflows.runs.changed_tests import changed_tests
from bot.workflows.runs.local_tree import save_edits
from bot.workflows.runs.run_stage import Select, run_stage
from bot.workspace.checks.logs import write_log
from bot.workspace.checks.single_tests import command_for_files
from bot.workspace.files.nofollow import touch_files
from bot.workspace.git.tree import Tree
from bot.workspace.worktree.untracked_files import StartingTree

MAX_TESTS = 50
"""Failing tests that are recorded."""
_NO_TEST = frozenset({"agent.nothing_offered", "reproduction.no_test"})
"""Reasons after which the same agent is not asked again."""


async def reproduce(context: Context, row: RunRow, state: RunState, action: Reproduce) -> None:
    """Ask the agents once each for a failing test, until one gives it; record it, or why there is none."""
    assert state.snapshot is not None
    tree, attempt, runs = await open_tree(context, row, state), action.attempt, context.stores.runs
    await runs.append(row.id, [PhaseStarted(phase=Phase.REPRODUCTION, iteration=attempt)])
    if row.spec.workspace is not None:
        await save_edits(context, row, state, tree)
    begin = await StartingTree.of(tree, state.snapshot, own=row.spec.workspace is None)
    agents = [agent for agent in context.developers(row) if agent.name not in FREE]
    reasons, offered = list[Reason](), False
    for nth, agent in enumerate(agents, start=1):
        started = AgentStarted(phase=Phase.REPRODUCTION, iteration=attempt, agent=agent.name, nth=nth)
        await runs.append(row.id, [started])
        found = await _ask_one(context, row, state, _Asked(agent, attempt, tree, begin))
        if isinstance(found, ReproductionCompleted):
            await _record(context, row, found)
            return
        offered = offered or found.kind not in _NO_TEST
        reasons.append(make_reason("agent", agent=agent.name, why=found))
        await begin.restore()
    because = all_reasons(reasons).map_text(context.mask) if reasons else make_reason("no_agent")
    final = not offered or attempt >= MAX_REPRODUCTION_ATTEMPTS
    name = agents[-1].name if agents else ""
    await _record(context, row, ReproductionFailed(iteration=attempt, agent=name, because=because, final=final))


@dataclass(frozen=True, slots=True)
class _Asked:
    """An agent that is asked, in which attempt, and the tree as it was before."""

    agent: Agent
    attempt: int
    tree: Tree
    begin: StartingTree


async def _ask_one(context: Context, row: RunRow, state: RunState, asked: _Asked) -> ReproductionCompleted | Reason:
    """The agent's failing test, which is in the tree, or why there is none."""
    agent, attempt, tree, begin = asked.agent, asked.attempt, asked.tree, asked.begin
    answer = await ask(context, row, state, agent, _task(row, state, attempt), tree)
    ended = agent_ended(Phase.REPRODUCTION, attempt, agent.name, answer.usage)
    await context.stores.runs.append(row.id, [ended])
    if not isinstance(answer, AcceptedChange):
        return answer.why if answer.refused else make_reason("agent.nothing_offered", why=answer.why)
    assert state.snapshot is not None
    paths = await changed_tests(tree, state, answer.snapshot, answer.paths)
    if not paths:
        return make_reason("reproduction.no_test")
    await tree.restore(state.snapshot)
    await tree.restore(answer.snapshot, paths)
    snapshot = await tree.snapshot()
    await begin.delete_new(snapshot)
    await asyncio.to_thread(touch_files, tree.path, paths)
    found = await _fails(context, row, state, asked, snapshot)
    if isinstance(found, Reason):
        return found
    validation, tests = found
    ref = await _keep(tree, row, snapshot)
    patch = context.mask(await tree.diff(state.snapshot, snapshot))
    return ReproductionCompleted(
        iteration=attempt,
        agent=agent.name,
        paths=paths,
        snapshot=snapshot,
        ref=ref,
        diff=write_log(context.settings.home, row.id, "failing-test.diff", patch.encode()),
        tests=tests[:MAX_TESTS],
        validation=validation,
    )


async def _keep(tree: Tree, row: RunRow, snapshot: str) -> str:
    ref = f"refs/mendbot/runs/{row.id}/test"
    await tree.keep(snapshot, ref)
    return ref


async def _fails(
    context: Context, row: RunRow, state: RunState, asked: _Asked, snapshot: str
) -> tuple[Validation, tuple[str, ...]] | Reason:
    """The checks with the new test and the tests that fail in them; else why these show no fault."""
    steps, tests, unloaded = [], list[str](), False
    assert state.snapshot is not None
    new = tuple(item.path for item in await asked.tree.changed(state.snapshot, snapshot) if is_test(item.path))
    select: Select | None = (lambda command, tree: command_for_files(command, new, tree)) if new else None
    for stage in filter(runs_tests, state.stages):
        ran = await run_stage(context, row, state, asked.tree, stage, snapshot=snapshot, select=select)
        write_log(context.settings.home, row.id, f"failing-test-{asked.attempt}-{stage.name}.log", ran.log)
        failed = failing_tests(ran.step, ran.errors, ran.suite)
        steps.append(ran.step)
        if failed is None:
            continue
        unloaded = unloaded or failed.not_loaded
        if not failed.not_loaded:
            tests += failed.tests
            return make_validation(steps), tuple(tests)
    return make_reason("reproduction.not_loaded" if unloaded else "reproduction.passes")


def _task(row: RunRow, state: RunState, attempt: int) -> AgentTask:
    before = state.reproduction.because if state.reproduction else None
    return AgentTask(
        run_id=row.id,
        attempt=attempt,
        max_attempts=MAX_REPRODUCTION_ATTEMPTS,
        task=row.spec.task,
        focus=state.focus,
        baseline=state.baseline,
        only_test=True,
        guidance=(t("en", "task.not_applied", why=english(before)),) if before else (),
    )


async def _record(context: Context, row: RunRow, ended: ReproductionEnded) -> None:
    artifact = Artifact(
        id=f"{row.id}.reproduction.{ended.iteration}",
        session_id=row.id,
        phase=Phase.REPRODUCTION,
        iteration=ended.iteration,
        created_at=datetime.now(UTC),
        data=english_json(ended.data()),
    )
    created = ArtifactCreated(phase=Phase.REPRODUCTION, iteration=ended.iteration, artifact=artifact.id)
    assert isinstance(ended, ReproductionCompleted | ReproductionFailed)
    await context.stores.runs.append(row.id, [created, ended], [artifact])
