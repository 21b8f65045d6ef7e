"""The trees of a run of checks: the head of the pull request and, where something failed, the commit it is compared
with. Both are detached checkouts beside the mirror's worktrees and take no slot (spec G.6)."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from bot.errors import Refused
from bot.model import SetupDone, SetupPlan
from bot.rules.pull_state import PullState
from bot.store.pulls import PullRow
from bot.workflows.context import Context
from bot.workflows.setup import carry_out, shelf_of
from bot.workspace.artifacts import write_log
from bot.workspace.detached import begin_with, begun_with, ensure_detached
from bot.workspace.sandbox import Grant
from bot.workspace.setup_plan import plan_setup
from bot.workspace.tree import Tree
from bot.workspace.worktree import remove_worktree

Which = Literal["head", "base"]


@dataclass(frozen=True, slots=True)
class Ready:
    """A tree in which checks may run, and the snapshot that each of them finds there."""

    tree: Tree
    snapshot: str
    setup: tuple[SetupDone, ...] = ()
    """The steps of its setup, where this was done now."""


def trees_path(home: Path, row: PullRow) -> Path:
    """The directory that holds a run's trees and nothing else."""
    return home / "pulls" / row.spec.repo.owner / row.spec.repo.name / row.id


async def head_tree(context: Context, row: PullRow) -> Tree:
    """The tree at the very commit that was asked for, as that commit has it but for what git ignores (T11)."""
    return await ensure_detached(
        context.mirror(row.spec.repo), trees_path(context.settings.home, row) / "head", row.spec.head_sha
    )


async def ready_tree(context: Context, row: PullRow, state: PullState, which: Which) -> Ready:
    """The tree of the head or of the base with setup done; Refused (`setup_failed`) where that fails.

    What setup and earlier checks made stays until the run ends; the commit's own files are as it has them."""
    sha = row.spec.head_sha if which == "head" else state.base_sha
    tree = await ensure_detached(context.mirror(row.spec.repo), trees_path(context.settings.home, row) / which, sha)
    snapshot = begun_with(tree)
    if snapshot is not None:
        return Ready(tree, snapshot)
    snapshot, steps = await _set_up(context, row, state, tree, which)
    begin_with(tree, snapshot)
    return Ready(tree, snapshot, steps)


def plan_of_tree(row: PullRow, tree: Path, near: Sequence[str]) -> SetupPlan:
    """How one of the trees is set up: by the base branch's configuration (T14), else by what its own files tell."""
    return plan_setup(tree, near, configured=row.spec.policy.setup)


async def remove_trees(context: Context, row: PullRow) -> None:
    """Remove the run's trees; absent is fine."""
    where, mirror = trees_path(context.settings.home, row), context.mirror(row.spec.repo)
    for path in sorted(where.glob("*")):
        await remove_worktree(mirror, path)
    if where.is_dir():
        where.rmdir()


def grant_of(context: Context, row: PullRow) -> Grant:
    """What a command in the box may read beside its tree: the mirror that its `.git` file names."""
    return Grant(read_only=(context.mirror(row.spec.repo),))


async def _set_up(
    context: Context, row: PullRow, state: PullState, tree: Tree, which: Which
) -> tuple[str, tuple[SetupDone, ...]]:
    """Set a tree up; the snapshot of what that left, and its steps. Files of the commit that it had changed are
    restored."""
    spec, base = row.spec, which == "base"
    sha = state.base_sha if base else spec.head_sha
    plan = await asyncio.to_thread(plan_of_tree, row, tree.path, state.near)
    if not plan.steps:
        return sha, ()
    shelf = await shelf_of(context, spec.repo, spec.base_ref if base else None, sha)
    done = await carry_out(context, plan, tree, sha, grant=grant_of(context, row), shelf=shelf)
    write_log(context.settings.home, row.id, f"{which}-setup.log", done.log.encode())
    if done.failed is not None:
        raise Refused("setup_failed", done.failed.text)
    return done.snapshot, done.steps
