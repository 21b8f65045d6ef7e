"""Checkouts of one very commit, on no branch: what the checks of a pull request and of its base run in.
They take no slot (spec G.6), and whatever a check did to one, the next call gives the commit's files again."""

from __future__ import annotations

import contextlib
from pathlib import Path

from bot.errors import Refused, Transient
from bot.reports.locale.reasons import refused, user_error
from bot.rules.reasons import make_reason
from bot.workspace.files.atomic_write import atomic_write
from bot.workspace.files.remove_tree import remove_directory
from bot.workspace.files.setup_products import RECORD
from bot.workspace.git.command import GitError, git
from bot.workspace.git.objects import commits, require_id
from bot.workspace.git.repo_lock import exclusive
from bot.workspace.git.tree import Tree
from bot.workspace.worktree.registry import Entry, add, drop, opened, real, settled
from bot.workspace.worktree.run_worktree import write_link

_BEGUN = "mendbot-begun-with"
_INDEXES = ("index", "index.lock", "mendbot-index", "mendbot-tree")


async def ensure_detached(mirror: Path, path: Path, sha: str) -> Tree:
    """A tree at `path` whose HEAD is the commit `sha` itself, on no branch: the one that is there, else a new one.

    `path`'s parent must be the run's alone: what else lies at `path` is the remains of a crash and is deleted. The
    files of one that is there are made the commit's again, whatever was changed, committed or switched in it. What is
    ignored stays (`node_modules` from the set-up, caches), and so do repositories within it; `remove_worktree` first
    gives a tree without them. Once checks have begun there (`begin_with`), what else they made stays, too, for the
    checks that follow.

    UserError where the mirror has no such commit, Refused (`wrong_commit`) where HEAD would be any other than `sha`
    (T11), Transient where the disk is full; `sha` is a full id, else ValueError. `remove_worktree` removes it."""
    require_id(sha)
    path = real(path)
    async with exclusive(mirror, "worktrees"):
        (commit,) = await commits(mirror, (sha,))
        if commit is None:
            raise user_error(make_reason("checkout.no_commit", sha=sha[:12]))
        if commit != sha:
            raise refused("wrong_commit", make_reason("checkout.no_id", sha=sha[:12], commit=commit[:12]))
        held = await settled(mirror, lambda _: True)
        here = next((entry for entry in held if entry.path == path), None)
        tree = None if here is None else await _put_back(mirror, here, sha)
        if tree is None:
            await drop(mirror, path)
            tree = await add(mirror, path, "", sha, fresh=False)
        await _verify(tree, sha)
        return tree


def begin_with(tree: Tree, snapshot: str) -> None:
    """From here on checks run in the tree, which begins as `snapshot`: its commit, and what setup left beside it."""
    atomic_write(tree.git_dir / _BEGUN, snapshot.encode("ascii"))


def begun_with(tree: Tree) -> str | None:
    """The snapshot that `begin_with` was given for this tree, None before."""
    try:
        return (tree.git_dir / _BEGUN).read_text("ascii")
    except FileNotFoundError:
        return None


async def _put_back(mirror: Path, entry: Entry, sha: str) -> Tree | None:
    """The tree with HEAD and files as `sha` has them; None if it resists, so that it must be made anew."""
    tree = opened(mirror, entry.path)
    head = tree.git_dir / "HEAD"
    try:
        await write_link(tree)
        if head.read_bytes() != f"{sha}\n".encode():
            # written as `add` writes it: what HEAD was made to be must not decide what git does to it
            await remove_directory(head, trash_in=mirror)
            for name in (_BEGUN, RECORD):  # of another commit, or of one that a check made
                await remove_directory(tree.git_dir / name, trash_in=mirror)
            head.write_text(f"{sha}\n", "ascii")
        for name in _INDEXES:  # a check may have had files marked in them as not to be looked at
            await remove_directory(tree.git_dir / name, trash_in=mirror)
        begun = begun_with(tree)
        await (tree.restore(sha) if begun is None else tree.restore_altered(begun))
        await git("read-tree", "--reset", sha, git_dir=tree.git_dir)
    except (GitError, Refused, Transient, OSError):
        return None
    return tree


async def _verify(tree: Tree, sha: str) -> None:
    """Ask git itself what is checked out, right before it is used (T11)."""
    with contextlib.suppress(GitError):
        if await tree.head() == sha:
            return
    raise refused("wrong_commit", make_reason("checkout.wrong_commit", path=str(tree.path), sha=sha[:12]))
