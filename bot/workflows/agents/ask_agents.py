"""Asks one agent for a change and examines it: the change that is in the tree, or why it is not tried."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace

from bot.agent.protocol import Agent
from bot.errors import Refused, UserError
from bot.model import AgentTask, Proposal, Usage
from bot.model.agents import NO_MODEL
from bot.model.reasons import Reason
from bot.reports.locale.reasons import refused
from bot.rules.patches.change_policy import check_changes
from bot.rules.patches.formatting_only import is_restyled, style_is_no_matter, task_paths
from bot.rules.reasons import error_reason, make_reason
from bot.rules.runs.changes import FREE, MECHANICAL
from bot.rules.runs.state import RunState
from bot.rules.tampering.weakened_tests import FileTexts
from bot.store.runs.runs import RunRow
from bot.workflows.agents.usage import with_duration
from bot.workflows.context import Context
from bot.workflows.history.learn_from_runs import tried_before
from bot.workflows.tampering import SCRIPTS, check_weakened_tests, file_texts
from bot.workspace.git.command import GitError
from bot.workspace.git.diff import PathChange
from bot.workspace.git.tree import Tree
from bot.workspace.patch import apply_changes

_PATCH_FAILED = "patch_failed"
RESTYLED = "restyled"
_PATHS_SHOWN = 5


@dataclass(frozen=True, slots=True)
class AcceptedChange:
    """A change that is in the tree."""

    proposal: Proposal
    snapshot: str
    paths: tuple[str, ...]
    fallbacks: tuple[str, ...]
    patch: str
    notes: tuple[Reason, ...]
    refusals: tuple[Reason, ...] = ()
    """Of agents that were asked before in the same attempt; the next attempt's prompt names them."""
    usage: Usage = NO_MODEL


@dataclass(frozen=True, slots=True)
class SkippedAgent:
    """Why an agent's answer is not tried, so that the next agent is asked.

    `repeated`: the change is known not to help. `refused` is the code of a refusal that the next attempt's prompt
    names; it is empty where the agent offered nothing or repeated itself."""

    agent: str
    why: Reason
    repeated: bool = False
    refused: str = ""
    touched: bool = True
    """The tree may differ from how it was before."""
    over_budget: bool = False
    usage: Usage = NO_MODEL
    same_as: int | None = None
    """The number of the candidate of the attempt that is the same change."""

    @property
    def reason(self) -> Reason:
        return make_reason("agent", agent=self.agent, why=self.why)


async def ask(
    context: Context, row: RunRow, state: RunState, developer: Agent, task: AgentTask, tree: Tree
) -> AcceptedChange | SkippedAgent:
    """The change that the agent made in the tree, or why the next agent is asked."""
    usage, began = Usage(), time.monotonic()
    answer: AcceptedChange | SkippedAgent
    try:
        proposal = await developer.propose(task, tree.path)
        usage = with_duration(proposal.usage, began)
        answer = await _tried(context, row, state, proposal, task, tree)
    except UserError as error:
        if developer.name in FREE:
            answer = SkippedAgent(developer.name, make_reason("agent.misfit", why=error_reason(error)))
        else:
            reason = error.reason if isinstance(error, Refused) else _PATCH_FAILED
            answer = SkippedAgent(developer.name, error_reason(error), refused=reason)
    return replace(answer, usage=usage)


@dataclass(frozen=True, slots=True)
class _RawChange:
    """An agent's change before it is examined: the snapshot of the tree, and the paths that differ from before."""

    proposal: Proposal
    fallbacks: tuple[str, ...]
    snapshot: str
    changed: tuple[PathChange, ...]


async def _tried(
    context: Context, row: RunRow, state: RunState, proposal: Proposal, task: AgentTask, tree: Tree
) -> AcceptedChange | SkippedAgent:
    """As `ask`, for the agent's proposal; raises UserError where it is refused or damaged."""
    before, base, name = state.snapshot, state.base_sha, proposal.agent
    assert before is not None and base is not None
    if proposal.untouched and not proposal.offered:
        why = proposal.because or make_reason("agent.nothing")
        return SkippedAgent(name, why, touched=False, over_budget=proposal.over_budget)
    if state.branch and await tree.head() != base:  # an agent without a sandbox can commit
        await tree.rewind(base, "" if state.candidate else state.branch)  # its change is read from the tree
    if not proposal.offered:
        return SkippedAgent(name, proposal.because or make_reason("agent.nothing"))
    protected = row.spec.policy.protected_paths
    fallbacks: tuple[str, ...] = ()
    if proposal.changes:
        await tree.restore(before)  # what it also did by hand is not part of the offer
        fallbacks = (await apply_changes(tree, proposal.changes, protected=protected)).fallbacks
    after, changed = await _snapshot(tree, before)
    if name in MECHANICAL and (extra := _out_of_scope(changed, task)):
        await tree.restore(before, extra)
        after, changed = await _snapshot(tree, before)
    if not changed:
        return SkippedAgent(name, proposal.note or make_reason("agent.no_change"))
    return await _examine(context, row, state, _RawChange(proposal, fallbacks, after, changed), tree)


