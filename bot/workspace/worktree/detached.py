"""Makes checkouts of one commit, on no branch, in which the checks of a pull request and of its base run.
They use no slot (spec G.6). The next call restores the commit's files, whatever a check did to them."""

from __future__ import annotations

import contextlib
from pathlib import Path

from bot.errors import Refused, Transient
from bot.reports.locale.reasons import refused, user_error
from bot.rules.reasons import make_reason
from bot.workspace.files.atomic_write import atomic_write
from bot.workspace.files.remove_tree import remove_directory
from bot.workspace.files.setup_products import RECORD
from bot.workspace.git.command import GitError
from bot.workspace.git.objects import commits, require_id
from bot.workspace.git.repo_lock import exclusive
from bot.workspace.git.tree import Tree
from bot.workspace.worktree.registry import Entry, canonical_path, create_entry, open_tree, remove_entry, repair_entries
from bot.workspace.worktree.run_worktree import restore_link

_START = "mendbot-begun-with"
_INDEXES = ("index", "index.lock", "mendbot-index", "mendbot-tree")


async def ensure_detached(mirror: Path, path: Path, sha: str) -> Tree:
    """Returns a tree at `path` with the commit `sha` checked out, on no branch: the existing one, else a new one.

    `path`'s parent must be the run's alone: anything else at `path` is left from a crash and is deleted. The files of
    an existing tree are restored to the commit's. Ignored files (`node_modules`, caches) and nested repositories stay;
    `remove_worktree` first gives a tree without them. Once checks have begun (`record_start`), untracked files stay
    too, for the checks that follow.

    UserError where the mirror has no such commit, Refused (`wrong_commit`) where HEAD would be any other than `sha`
    (T11), Transient where the disk is full; `sha` is a full id, else ValueError. `remove_worktree` removes it."""
    require_id(sha)
    path = canonical_path(path)
    async with exclusive(mirror, "worktrees"):
        held = await repair_entries(mirror, lambda _: True)
        here = next((entry for entry in held if entry.path == path), None)
        tree = None if here is None else await _reset(mirror, here, sha)
        if tree is None:
            await _require_commit(mirror, sha)
            await remove_entry(mirror, path)
            tree = await create_entry(mirror, path, "", sha, fresh=False)
        await _verify(tree, sha)
        return tree


def record_start(tree: Tree, snapshot: str) -> None:
    """Records the snapshot with which checks begin in the tree: its commit, and the files that setup made."""
    atomic_write(tree.git_dir / _START, snapshot.encode("ascii"))


def recorded_start(tree: Tree) -> str | None:
    """Returns the snapshot of `record_start` for this tree; None before that call."""
    try:
        return (tree.git_dir / _START).read_text("ascii")
    except FileNotFoundError:
        return None


async def _reset(mirror: Path, entry: Entry, sha: str) -> Tree | None:
    """Returns the tree with HEAD and files restored to `sha`; None if that fails and it must be created again."""
    tree = open_tree(mirror, entry.path)
    head = tree.git_dir / "HEAD"
    try:
        await restore_link(tree)
        if head.read_bytes() != f"{sha}\n".encode():
            await _require_commit(mirror, sha)
            # written as `add` writes it: what HEAD was made to be must not decide what git does to it
            await remove_directory(head, trash_in=mirror)
            for name in (_START, RECORD):  # of another commit, or of one that a check made
                await remove_directory(tree.git_dir / name, trash_in=mirror)
            head.write_text(f"{sha}\n", "ascii")
        for name in _INDEXES:  # a check may have had files marked in them as not to be looked at
            await remove_directory(tree.git_dir / name, trash_in=mirror)
        begun = recorded_start(tree)
        await (tree.restore(sha) if begun is None else tree.restore_altered(begun))
        await tree.reset_index(sha)
    except (GitError, Refused, Transient, OSError):
        return None
    return tree


async def _require_commit(mirror: Path, sha: str) -> None:
    (commit,) = await commits(mirror, (sha,))
    if commit is None:
        raise user_error(make_reason("checkout.no_commit", sha=sha[:12]))
    if commit != sha:
        raise refused("wrong_commit", make_reason("checkout.no_id", sha=sha[:12], commit=commit[:12]))


async def _verify(tree: Tree, sha: str) -> None:
    """Asks git what is checked out, right before the tree is used (T11)."""
    with contextlib.suppress(GitError):
        if await tree.head() == sha:
            return
    raise refused("wrong_commit", make_reason("checkout.wrong_commit", path=str(tree.path), sha=sha[:12]))
