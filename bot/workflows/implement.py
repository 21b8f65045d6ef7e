"""One attempt's change: ask the agents in order, take what the first one offers, all of it or nothing.

The tree starts from the last recorded snapshot, so asking again after a crash starts from the same place."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

from bot.agent.developer import Developer
from bot.errors import Refused, UserError
from bot.model import AgentTask, Artifact, KnownError, Phase, Proposal
from bot.reports.history import error_guidance, file_guidance
from bot.rules.changes_made import MECHANICAL
from bot.rules.course import NOTHING_OFFERED, Implement, RunState
from bot.rules.fixable import to_fix
from bot.rules.patches import check_changes
from bot.rules.run_state import SAME_PATCH
from bot.rules.sayings import write
from bot.store.runs import Draft, RunRow
from bot.workflows.begin import open_tree
from bot.workflows.context import Context
from bot.workflows.learn import change_hash, guidance, tried_before
from bot.workflows.local import keep_found
from bot.workflows.tampering import weakenings
from bot.workspace.artifacts import write_log
from bot.workspace.beside import Beginning
from bot.workspace.git import GitError
from bot.workspace.patch import apply_changes
from bot.workspace.tree import PathChange, Tree

FREE = MECHANICAL | {"history"}
"""Agents that repeat what they know: where it does not fit here, that is no attempt, and the next is asked."""

MOST_PATCH = 200_000
"""Characters of a change that its artifact holds; the log beside it is whole."""
_PATCHES_SHOWN = 5
_PATHS_SHOWN = 5


@dataclass(frozen=True, slots=True)
class Taken:
    """A change that is in the tree."""

    proposal: Proposal
    snapshot: str
    paths: tuple[str, ...]
    fallbacks: tuple[str, ...]
    patch: str
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PassedOver:
    """Why an agent's answer is no attempt; `repeated` if it was a change that is known not to help."""

    why: str
    repeated: bool = False
    touched: bool = True
    """The tree may not be as it was before."""


async def implement(context: Context, row: RunRow, state: RunState, action: Implement) -> None:
    """Put one agent's change in the tree and record it, or record why there is none."""
    assert state.snapshot is not None
    tree, attempt = await open_tree(context, row, state), action.attempt
    facts: dict[str, Any] = {"phase": Phase.IMPLEMENTATION, "iteration": attempt}
    told = await guidance(context, row, state)
    await _open(context, row, state, facts, told)
    if row.spec.workspace is not None:
        await keep_found(context, row, state, tree)
    task = await _task(context, row, state, tree, told, attempt)
    passed_over: dict[str, PassedOver] = {}
    begin = await Beginning.of(tree, state.snapshot, own=row.spec.workspace is None)
    touched = False
    for developer in context.developers(row):
        if touched:
            await begin.restore()
        started = Draft(
            type="agent_started", key=f"agent:{attempt}:{developer.name}", data={"agent": developer.name}, **facts
        )
        await context.stores.runs.append(row.id, [started])
        touched = True
        try:
            answer = await _ask(context, row, state, developer, task, tree)
        except UserError as error:
            if developer.name in FREE:
                passed_over[developer.name] = PassedOver(f"its change does not fit here: {error}")
                continue
            await begin.restore()
            await _failed(context, row, facts, developer.name, error)
            return
        if isinstance(answer, Taken):
            notes = (*answer.notes, *_left_out(await begin.clear(answer.snapshot)))
            await _applied(context, row, state, tree, replace(answer, notes=notes), facts)
            return
        passed_over[developer.name], touched = answer, answer.touched
    await begin.restore()
    await _nothing(context, row, facts, passed_over)


async def _open(
    context: Context, row: RunRow, state: RunState, facts: dict[str, Any], told: Sequence[KnownError]
) -> None:
    attempt = facts["iteration"]
    data = {
        "attempt": _number(state, attempt),
        "of": row.spec.most_attempts,
        "guidance": [known.model_dump(mode="json") for known in _brief(told)],
    }
    opening = [
        Draft(type="phase_started", key=f"implementation:{attempt}", **facts),
        Draft(type="attempt_started", key=f"attempt:{attempt}", data=data, **facts),
    ]
    await context.stores.runs.append(row.id, opening)


