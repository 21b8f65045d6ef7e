"""The bot's worktrees: one per run, off a mirror, made again where they are gone, saved and removed when the run ends.
Any call may be repeated and may follow a crash at any moment; `manage_worktree` is the same for people (spec B)."""

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
from bot.workspace.mirror.mirror import meanings
from bot.workspace.worktree.registry import Entry, add, drop, opened, real, settled, whole

_SALVAGE = "refs/mendbot/salvage/"


class SlotsFull(Transient):
    """As many worktrees as allowed are open; one becomes free when a run ends (REQ-GIT-004: the bot queues)."""


async def ensure_worktree(mirror: Path, path: Path, branch: str, start: str, limit: int) -> Tree:
    """The worktree at `path` on `branch`: the one that is there, else a new one, made from the commit `start`.

    `path`'s parent must be the run's alone: what else lies at `path` is the remains of a crash and is deleted. A
    branch that is there already is taken up as it is. Worktrees on a branch count against `limit`, detached ones do
    not (spec G.6): SlotsFull. UserError for a bad name, an unknown `start`, another branch at `path`; Transient where
    the branch is checked out elsewhere or the disk is full."""
    if (problem := branch_problem(branch)) is not None:
        raise user_error(problem)
    path = real(path)
    at_hand = whole(mirror, path, branch)
    if at_hand is not None:
        await write_link(at_hand)
        return at_hand
    async with exclusive(mirror, "worktrees"):
        held = await settled(mirror, lambda _: True)
        here = next((entry for entry in held if entry.path == path), None)
        if here is not None:
            return await _taken_up(mirror, here, branch)
        await remove_directory(path)
        other = next((entry for entry in held if entry.branch == branch), None)
        if other is not None:
            raise user_error(make_reason("worktree.branch_taken", branch=branch, path=str(other.path)), Transient)
        if sum(1 for entry in held if entry.branch and not entry.missing) >= limit:
            raise user_error(make_reason("worktree.slots_full", limit=limit), SlotsFull)
        known, *found = await commits(mirror, (f"refs/heads/{branch}", *meanings(start)))
        commit = next(filter(None, found), None)
        if commit is None:
            raise user_error(make_reason("mirror.no_commit", name=repr(start)))
        return await add(mirror, path, branch, commit, fresh=known is None)


async def reopen_worktree(mirror: Path, path: Path) -> Tree | None:
    """The worktree at `path` if it is there and whole, else None; nothing is made."""
    path = real(path)
    async with exclusive(mirror, "worktrees"):
        held = await settled(mirror, lambda _: True)
        here = next((entry for entry in held if entry.path == path), None)
        return None if here is None else await _taken_up(mirror, here, here.branch)


async def save_uncommitted(tree: Tree, ref: str) -> str | None:
    """Keep what is in the tree and not committed at `ref` (`refs/mendbot/salvage/…`, the prefix may be left out).

    The ref's full name; None if there was nothing to keep. What the ref held before stays reachable from it."""
    if not tree.path.is_dir():
        return None
    snapshot = await tree.snapshot()
    if not await tree.changed("HEAD", snapshot):
        return None
    name = ref if ref.startswith("refs/") else _SALVAGE + ref
    await tree.keep(snapshot, name)
    return name


async def remove_worktree(mirror: Path, path: Path) -> None:
    """Delete the worktree at `path`, in any state, and git's record of it; the branch stays, absent is fine.

    Uncommitted work goes with it: `save_uncommitted` first. Transient if something resists deletion."""
    path = real(path)
    if not mirror.is_dir():
        await remove_directory(path)
        return
    async with exclusive(mirror, "worktrees"):
        await settled(mirror, lambda _: True)
        await drop(mirror, path)


async def _taken_up(mirror: Path, entry: Entry, branch: str) -> Tree:
    if entry.branch != branch:
        fields = {"path": str(entry.path), "branch": branch}
        if entry.branch:
            raise user_error(make_reason("worktree.switched", **fields, other=entry.branch))
        raise user_error(make_reason("worktree.switched.detached", **fields))
    tree = opened(mirror, entry.path)
    await write_link(tree)
    return tree


async def write_link(tree: Tree) -> None:
    """Write the tree's `.git` file anew where code in the tree changed it: agents and checks go by it (we don't)."""
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
