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
from bot.reports.locale.reasons import english
from bot.rules.pulls.check_state import PullCheckState
from bot.store.runs.pull_runs import PullCheckRow
from bot.workflows.checks.setup import SetupResult, get_cache, run_setup
from bot.workflows.context import Context
from bot.workspace.checks.logs import write_log
from bot.workspace.git.tree import Tree
from bot.workspace.sandbox.bubblewrap import SandboxGrant
from bot.workspace.setup.plan import plan_setup
from bot.workspace.worktree.detached import ensure_detached, record_start, recorded_start
from bot.workspace.worktree.run_worktree import remove_worktree

Which = Literal["head", "base"]


@dataclass(frozen=True, slots=True)
class Ready:
    """A tree in which checks may run, and the snapshot with which each of them begins."""

    tree: Tree
    snapshot: str
    setup: tuple[SetupDone, ...] = ()
    """The steps of its setup, where it ran in this call."""


def trees_path(home: Path, row: PullCheckRow) -> Path:
    """The directory that holds a run's trees and nothing else."""
    return home / "pulls" / row.spec.repo.owner / row.spec.repo.name / row.id


async def head_tree(context: Context, row: PullCheckRow) -> Tree:
    """The tree at the very commit that was asked for, as that commit has it but for what git ignores (T11)."""
    return await ensure_detached(
        context.mirror(row.spec.repo), trees_path(context.settings.home, row) / "head", row.spec.head_sha
    )


async def ready_tree(context: Context, row: PullCheckRow, state: PullCheckState, which: Which) -> Ready:
    """The tree of the head or of the base with setup done; SetupFailed where that fails.

    What setup and earlier checks made stays until the run ends; the commit's own files are as it has them."""
    sha = row.spec.head_sha if which == "head" else state.base_sha
    tree = await ensure_detached(context.mirror(row.spec.repo), trees_path(context.settings.home, row) / which, sha)
    snapshot = recorded_start(tree)
    if snapshot is not None:
        return Ready(tree, snapshot)
    snapshot, steps = await _set_up(context, row, state, tree, which)
    record_start(tree, snapshot)
    return Ready(tree, snapshot, steps)


def plan_of_tree(row: PullCheckRow, tree: Path, near: Sequence[str]) -> SetupPlan:
    """The setup plan of a tree: by the base branch's configuration (T14), else detected from the tree's files."""
    return plan_setup(tree, near, configured=row.spec.policy.setup)


async def remove_trees(context: Context, row: PullCheckRow) -> None:
    """Remove the run's trees; absent is fine."""
    where, mirror = trees_path(context.settings.home, row), context.mirror(row.spec.repo)
    for path in sorted(where.glob("*")):
        await remove_worktree(mirror, path)
    if where.is_dir():
        where.rmdir()


def grant_for_head(context: Context, row: PullCheckRow) -> SandboxGrant:
    """A sandboxed command may read the mirror that the tree's `.git` file names, beside the tree."""
    return SandboxGrant(read_only=(context.mirror(row.spec.repo),))


class SetupFailed(Refused):
    """The setup of a tree failed; `details` has the reason."""

    def __init__(self, done: SetupResult) -> None:
        assert done.failed is not None
        super().__init__("setup_failed", english(done.failed), because=done.failed)
        self.details = done.failed
        self.duration_ms = done.duration_ms
        self.exit_code = done.exit_code


async def _set_up(
    context: Context, row: PullCheckRow, state: PullCheckState, tree: Tree, which: Which
) -> tuple[str, tuple[SetupDone, ...]]:
    """Set a tree up; returns a snapshot of the result, and the steps. Files of the commit that setup changed are
    restored."""
    spec, base = row.spec, which == "base"
    sha = state.base_sha if base else spec.head_sha
    plan = await asyncio.to_thread(plan_of_tree, row, tree.path, state.changed_paths)
    if not plan.steps:
        return sha, ()
    cache = await get_cache(context, spec.repo, spec.base_ref if base else None, sha)
    done = await run_setup(context, plan, tree, sha, grant=grant_for_head(context, row), cache=cache)
    write_log(context.settings.home, row.id, f"{which}-setup.log", done.log.encode())
    if done.failed is not None:
        raise SetupFailed(done)
    return done.snapshot, done.steps
