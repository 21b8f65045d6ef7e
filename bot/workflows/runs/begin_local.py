"""Starts a session in a person's own tree: waits for its turn there, takes the present files as the base, and chooses
the checks."""

from __future__ import annotations

import asyncio
from pathlib import Path

from bot.agent.planner import named_files
from bot.errors import Transient
from bot.model.events.phases import PlanningStarted
from bot.model.events.runs import SessionStarted
from bot.reports.locale.reasons import english, user_error
from bot.rules.reasons import make_reason
from bot.store.runs.runs import RunRow
from bot.workflows.checks.checks_to_run import get_stages
from bot.workflows.context import Context
from bot.workflows.runs.abandoned import end_if_abandoned
from bot.workflows.runs.setup_local import plan_in_place
from bot.workspace.mirror.mirror import list_files
from bot.workspace.worktree.shadow_repo import open_shadow


class Busy(Transient):
    """Another session works in this tree; the reason names it."""


async def begin_local(context: Context, row: RunRow) -> None:
    """Take the tree's present files as the base, and record the checks (REQ-RUN-002)."""
    tree_path, spec = context.tree_path(row), row.spec
    if not tree_path.is_dir():
        raise user_error(make_reason("session.tree_absent", path=str(tree_path)))
    await _check_tree_is_free(context, row)
    tree = await open_shadow(tree_path, context.git_dir(row.id, spec), apart=(context.settings.home,))
    base, snapshot = await tree.head(), await tree.snapshot()
    files = await list_files(tree.git_dir, base)
    focus = tuple(dict.fromkeys((*spec.files, *named_files(spec.task, files))))
    planning = PlanningStarted(
        base_sha=base,
        branch="",
        sandbox=context.sandbox.description,
        snapshot=snapshot,
        stages=get_stages(spec, tree_path, focus),
        focus=focus,
        setup=await asyncio.to_thread(plan_in_place, tree_path, focus, spec.policy.setup),
    )
    await context.stores.runs.append(row.id, [SessionStarted(task=context.mask(spec.task[:2000])), planning])


async def _check_tree_is_free(context: Context, row: RunRow) -> None:
    """Raises Busy while an older session works in this tree, in one around it or in one below."""
    own = Path(row.spec.place)
    for other in await context.stores.runs.unfinished():
        if other.id == row.id or other.spec.workspace is None:
            continue
        theirs = Path(other.spec.workspace)
        older = (other.created_at, other.id) < (row.created_at, row.id)
        shared = own.is_relative_to(theirs) or theirs.is_relative_to(own)
        # an abandoned session still has its change in the tree; restoring the tree later would undo this session's
        if older and shared and not await end_if_abandoned(context, other):
            because = make_reason("wait.session", id=other.id, path=str(theirs))
            raise Busy(english(because), because=because)