def _number(state: RunState, turn: int) -> int:
    """Which attempt that turn of the loop counts as."""
    return replace(state, attempt=turn).counted


def _brief(told: Sequence[KnownError]) -> list[KnownError]:
    """Without their patches, which may be long and stand in the history."""
    no_patch = {"patch": None}
    return [known.model_copy(update={"resolution": known.resolution.model_copy(update=no_patch)}) for known in told]


async def _nothing(context: Context, row: RunRow, facts: dict[str, Any], passed_over: dict[str, PassedOver]) -> None:
    told = "; ".join(f"{name}: {answer.why}" for name, answer in passed_over.items())
    nobody = write("no_agent")
    message = told or nobody.text
    repeated = any(answer.repeated for answer in passed_over.values())
    reason = SAME_PATCH if repeated else NOTHING_OFFERED
    said = None if told else nobody.model_dump()
    data = {"reason": reason, "message": context.mask(message), "said": said}
    failed = Draft(type="phase_failed", key=f"implementation_done:{facts['iteration']}", data=data, **facts)
    await context.stores.runs.append(row.id, [failed])


async def _task(
    context: Context, row: RunRow, state: RunState, tree: Tree, told: Sequence[KnownError], turn: int
) -> AgentTask:
    language = row.spec.policy.language or context.settings.language
    failing = set(state.failing)
    known = [
        (error_guidance if not one.exact or one.error in failing else file_guidance)(one, language) for one in told
    ]
    tried = state.made[-_PATCHES_SHOWN:]
    return AgentTask(
        run_id=row.id,
        attempt=_number(state, turn),
        max_attempts=row.spec.most_attempts,
        task=row.spec.task,
        focus=state.focus,
        previous=state.validations,
        baseline=state.baseline,
        style=to_fix(state),
        fingerprints=state.failing,
        guidance=(*known, *(f"An earlier change was not taken: {trouble}" for trouble in state.troubles)),
        failed_patches=tuple(await asyncio.gather(*(tree.diff(made.before, made.after) for made in tried))),
    )


async def _ask(
    context: Context, row: RunRow, state: RunState, developer: Developer, task: AgentTask, tree: Tree
) -> Taken | PassedOver:
    """What the agent's offer left in the tree, or why there is nothing; raises UserError where it was refused."""
    before, base = state.snapshot, state.base_sha
    assert before is not None and base is not None
    proposal = await developer.propose(task, tree.path)
    if proposal.untouched and not proposal.offered:
        return PassedOver(proposal.note or "nothing to offer", touched=False)
    if state.branch and await tree.head() != base:
        await tree.rewind(base, state.branch)  # outside the box an agent can commit; its change is taken from the tree
    if not proposal.offered:
        return PassedOver(proposal.note or "nothing to offer")
    protected = row.spec.policy.protected_paths
    fallbacks: tuple[str, ...] = ()
    if proposal.changes:
        await tree.restore(before)  # what it also did by hand is not part of the offer
        fallbacks = (await apply_changes(tree, proposal.changes, protected=protected)).fallbacks
    after, changed = await _outcome(tree, before)
    if developer.name in MECHANICAL and (beyond := _beyond(changed, task)):
        await tree.restore(before, beyond)
        after, changed = await _outcome(tree, before)
    if not changed:
        return PassedOver(proposal.note or "changed nothing")
    refusal = check_changes(changed, protected)
    if refusal is not None:
        raise Refused(refusal.reason, refusal.message)
    # the policy comes first: it keeps what is read here small
    commands = [stage.command.text for stage in state.stages if stage.command]
    patch, notes = await asyncio.gather(
        _diff(tree, before, after), weakenings(tree, before, after, changed, named=state.focus, commands=commands)
    )
    paths = tuple(item.path for item in changed)
    added = "\n".join(line[1:] for line in patch.splitlines() if line.startswith("+"))
    if context.holds_secret(added):
        raise Refused("secret", f"the change to {', '.join(paths[:5])} holds a credential of this bot or of its agent")
    tried = await tried_before(context, row, state, patch)
    if tried is not None:
        return PassedOver(tried, repeated=True)
    return Taken(proposal, after, paths, fallbacks, patch, notes)


