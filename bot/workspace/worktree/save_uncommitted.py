"""Saves uncommitted work of a worktree before that is removed, in two attempts: by git, then file by file.
A worktree uses a slot, so it is removed in any case; work that cannot be saved is lost, and is named."""

from __future__ import annotations

import hashlib
import os
import stat
import uuid
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from bot.errors import MendbotError, Refused, Shortage, Transient, shortage_behind
from bot.model import Loss
from bot.reports.locale.reasons import user_error
from bot.rules.reasons import make_reason, quoted
from bot.workspace.files.nofollow import read_state
from bot.workspace.files.remove_tree import make_writable
from bot.workspace.files.tree_digest import Walk
from bot.workspace.git.command import GitError, git
from bot.workspace.git.hazards import printable
from bot.workspace.git.objects import decode
from bot.workspace.git.tree import Tree
from bot.workspace.mirror.mirror import is_complete
from bot.workspace.worktree.run_worktree import reopen_worktree

_MAX_FILES = 500
_MAX_BYTES = 64 << 20
_MAX_NAMES = 100_000
_MAX_NAMED = 20
_NO_PROTECTION = ("-c", "core.protectNTFS=false", "-c", "core.protectHFS=false")


@dataclass(frozen=True, slots=True)
class _File:
    """A file that HEAD has not, or has differently."""

    name: bytes
    mode: str
    content: bytes


async def save_uncommitted(mirror: Path, path: Path, ref: str) -> Loss | None:
    """Saves the uncommitted work of the worktree at `path` as a commit at `ref`. Returns what is lost, None if nothing.

    Where git cannot read the tree, its files are saved without regard to ignore rules and attributes, at most 500 of
    them and 64 MiB. Raises Shortage where the machine lacks something, Transient where the mirror is damaged, which is
    repaired at its next use."""
    try:
        tree = await reopen_worktree(mirror, path) if mirror.is_dir() else None
        if tree is None:
            return None
        try:
            await save_tree(tree, ref)
        except (GitError, MendbotError, OSError) as error:
            if shortage_behind(error):
                raise
            return await _save_files(tree, ref, str(error))
    except (GitError, MendbotError, OSError) as error:
        if lacking := shortage_behind(error):
            raise user_error(make_reason("worktree.not_saved", path=str(path), lacking=lacking), Shortage) from error
        if not is_complete(mirror):
            reason = make_reason("mirror.damaged", mirror=str(mirror), path=str(path), why=quoted(str(error)))
            raise user_error(reason, Transient) from error
        return Loss(because=str(error))
    return None


async def save_tree(tree: Tree, ref: str) -> bool:
    """Commits what is in the tree and not committed at `ref` (`refs/mendbot/salvage/…`). Returns whether there was any.

    What the ref named before stays reachable from it."""
    if not tree.path.is_dir():
        return False
    snapshot = await tree.snapshot()
    if not await tree.changed("HEAD", snapshot):
        return False
    await tree.keep(snapshot, ref)
    return True


async def _save_files(tree: Tree, ref: str, because: str) -> Loss | None:
    await make_writable(tree.path)
    head = await _blobs(tree)
    lost: list[bytes] = []
    entries = []
    for file in _changed(tree.path, head, lost):
        written = await git("hash-object", "-w", "--stdin", git_dir=tree.git_dir, stdin=file.content)
        entries.append(f"{file.mode} {decode(written).strip()}\t".encode() + file.name + b"\0")
    if entries:
        await tree.keep(await _head_with(tree, b"".join(entries)), ref)
    if not lost:
        return None
    names = tuple(printable(name).strip("`") for name in lost[:_MAX_NAMED])
    return Loss(files=names, more=len(lost) - len(names), because=because)


def _changed(root: Path, head: Mapping[bytes, str], lost: list[bytes]) -> Iterator[_File]:
    """Yields the files that differ from HEAD. Adds names of unreadable files, and of those past a limit, to `lost`."""
    walk = Walk(root, limit=_MAX_NAMES)
    files, left = 0, _MAX_BYTES
    for name in walk:
        try:
            file = _read(root, os.fsencode(name))
        except (Refused, OSError):
            lost.append(os.fsencode(name))
            continue
        if file is None or _blob(file.content, head.get(file.name, "")) == head.get(file.name):
            continue
        files, left = files + 1, left - len(file.content)
        if files > _MAX_FILES or left < 0:
            lost.append(file.name)
        else:
            yield file
    lost += [os.fsencode(name) for name in walk.unread]


def _read(root: Path, name: bytes) -> _File | None:
    """The file or link; None for what git has no kind for, or no place."""
    if name.rpartition(b"/")[2].lower() == b".git":
        return None
    place = os.fsencode(root) + b"/" + name
    status = os.lstat(place)
    if stat.S_ISLNK(status.st_mode):
        return _File(name, "120000", os.fsencode(Path(os.fsdecode(place)).readlink()))
    if not stat.S_ISREG(status.st_mode):
        return None
    state = read_state(root, os.fsdecode(name), limit=_MAX_BYTES)
    return None if state is None else _File(name, "100755" if state.executable else "100644", state.content)


async def _blobs(tree: Tree) -> dict[bytes, str]:
    listed = await git("ls-tree", "-r", "-z", "HEAD", git_dir=tree.git_dir)
    parts = (entry.partition(b"\t") for entry in listed.split(b"\0") if entry)
    return {name: meta.split()[2].decode() for meta, _, name in parts}


def _blob(content: bytes, like: str) -> str:
    """The id that git gives the content, by the hash that an id of the repository was made with."""
    digest = hashlib.new("sha256" if len(like) == 64 else "sha1", usedforsecurity=False)
    digest.update(b"blob %d\0" % len(content) + content)
    return digest.hexdigest()


async def _head_with(tree: Tree, entries: bytes) -> str:
    """The id of HEAD's tree with these entries in it."""
    scratch = tree.git_dir / f"mendbot-save.{uuid.uuid4().hex}"
    env = {"GIT_INDEX_FILE": str(scratch)}
    try:
        await git("read-tree", "HEAD", git_dir=tree.git_dir, env=env)
        update = (*_NO_PROTECTION, "update-index", "--replace", "-z", "--index-info")
        await git(*update, git_dir=tree.git_dir, stdin=entries, env=env)
        return decode(await git(*_NO_PROTECTION, "write-tree", git_dir=tree.git_dir, env=env)).strip()
    finally:
        scratch.unlink(missing_ok=True)
