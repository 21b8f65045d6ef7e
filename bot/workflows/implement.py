"""One attempt's change: ask the agents in order, take what the first one offers, all of it or nothing.

The tree starts from the last recorded snapshot, so asking again after a crash starts from the same place."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from bot.agent.developer import Developer
from bot.errors import Refused, UserError
from bot.model import AgentTask, Phase, Proposal
from bot.rules.course import NOTHING_OFFERED, Implement, RunState
from bot.rules.patches import check_changes
from bot.store.runs import Draft, RunRow
from bot.workflows.begin import open_tree
from bot.workflows.context import Context
from bot.workspace.patch import apply_changes
from bot.workspace.tree import Tree

MECHANICAL = frozenset({"fixers"})
"""Agents that know nothing of the task: of what they did, only what the issues name is kept."""


@dataclass(frozen=True, slots=True)
class Taken:
    """A change that is in the tree."""

    proposal: Proposal
    snapshot: str
    paths: tuple[str, ...]
    fallbacks: tuple[str, ...]
    patch: str


async def implement(context: Context, row: RunRow, state: RunState, action: Implement) -> None:
    """Put one agent's change in the tree and record it, or record why there is none."""
    attempt = action.attempt
    facts: dict[str, Any] = {"phase": Phase.IMPLEMENTATION, "iteration": attempt}
    opening = [
        Draft(type="phase_started", key=f"implementation:{attempt}", **facts),
        Draft(type="attempt_started", key=f"attempt:{attempt}", data={"of": row.spec.most_attempts}, **facts),
    ]
    await context.stores.runs.append(row.id, opening)
    tree = await open_tree(context, row, state)
    task = _task(row, state, attempt)
    passed_over: list[str] = []
    for developer in context.developers(row.spec, tree.path):
        assert state.snapshot is not None
        await tree.restore(state.snapshot)
        started = Draft(
            type="agent_started", key=f"agent:{attempt}:{developer.name}", data={"agent": developer.name}, **facts
        )
        await context.stores.runs.append(row.id, [started])
        try:
            taken = await _ask(context, row, state, developer, task, tree)
        except UserError as error:
            await tree.restore(state.snapshot)
            await _failed(context, row, facts, developer.name, error)
            return
        if isinstance(taken, str):
            passed_over.append(f"{developer.name}: {taken}")
            continue
        await _applied(context, row, state, tree, taken, facts)
        return
    assert state.snapshot is not None
    await tree.restore(state.snapshot)
    message = "; ".join(passed_over) or "no agent is configured: set MENDBOT_AGENTS, or `agents` in .github/mendbot.yml"
    data = {"reason": NOTHING_OFFERED, "message": context.mask(message)}
    failed = Draft(type="phase_failed", key=f"implementation_done:{attempt}", data=data, **facts)
    await context.stores.runs.append(row.id, [failed])


def _task(row: RunRow, state: RunState, attempt: int) -> AgentTask:
    return AgentTask(
        run_id=row.id,
        attempt=attempt,
        max_attempts=row.spec.most_attempts,
        task=row.spec.task,
        focus=state.focus,
        previous=state.validations,
        baseline=state.baseline,
        guidance=tuple(f"An earlier change was not taken: {trouble}" for trouble in state.troubles),
    )


async def _ask(
    context: Context, row: RunRow, state: RunState, developer: Developer, task: AgentTask, tree: Tree
) -> Taken | str:
    """What the agent's offer left in the tree, or why there is nothing; raises UserError where it was refused."""
    before, base, branch = state.snapshot, state.base_sha, state.branch
    assert before is not None and base is not None and branch is not None
    proposal = await developer.propose(task, tree.path)
    if await tree.head() != base:
        await tree.rewind(base, branch)  # outside the box an agent can commit; what it changed is taken from the tree
    if not proposal.offered:
        return proposal.note or "nothing to offer"
    protected = row.spec.policy.protected_paths
    fallbacks: tuple[str, ...] = ()
    if proposal.changes:
        await tree.restore(before)  # what it also did by hand is not part of the offer
        fallbacks = (await apply_changes(tree, proposal.changes, protected=protected)).fallbacks
    after = await tree.snapshot()
    changed, patch = await asyncio.gather(tree.changed(before, after), tree.diff(before, after))
    if developer.name in MECHANICAL and task.focus:
        outside = [item.path for item in changed if item.path not in task.focus]
        if outside:
            await tree.restore(before, outside)
            after = await tree.snapshot()
            changed, patch = await asyncio.gather(tree.changed(before, after), tree.diff(before, after))
    if not changed:
        return proposal.note or "changed nothing"
    refusal = check_changes(changed, protected)
    if refusal is not None:
        raise Refused(refusal.reason, refusal.message)
    paths = tuple(item.path for item in changed)
    added = "\n".join(line[1:] for line in patch.splitlines() if line.startswith("+"))
    if context.holds_secret(added):
        raise Refused("secret", f"the change to {', '.join(paths[:5])} holds a credential of this bot or of its agent")
    return Taken(proposal, after, paths, fallbacks, patch)


async def _failed(context: Context, row: RunRow, facts: dict[str, Any], agent: str, error: UserError) -> None:
    reason = error.reason if isinstance(error, Refused) else "patch_failed"
    message = context.mask(f"{agent}: {error}")
    data = {"agent": agent, "reason": reason, "message": message}
    key = f"implementation_done:{facts['iteration']}"
    await context.stores.runs.append(row.id, [Draft(type="phase_failed", key=key, data=data, **facts)])


async def _applied(
    context: Context, row: RunRow, state: RunState, tree: Tree, taken: Taken, facts: dict[str, Any]
) -> None:
    attempt = facts["iteration"]
    ref = f"refs/mendbot/runs/{row.id}/{attempt}"
    await tree.keep(taken.snapshot, ref)
    assert state.start is not None
    first = state.snapshot == state.start
    whole = taken.paths if first else [item.path for item in await tree.changed(state.start, taken.snapshot)]
    data = {
        "agent": taken.proposal.agent,
        "paths": taken.paths,
        "allPaths": sorted(whole),
        "snapshot": taken.snapshot,
        "ref": ref,
        "patchHash": sha256(taken.patch.encode("utf-8", "surrogateescape")).hexdigest(),
        "tools": taken.proposal.tools,
        "note": context.mask(taken.proposal.note),
    }
    await context.stores.runs.append(row.id, _drafts(attempt, data, taken.fallbacks, facts))


def _drafts(attempt: int, data: dict[str, Any], fallbacks: Sequence[str], facts: dict[str, Any]) -> list[Draft]:
    drafts = [
        Draft(type="patch_fallback_applied", key=f"fallback:{attempt}:{path}", data={"path": path}, **facts)
        for path in fallbacks
    ]
    return [
        *drafts,
        Draft(type="changes_applied", key=f"changes:{attempt}", data=data, **facts),
        Draft(type="phase_completed", key=f"implementation_done:{attempt}", data={"agent": data["agent"]}, **facts),
    ]
