"""A git directory of ours for a tree that is somebody else's: snapshots, differences and going back work there as in
any worktree, while the tree's own repository, if it has one, keeps its index, its branches and its configuration."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterable
from pathlib import Path

from bot.workspace.files.output_files import output_files
from bot.workspace.files.setup_products import within
from bot.workspace.git.command import GitError, git
from bot.workspace.git.index import Index
from bot.workspace.git.objects import decode, split_names
from bot.workspace.git.tree import Tree
from bot.workspace.mirror.mirror import ensure_mirror

_FIRST = "mendbot-first-index"
_ATTRIBUTES = "* -text !eol !ident !filter !working-tree-encoding\n"
"""Bytes go in and come out as they are, whatever is in the tree's own `.gitattributes` (gitattributes(5): this file has
the last word)."""
_SPECIAL, _ESCAPED = re.compile(r"([\\*?\[\] ])"), r"\\\1"


async def open_shadow(path: Path, git_dir: Path, *, apart: Iterable[Path] = ()) -> Tree:
    """The tree at `path` with `git_dir` as its git directory, which is made, with one commit of what is there, when it
    is first asked for. Files that the tree's own repository tracks are in it, ignored or not; the files and directories
    in `apart` are not, and neither are the files that this process writes its output to."""
    names = _names_within(path, (*apart, *output_files().values()))
    await ensure_mirror(git_dir)
    (git_dir / "info").mkdir(exist_ok=True)
    (git_dir / "info" / "attributes").write_text(_ATTRIBUTES, "ascii")
    patterns = "".join(f"/{_SPECIAL.sub(_ESCAPED, name)}\n" for name in names)
    (git_dir / "info" / "exclude").write_bytes(os.fsencode(patterns))
    tree = Tree(path, git_dir)
    try:
        await tree.head()
    except GitError:
        await _commit_all(tree, names)
    return tree


def _names_within(path: Path, others: Iterable[Path]) -> tuple[str, ...]:
    """The names of the others relative to the tree, without those that lie elsewhere or cannot stand in a line."""
    real = path.resolve()
    below = (other.resolve() for other in others)
    names = (other.relative_to(real).as_posix() for other in below if other != real and other.is_relative_to(real))
    return tuple(name for name in names if "\n" not in name)


async def _commit_all(tree: Tree, apart: Collection[str]) -> None:
    scratch = tree.git_dir / _FIRST
    scratch.unlink(missing_ok=True)  # a crash may have left it
    index = Index(tree.path, tree.git_dir, scratch)
    left_out = [os.fsencode(name) for name in apart]
    content = await index.fill(also=[name for name in await _tracked(tree.path) if not within(name, left_out)])
    commit = await git("commit-tree", content, git_dir=tree.git_dir, stdin=b"What a session began with\n")
    await git("update-ref", "HEAD", decode(commit).strip(), git_dir=tree.git_dir)
    scratch.unlink(missing_ok=True)


async def _tracked(path: Path) -> tuple[bytes, ...]:
    """The files below `path` that its own repository tracks; none where it has none that git can read."""
    try:
        return split_names(await git("ls-files", "-z", cwd=path))
    except GitError:
        return ()
