"""The trees of a run of checks: the head of the pull request and, where something failed, the commit it is compared
with. Both are detached checkouts beside the mirror's worktrees and take no slot (spec G.6)."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from bot.errors import Refused
from bot.model import Command
from bot.rules.failures import first_error_block
from bot.store.pulls import PullRow
from bot.workflows.altered import with_restored
from bot.workflows.begin import SETUP_TIMEOUT_S
from bot.workflows.context import Context
from bot.workspace.artifacts import write_log
from bot.workspace.detached import begin_with, begun_with, ensure_detached
from bot.workspace.sandbox import Grant
from bot.workspace.tree import Tree
from bot.workspace.worktree import remove_worktree


@dataclass(frozen=True, slots=True)
class Ready:
    """A tree in which checks may run, and the snapshot that each of them finds there."""

    tree: Tree
    snapshot: str


def trees_path(home: Path, row: PullRow) -> Path:
    """The directory that holds a run's trees and nothing else."""
    return home / "pulls" / row.spec.repo.owner / row.spec.repo.name / row.id


async def head_tree(context: Context, row: PullRow) -> Tree:
    """The tree at the very commit that was asked for, as that commit has it but for what git ignores (T11)."""
    return await ensure_detached(
        context.mirror(row.spec.repo), trees_path(context.settings.home, row) / "head", row.spec.head_sha
    )


async def ready_tree(context: Context, row: PullRow, sha: str, name: str) -> Ready:
    """The tree `name` at `sha` with setup done; Refused (`setup_failed`) where that fails.

    What setup and earlier checks made stays until the run ends; the commit's own files are as it has them."""
    tree = await ensure_detached(context.mirror(row.spec.repo), trees_path(context.settings.home, row) / name, sha)
    snapshot = begun_with(tree)
    if snapshot is None:
        snapshot = sha if row.spec.policy.setup is None else await _set_up(context, row, tree, name, sha)
        begin_with(tree, snapshot)
    return Ready(tree, snapshot)


async def remove_trees(context: Context, row: PullRow) -> None:
    """Remove the run's trees; absent is fine."""
    where, mirror = trees_path(context.settings.home, row), context.mirror(row.spec.repo)
    for path in sorted(where.glob("*")):
        await remove_worktree(mirror, path)
    if where.is_dir():
        where.rmdir()


def grant_of(context: Context, row: PullRow, *, network: bool = False) -> Grant:
    """What a command in the box may read beside its tree: the mirror that its `.git` file names."""
    return Grant(network=network, read_only=(context.mirror(row.spec.repo),))


async def _set_up(context: Context, row: PullRow, tree: Tree, name: str, sha: str) -> str:
    """Run the setup command of the base branch's configuration, the only one with network (T14, T31); the snapshot of
    what it left. Files of the commit that it had changed are restored."""
    assert row.spec.policy.setup is not None
    command = Command(run=row.spec.policy.setup, timeout_s=SETUP_TIMEOUT_S)
    result = await context.sandbox.run(command, tree.path, grant=grant_of(context, row, network=True))
    log = context.mask(result.output.decode("utf-8", "replace"))
    snapshot, restored = await tree.after_setup(sha)
    write_log(context.settings.home, row.id, f"{name}-setup.log", with_restored(log, restored).encode())
    if result.exit_code != 0:
        how = "timed out" if result.timed_out else result.spawn_error or f"exit {result.exit_code}"
        raise Refused("setup_failed", f"`{context.mask(command.text)}`: {how}\n{first_error_block(log)}")
    return snapshot
