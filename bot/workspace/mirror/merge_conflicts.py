"""Finds the files that conflict if two commits are merged, without a work tree.
Git merges them in its object store (git-merge-tree(1)): no hook, filter or merge driver runs."""

from __future__ import annotations

from pathlib import Path

from bot.reports.locale.reasons import user_error
from bot.rules.reasons import make_reason
from bot.workspace.git.command import GitError, git
from bot.workspace.git.objects import decode
from bot.workspace.mirror.mirror import require_commit

_TIMEOUT_S = 60.0
_FLAGS = ("--write-tree", "--name-only", "-z", "--no-messages")
_CONFLICTS = 1


async def conflicts(mirror: Path, ours: str, theirs: str) -> tuple[str, ...]:
    """Returns the sorted paths that conflict when `theirs` is merged into `ours`; empty without a conflict.

    Each is a commit's id or a name of `mirror.resolve`. Both paths of a renamed file may be among them. Raises
    UserError for an unknown commit and for histories without a common commit, which git does not merge;
    Transient after a minute."""
    left, right = await require_commit(mirror, ours), await require_commit(mirror, theirs)
    try:
        out = await git("merge-tree", *_FLAGS, left, right, git_dir=mirror, timeout_s=_TIMEOUT_S, ok=(0, _CONFLICTS))
    except GitError as error:
        if "unrelated histories" in error.stderr:
            raise user_error(make_reason("mirror.unrelated", left=left[:12], right=right[:12])) from error
        raise
    _, *names = decode(out).split("\0")  # the merged tree's id comes first
    # where a file and a directory want one name, git gives the file one that ends with its commit
    paths = (name.removesuffix(f"~{left}").removesuffix(f"~{right}") for name in names)
    return tuple(sorted({path for path in paths if path}))
