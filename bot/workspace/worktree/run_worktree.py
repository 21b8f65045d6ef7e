"""Creates, reopens and removes the bot's worktrees: one per run, of a mirror.
Any call may be repeated and may follow a crash; `manage_worktree` does the same for people (spec B)."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from bot.errors import Transient
from bot.reports.locale.reasons import user_error
from bot.rules.reasons import make_reason
from bot.workspace.files.remove_tree import make_writable, remove_directory
from bot.workspace.git.branch_names import branch_problem
from bot.workspace.git.objects import commits
from bot.workspace.git.repo_lock import exclusive
from bot.workspace.git.tree import Tree
from bot.workspace.mirror.mirror import possible_names
from bot.workspace.worktree.registry import (
    Entry,
    canonical_path,
    create_entry,
    find_intact,
    open_tree,
    remove_entry,
    repair_entries,
)


class SlotsFull(Transient):
    """All worktrees that are allowed are open. One becomes free when a run ends (REQ-GIT-004: the bot queues)."""


async def ensure_worktree(mirror: Path, path: Path, branch: str, start: str, limit: int) -> Tree:
    """Returns the worktree at `path` on `branch`: the existing one, else a new one at the commit `start`.

    `path`'s parent must be the run's alone: anything else at `path` is left from a crash and is deleted. An existing
    branch is used as it is. Worktrees on a branch count against `limit`, detached ones do not (spec G.6): SlotsFull.
    UserError for a bad name, an unknown `start`, another branch at `path`; Transient where
    the branch is checked out elsewhere or the disk is full."""
    if (problem := branch_problem(branch)) is not None:
        raise user_error(problem)
    path = canonical_path(path)
    at_hand = find_intact(mirror, path, branch)
    if at_hand is not None:
        await restore_link(at_hand)
        return at_hand
    async with exclusive(mirror, "worktrees"):
        held = await repair_entries(mirror, lambda _: True)
        here = next((entry for entry in held if entry.path == path), None)
        if here is not None:
            return await _reuse(mirror, here, branch)
        await remove_directory(path)
        other = next((entry for entry in held if entry.branch == branch), None)
        if other is not None:
            raise user_error(make_reason("worktree.branch_taken", branch=branch, path=str(other.path)), Transient)
        if sum(1 for entry in held if entry.branch and not entry.missing) >= limit:
            raise user_error(make_reason("worktree.slots_full", limit=limit), SlotsFull)
        known, *found = await commits(mirror, (f"refs/heads/{branch}", *possible_names(start)))
        commit = next(filter(None, found), None)
        if commit is None:
            raise user_error(make_reason("mirror.no_commit", name=repr(start)))
        return await create_entry(mirror, path, branch, commit, fresh=known is None)


async def reopen_worktree(mirror: Path, path: Path) -> Tree | None:
    """Returns the worktree at `path` if it exists and is complete, else None; creates nothing."""
    path = canonical_path(path)
    async with exclusive(mirror, "worktrees"):
        held = await repair_entries(mirror, lambda _: True)
        here = next((entry for entry in held if entry.path == path), None)
        return None if here is None else await _reuse(mirror, here, here.branch)


async def remove_worktree(mirror: Path, path: Path) -> None:
    """Deletes the worktree at `path`, in any state, and git's record of it; the branch stays. It may be absent.

    Uncommitted work goes with it: `save_uncommitted` first. Transient if something resists deletion."""
    path = canonical_path(path)
    if not mirror.is_dir():
        await remove_directory(path)
        return
    async with exclusive(mirror, "worktrees"):
        await repair_entries(mirror, lambda _: True)
        await remove_entry(mirror, path)


async def _reuse(mirror: Path, entry: Entry, branch: str) -> Tree:
    if entry.branch != branch:
        fields = {"path": str(entry.path), "branch": branch}
        if entry.branch:
            raise user_error(make_reason("worktree.switched", **fields, other=entry.branch))
        raise user_error(make_reason("worktree.switched.detached", **fields))
    tree = open_tree(mirror, entry.path)
    await restore_link(tree)
    return tree


async def restore_link(tree: Tree) -> None:
    """Restores the `.git` file where code in the tree changed it: agents and checks read it, the bot does not."""
    link, text = tree.path / ".git", os.fsencode(f"gitdir: {tree.git_dir}\n")
    if not os.access(tree.path, os.R_OK | os.W_OK | os.X_OK):
        await make_writable(tree.path)
    try:
        if stat.S_ISREG(link.lstat().st_mode):
            with link.open("rb") as file:
                if file.read(len(text) + 1) == text:
                    return
        await remove_directory(link, trash_in=tree.path.parent)
    except FileNotFoundError:
        pass
    link.write_bytes(text)