def _left_out(gone: Sequence[str]) -> tuple[str, ...]:
    """A sentence on what the agent made and no commit has; none where that was nothing."""
    if not gone:
        return ()
    named = ", ".join(gone[:_PATHS_SHOWN]) + (" and more" if gone[_PATHS_SHOWN:] else "")
    return (f"The agent also made {named}. Git leaves that out, so it was deleted before the checks.",)


def _beyond(changed: Sequence[PathChange], task: AgentTask) -> list[str]:
    """What a mechanical agent did beside editing files with findings."""
    return [one.path for one in changed if one.path not in task.style.files or one.status != "M"]


async def _outcome(tree: Tree, before: str) -> tuple[str, tuple[PathChange, ...]]:
    """The tree as it is now, and the paths that differ from how it was."""
    after = await tree.snapshot()
    return after, await tree.changed(before, after)


async def _diff(tree: Tree, before: str, after: str) -> str:
    """The change as text. What passed the policy is small when written, but a file that was taken away may be huge."""
    try:
        return await tree.diff(before, after)
    except GitError as error:
        raise Refused("too_large", f"the change can't be told as a diff: {error.reason}") from error


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
    _, whole = await asyncio.gather(tree.keep(taken.snapshot, ref), _paths(tree, state, taken))
    patch = context.mask(taken.patch)
    data = {
        "agent": taken.proposal.agent,
        "paths": taken.paths,
        "allPaths": sorted(whole),
        "snapshot": taken.snapshot,
        "ref": ref,
        "patchHash": change_hash(row, taken.patch),
        "tools": taken.proposal.tools,
        "replays": taken.proposal.replays,
        "note": context.mask(taken.proposal.note),
        "notes": taken.notes,
        "diff": write_log(context.settings.home, row.id, f"attempt-{attempt}.diff", patch.encode()),
    }
    artifact = Artifact(
        id=f"{row.id}.implementation.{attempt}",
        session_id=row.id,
        phase=Phase.IMPLEMENTATION,
        iteration=attempt,
        created_at=datetime.now(UTC),
        data={name: data[name] for name in ("agent", "paths", "patchHash", "tools", "note", "notes", "diff")}
        | {"fallbacks": taken.fallbacks, "patch": patch[:MOST_PATCH]},
    )
    await context.stores.runs.append(row.id, _drafts(attempt, data, taken.fallbacks, facts, artifact.id), [artifact])


async def _paths(tree: Tree, state: RunState, taken: Taken) -> Sequence[str]:
    """What all attempts together have changed."""
    assert state.start is not None
    if state.snapshot == state.start:
        return taken.paths
    return [item.path for item in await tree.changed(state.start, taken.snapshot)]


def _drafts(
    attempt: int, data: dict[str, Any], fallbacks: Sequence[str], facts: dict[str, Any], artifact: str
) -> list[Draft]:
    drafts = [
        Draft(type="patch_fallback_applied", key=f"fallback:{attempt}:{path}", data={"path": path}, **facts)
        for path in fallbacks
    ]
    return [
        *drafts,
        Draft(type="changes_applied", key=f"changes:{attempt}", data=data, **facts),
        Draft(type="artifact_created", key=f"artifact:{artifact}", data={"artifact": artifact}, **facts),
        Draft(type="phase_completed", key=f"implementation_done:{attempt}", data={"agent": data["agent"]}, **facts),
    ]
