"""A git directory of ours for a tree that is somebody else's: snapshots, differences and going back work there as in
any worktree, while the tree's own repository, if it has one, keeps its index, its branches and its configuration."""

from __future__ import annotations

import os
import re
from pathlib import Path

from bot.workspace.git.command import GitError, git
from bot.workspace.git.index import Index
from bot.workspace.git.objects import decode, split_names
from bot.workspace.git.tree import Tree
from bot.workspace.mirror.mirror import ensure_mirror

_FIRST = "mendbot-first-index"
_ATTRIBUTES = "* -text !eol !ident !filter !working-tree-encoding\n"
"""Bytes go in and come out as they are, whatever is in the tree's own `.gitattributes` (gitattributes(5): this file has
the last word)."""
_SPECIAL = re.compile(r"([\\*?\[\] ])")


async def open_shadow(path: Path, git_dir: Path, *, apart: Path | None = None) -> Tree:
    """The tree at `path` with `git_dir` as its git directory, which is made, with one commit of what is there, when it
    is first asked for. Files that the tree's own repository tracks are in it, ignored or not; what lies in the
    directory `apart`, if that is within the tree, is not."""
    await ensure_mirror(git_dir)
    (git_dir / "info").mkdir(exist_ok=True)
    (git_dir / "info" / "attributes").write_text(_ATTRIBUTES, "ascii")
    (git_dir / "info" / "exclude").write_bytes(os.fsencode(_without(path, apart) if apart else ""))
    tree = Tree(path, git_dir)
    try:
        await tree.head()
    except GitError:
        await _commit_all(tree)
    return tree


def _without(path: Path, apart: Path) -> str:
    """The pattern that keeps a directory out (gitignore(5)); nothing where it is not within the tree."""
    real, home = path.resolve(), apart.resolve()
    if not home.is_relative_to(real) or home == real:
        return ""
    return "/" + _SPECIAL.sub(r"\\\1", home.relative_to(real).as_posix()) + "/\n"


async def _commit_all(tree: Tree) -> None:
    scratch = tree.git_dir / _FIRST
    scratch.unlink(missing_ok=True)  # a crash may have left it
    index = Index(tree.path, tree.git_dir, scratch)
    content = await index.fill(also=await _tracked(tree.path))
    commit = await git("commit-tree", content, git_dir=tree.git_dir, stdin=b"What a session began with\n")
    await git("update-ref", "HEAD", decode(commit).strip(), git_dir=tree.git_dir)
    scratch.unlink(missing_ok=True)


async def _tracked(path: Path) -> tuple[bytes, ...]:
    """The files below `path` that its own repository tracks; none where it has none that git can read."""
    try:
        return split_names(await git("ls-files", "-z", cwd=path))
    except GitError:
        return ()
