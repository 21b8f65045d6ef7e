"""One agent asked for a change: what it left in the tree, or why that is no change to try."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from bot.agent.developer import Developer
from bot.errors import Refused, UserError
from bot.model import AgentTask, Proposal
from bot.model.reasons import Reason
from bot.reports.locale.reasons import refused
from bot.rules.patches.change_policy import check_changes
from bot.rules.patches.formatting_only import is_restyled, style_is_no_matter, task_paths
from bot.rules.reasons import error_reason, make_reason
from bot.rules.runs.changes import FREE, MECHANICAL
from bot.rules.runs.state import RunState
from bot.rules.tampering.weakened_tests import FileTexts
from bot.store.runs.runs import RunRow
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
    """Of agents that were asked before in the same attempt; all are to hear of it in the next."""


@dataclass(frozen=True, slots=True)
class SkippedAgent:
    """Why an agent's answer is not tried, so that the next agent is asked.

    `repeated` if it was a change that is known not to help; `refused` is the code of a refusal that the agent is to
    hear of in the next attempt, empty where it offered nothing or repeats what it knows."""

    agent: str
    why: Reason
    repeated: bool = False
    refused: str = ""
    touched: bool = True
    """The tree may not be as it was before."""

    @property
    def reason(self) -> Reason:
        return make_reason("agent", agent=self.agent, why=self.why)


async def ask(
    context: Context, row: RunRow, state: RunState, developer: Developer, task: AgentTask, tree: Tree
) -> AcceptedChange | SkippedAgent:
    """What the agent's offer left in the tree, or why the next agent is asked."""
    try:
        return await _asked(context, row, state, developer, task, tree)
    except UserError as error:
        if developer.name in FREE:
            return SkippedAgent(developer.name, make_reason("agent.misfit", why=error_reason(error)))
        reason = error.reason if isinstance(error, Refused) else _PATCH_FAILED
        return SkippedAgent(developer.name, error_reason(error), refused=reason)


@dataclass(frozen=True, slots=True)
class _Left:
    """What an agent left in the tree: the snapshot, and the paths in it that differ from how it was."""

    proposal: Proposal
    fallbacks: tuple[str, ...]
    snapshot: str
    changed: tuple[PathChange, ...]


async def _asked(
    context: Context, row: RunRow, state: RunState, developer: Developer, task: AgentTask, tree: Tree
) -> AcceptedChange | SkippedAgent:
    """As `ask`; raises UserError where the offer is refused or damaged."""
    before, base, name = state.snapshot, state.base_sha, developer.name
    assert before is not None and base is not None
    proposal = await developer.propose(task, tree.path)
    if proposal.untouched and not proposal.offered:
        return SkippedAgent(name, proposal.because or make_reason("agent.nothing"), touched=False)
    if state.branch and await tree.head() != base:
        await tree.rewind(base, state.branch)  # outside the box an agent can commit; its change is taken from the tree
    if not proposal.offered:
        return SkippedAgent(name, proposal.because or make_reason("agent.nothing"))
    protected = row.spec.policy.protected_paths
    fallbacks: tuple[str, ...] = ()
    if proposal.changes:
        await tree.restore(before)  # what it also did by hand is not part of the offer
        fallbacks = (await apply_changes(tree, proposal.changes, protected=protected)).fallbacks
    after, changed = await _outcome(tree, before)
    if name in MECHANICAL and (beyond := _beyond(changed, task)):
        await tree.restore(before, beyond)
        after, changed = await _outcome(tree, before)
    if not changed:
        return SkippedAgent(name, proposal.note or make_reason("agent.no_change"))
    return await _judged(context, row, state, _Left(proposal, fallbacks, after, changed), tree)


async def _judged(
    context: Context, row: RunRow, state: RunState, left: _Left, tree: Tree
) -> AcceptedChange | SkippedAgent:
    """What of the agent's change may stay; raises Refused where nothing may."""
    before, name = state.snapshot, left.proposal.agent
    assert before is not None
    refusal = check_changes(left.changed, row.spec.policy.protected_paths)
    if refusal is not None:
        raise refused(refusal.reason, refusal.because)
    # the policy comes first: it keeps what is read here small
    after, changed = left.snapshot, left.changed
    edited = [one.path for one in changed if not one.binary]
    read = await file_texts(tree.git_dir, before, after, [*edited, *SCRIPTS])
    files, scripts = read[: len(edited)], read[len(edited) :]
    restyled = [] if row.spec.given else await _restyled(files, left, state)
    if len(restyled) == len(changed):
        raise refused(RESTYLED, make_reason("refused.restyled", paths=_named(restyled)))
    if restyled:
        await tree.restore(before, restyled)
        after, changed = await _outcome(tree, before)
    commands = [stage.command.text for stage in state.stages if stage.command]
    files = tuple(one for one in files if one.path not in restyled)
    patch, notes = await asyncio.gather(
        _diff(tree, before, after), check_weakened_tests(files, scripts, named=state.focus, commands=commands)
    )
    paths = tuple(item.path for item in changed)
    added = "\n".join(line[1:] for line in patch.splitlines() if line.startswith("+"))
    if context.holds_secret(added):
        raise refused("secret", make_reason("refused.secret", paths=_named(paths)))
    tried = await tried_before(context, row, state, patch)
    if tried is not None:
        return SkippedAgent(name, tried, repeated=True)
    if restyled:
        notes = (*notes, make_reason("note.reformatted", paths=_named(restyled)))
    return AcceptedChange(left.proposal, after, paths, left.fallbacks, patch, notes)


def _beyond(changed: Sequence[PathChange], task: AgentTask) -> list[str]:
    """What a mechanical agent did beside editing files with findings."""
    return [one.path for one in changed if one.path not in task.style.files or one.status != "M"]


async def _restyled(files: Sequence[FileTexts], left: _Left, state: RunState) -> list[str]:
    """The files that the change only lays out otherwise, where that can't be what is asked for."""
    if not style_is_no_matter(state.standing):
        return []
    asked = task_paths(state.focus, state.standing)
    edited = {one.path for one in left.changed if one.status == "M" and one.old_mode == one.new_mode and not one.binary}

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


async def _outcome(tree: Tree, before: str) -> tuple[str, tuple[PathChange, ...]]:
    """The tree as it is now, and the paths that differ from how it was."""
    after = await tree.snapshot()
    return after, await tree.changed(before, after)


async def _diff(tree: Tree, before: str, after: str) -> str:
    """The change as text. What passed the policy is small when written, but a file that was taken away may be huge."""
    try:
        return await tree.diff(before, after)
    except GitError as error:
        raise refused("too_large", make_reason("refused.no_diff", why=error.reason)) from error