async def _examine(
    context: Context, row: RunRow, state: RunState, change: _RawChange, tree: Tree
) -> AcceptedChange | SkippedAgent:
    """The part of the agent's change that may stay; raises Refused where none may."""
    before, name = state.snapshot, change.proposal.agent
    assert before is not None
    refusal = check_changes(change.changed, row.spec.policy.protected_paths)
    if refusal is not None:
        raise refused(refusal.reason, refusal.because)
    # the policy comes first: it limits the size of what is read here
    after, changed = change.snapshot, change.changed
    edited = [one.path for one in changed if not one.binary]
    read = await file_texts(tree.git_dir, before, after, [*edited, *SCRIPTS])
    files, scripts = read[: len(edited)], read[len(edited) :]
    reformatted = [] if row.spec.given else await _reformatted(files, change, state)
    if len(reformatted) == len(changed):
        raise refused(RESTYLED, make_reason("refused.restyled", paths=_named(reformatted)))
    if reformatted:
        await tree.restore(before, reformatted)
        after, changed = await _snapshot(tree, before)
    commands = [stage.command.text for stage in state.stages if stage.command]
    files = tuple(one for one in files if one.path not in reformatted)
    patch, notes = await asyncio.gather(
        _diff(tree, before, after), check_weakened_tests(files, scripts, named=state.focus, commands=commands)
    )
    paths = tuple(item.path for item in changed)
    added = "\n".join(line[1:] for line in patch.splitlines() if line.startswith("+"))
    if context.holds_secret(added):
        raise refused("secret", make_reason("refused.secret", paths=_named(paths)))
    same = state.tournament.same_as(after) if state.candidate and state.tournament else None
    if same is not None:
        return SkippedAgent(name, make_reason("candidate.same", candidate=same), repeated=True, same_as=same)
    tried = await tried_before(context, row, state, patch)
    if tried is not None:
        return SkippedAgent(name, tried, repeated=True)
    if reformatted:
        notes = (*notes, make_reason("note.reformatted", paths=_named(reformatted)))
    return AcceptedChange(change.proposal, after, paths, change.fallbacks, patch, notes)


def _out_of_scope(changed: Sequence[PathChange], task: AgentTask) -> list[str]:
    """The paths that a mechanical agent changed beside editing files with findings."""
    return [one.path for one in changed if one.path not in task.style.files or one.status != "M"]


async def _reformatted(files: Sequence[FileTexts], change: _RawChange, state: RunState) -> list[str]:
    """The files that the change only reformats, where the task cannot be about formatting."""
    if not style_is_no_matter(state.standing):
        return []
    asked = task_paths(state.focus, state.standing)
    edited = {
        one.path for one in change.changed if one.status == "M" and one.old_mode == one.new_mode and not one.binary
    }

    def judged() -> list[str]:
        return [
            one.path
            for one in files
            if one.path in edited - asked
            and one.before is not None
            and one.after is not None
            and is_restyled(one.path, one.before, one.after)
        ]

    return await asyncio.to_thread(judged)


def _named(paths: Sequence[str]) -> str:
    return ", ".join(paths[:_PATHS_SHOWN]) + (", …" if paths[_PATHS_SHOWN:] else "")


async def _snapshot(tree: Tree, before: str) -> tuple[str, tuple[PathChange, ...]]:
    """A snapshot of the tree as it is now, and the paths that differ from before."""
    after = await tree.snapshot()
    return after, await tree.changed(before, after)


async def _diff(tree: Tree, before: str, after: str) -> str:
    """The change as text. The policy limits what is written, but a file that was deleted may be huge."""
    try:
        return await tree.diff(before, after)
    except GitError as error:
        raise refused("too_large", make_reason("refused.no_diff", why=error.reason)) from error
