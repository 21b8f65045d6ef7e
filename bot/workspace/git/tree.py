"""A work tree with its git directory: snapshots, differences, restoring, commits.
The tree belongs to untrusted code, so its `.git` is never read and its own index is never used (T18)."""

from __future__ import annotations

import asyncio
import os
import re
import shutil
import time
import uuid
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path

from cachetools import LRUCache

from bot.errors import Transient
from bot.reports.locale.reasons import english, user_error
from bot.rules.reasons import make_reason
from bot.workspace.files.remove_tree import make_writable
from bot.workspace.files.setup_products import products, record_products
from bot.workspace.git.command import GitError, git
from bot.workspace.git.diff import PathChange, changed, diff
from bot.workspace.git.index import Index
from bot.workspace.git.objects import decode, encode, ids, is_id

_INDEX = "mendbot-index"
_TREES: LRUCache[str, str] = LRUCache(1000)  # of commits, whose ids fix them
_PASSES = 3
_LEFTOVER_S = 3600.0
_REF = re.compile(r"refs/mendbot/[A-Za-z0-9_][A-Za-z0-9._/-]*")
_AUTHOR = re.compile(r"\s*([^<>\n\0]*?)\s*<([^<>\n\0]*)>\s*")


@dataclass(frozen=True, slots=True)
class Tree:
    """`path` is the work tree, `git_dir` its git directory (for a linked worktree `MIRROR/worktrees/ID`).

    A *snapshot* is the id of a git tree object; wherever one is asked for, a commit or `HEAD` does too. Files that
    the tree's ignore rules name are not part of it unless HEAD has them, and neither are nested repositories.
    Paths are `/`-separated; bytes that are not UTF-8 are kept as surrogates (PEP 383). Every method raises Transient
    where the work tree is gone."""

    path: Path
    git_dir: Path

    async def head(self) -> str:
        """The id of the commit that is checked out; GitError where there is none yet."""
        return await self._id("HEAD^{commit}")

    async def snapshot(self) -> str:
        """The id of a git tree object of all that is not ignored. The tree's own index is neither used nor changed."""
        async with self._index() as index:
            return await self._write_tree(index)

    async def keep(self, snapshot: str, ref: str) -> str:
        """Commit the snapshot on top of HEAD at `ref` (`refs/mendbot/…`), so that nothing drops it; the commit's id.

        Done already, it is not done again; what `ref` held before stays reachable as a second parent."""
        if not _REF.fullmatch(ref) or ".." in ref or "//" in ref or ref.endswith(("/", ".", ".lock")):
            raise ValueError(f"{ref!r} is not a ref under refs/mendbot/")
        asked = (f"{snapshot}^{{tree}}", "HEAD^{commit}", f"{ref}^{{commit}}", f"{ref}^{{tree}}")
        tree, parent, before, kept = await ids(self.git_dir, asked)
        if tree is None or parent is None:
            raise self._names_nothing("cat-file", f"{snapshot} or HEAD")
        if before is not None and kept == tree:
            return before
        parents = ["-p", parent] + (["-p", before] if before else [])
        commit = await self._ask("commit-tree", tree, *parents, stdin=f"Kept by Mendbot as {ref}\n")
        await self._ask("update-ref", ref, commit, before or "0" * len(commit))
        return commit

    async def restore(self, snapshot: str, paths: Sequence[str] | None = None) -> None:
        """Makes the work tree equal to the snapshot: files it lacks are deleted, ignored ones stay.

        Given `paths` (files or directories), only these. Transient if something keeps the tree from becoming so."""
        async with self._index() as index:
            present = await self._write_tree(index)
            if paths is None and present == snapshot:
                return
            wanted = await self._id(f"{snapshot}^{{tree}}")
            if paths is not None:
                wanted = await self._with_paths(index, wanted, paths)
            problem = make_reason("tree.changing")
            # more than once, because a tree's ignore rules change with it, and rights may have been taken away
            for again in range(_PASSES):
                if present == wanted:
                    return
                if again:
                    await make_writable(self.path)
                try:
                    await index.check_out(wanted)
                    if await index.is_clean():
                        index.record(wanted)
                        return
                except GitError as error:
                    problem = error.reason
                present = await self._write_tree(index)
            if present != wanted:
                fields = {"path": str(self.path), "tree": wanted[:12]}
                raise user_error(make_reason("tree.not_restored", **fields, why=problem), Transient)

    async def restore_altered(self, snapshot: str) -> tuple[str, ...]:
        """Restore the snapshot's files that were changed, replaced or deleted since; their paths, in git's order.

        Files that the snapshot does not have stay, but for what lies where one of its files belongs. Where nothing was
        altered this is one look. Transient if something keeps a file from being restored."""
        async with self._index() as index:
            snapshot = await self._load(index, snapshot)
            altered = found = await self._altered(index)
            problem = make_reason("tree.changing")
            # more than once, because `.gitattributes` may have changed too, and rights may have been taken away
            for again in range(_PASSES):
                if not found:
                    break
                if again:
                    await make_writable(self.path)
                try:
                    await index.check_out(snapshot)
                    index.record(snapshot)
                except GitError as error:
                    problem = error.reason
                found = await self._altered(index)
                altered = (*altered, *found)
            if found:
                fields = {"path": str(self.path), "name": decode(found[0])}
                raise user_error(make_reason("tree.file_not_restored", **fields, why=problem), Transient)
            return tuple(map(decode, dict.fromkeys(altered)))

    async def altered(self, snapshot: str) -> tuple[str, ...]:
        """What `restore_altered` would restore; nothing is changed."""
        async with self._index() as index:
            await self._load(index, snapshot)
            return tuple(map(decode, await self._altered(index)))

    async def after_setup(self, base: str) -> tuple[str, tuple[str, ...]]:
        """Take what the setup command left for the state that work begins with: its snapshot, and the base's files that
        setup had changed and that are restored.

        Directories that only tools fill are put on record, and count as ignored from then on (`setup_products`)."""
        restored = await self.restore_altered(base)
        async with self._index() as index:
            untracked = await index.untracked()
        await record_products(self.path, self.git_dir, untracked)
        return await self.snapshot(), restored

    async def unversioned(self, snapshot: str) -> tuple[bytes, ...]:
        """Returns the paths of the work tree that are not in the snapshot (see `untracked_files.py`)."""
        async with self._index() as index:
            await self._load(index, snapshot)
            return await index.unversioned()

    async def changed(self, before: str, after: str) -> tuple[PathChange, ...]:
        """What differs between two snapshots, by path; a rename is a deletion and an addition."""
        return await changed(self.git_dir, before, after)

    async def diff(self, before: str, after: str) -> str:
        """The unified diff of two snapshots; bytes that are not UTF-8 are replaced, binary files only named."""
        return await diff(self.git_dir, before, after)

    async def commit(self, snapshot: str, message: str, author: str) -> str:
        """Commit the snapshot on the branch that HEAD names, without hooks, and return the commit's id.

        `author` is `Name <email>`, the committer too. The same commit asked for again is HEAD itself; UserError where
        there is nothing to commit; Transient where the branch moved meanwhile."""
        identity = _identity(author)
        text = message.rstrip("\n") + "\n"
        tree, head = await asyncio.gather(self._id(f"{snapshot}^{{tree}}"), self.head())
        if await self._id(f"{head}^{{tree}}") == tree:
            last = await self._ask("cat-file", "commit", head)
            if last.partition("\n\n")[2] == text:
                return head
            raise user_error(make_reason("tree.unchanged"))
        commit = await self._ask("commit-tree", tree, "-p", head, stdin=text, env=identity)
        reflog = f"commit: {text.splitlines()[0]}" if text.strip() else "commit"
        try:
            await self._ask("update-ref", "-m", reflog, "HEAD", commit, head, env=identity)
        except GitError as error:
            raise user_error(make_reason("tree.moved", path=str(self.path), why=error.reason), Transient) from error
        await self._ask("read-tree", "--reset", commit)
        return commit

    async def reset_index(self, commit: str) -> None:
        """Makes git's own index of the work tree hold the commit, with nothing marked in it."""
        stored, own = self.git_dir / _INDEX, self.git_dir / "index"
        if stored.is_file() and commit in Index(self.path, self.git_dir, stored).recorded():
            _copy(stored, own)
        else:
            await self._ask("read-tree", "--reset", commit)

    async def rewind(self, commit: str, branch: str) -> None:
        """HEAD is `branch` again, and that names `commit`; the work tree stays as it is. Without a branch HEAD
        names the commit itself."""
        if branch:
            await self._ask("symbolic-ref", "HEAD", f"refs/heads/{branch}")
        flags = () if branch else ("--no-deref",)
        await self._ask("update-ref", *flags, "HEAD", await self._id(f"{commit}^{{commit}}"))

    async def _write_tree(self, index: Index) -> str:
        """Returns the tree object of the work tree, by one git process if nothing changed since the last one."""
        known = next(iter(index.recorded()), None)
        try:
            tree = await (index.fill() if known is None else index.update(known))
        except GitError as error:
            if "Permission denied" in error.stderr:
                await make_writable(self.path)
                index = replace(index, skip_unreadable=True)  # what is closed still is somebody else's
            elif known is None:
                raise
            tree = await index.fill()
        if tree != known:
            index.record(tree)
        return tree

    async def _load(self, index: Index, snapshot: str) -> str:
        """Makes the index hold the snapshot. Returns the id of its tree object."""
        held = index.recorded()
        if snapshot not in held:
            tree = _TREES.get(snapshot) or await self._id(f"{snapshot}^{{tree}}")
            if tree not in held:
                await index.load(tree)
            held = (tree,)
            if is_id(snapshot):
                _TREES[snapshot], held = tree, (tree, snapshot)
            index.record(*held)
        return held[0]

    async def _altered(self, index: Index) -> tuple[bytes, ...]:
        held = index.recorded()
        try:
            found = await index.altered()
        except GitError as error:
            if "Permission denied" not in error.stderr:
                raise
            await make_writable(self.path)
            found = await index.altered()
        if not index.recorded():  # `git diff` stores the times of files that it had to read
            index.record(*held)
        return found

    async def _with_paths(self, index: Index, wanted: str, paths: Iterable[str]) -> str:
        """The index's tree with `paths` as `wanted` has them."""
        names = [encode(path) for path in paths]
        return await index.with_paths(wanted, names) if names else await index.tree()

    @asynccontextmanager
    async def _index(self) -> AsyncIterator[Index]:
        """Yields a private copy of the last index, so that neither a crash nor another process matters."""
        if not self.path.is_dir():
            raise user_error(make_reason("git.no_directory", path=str(self.path)), Transient)
        for leftover in self.git_dir.glob(f"{_INDEX}.*"):
            with suppress(FileNotFoundError):  # another process's, which has finished
                if time.time() - leftover.lstat().st_ctime > _LEFTOVER_S:
                    leftover.unlink()
        stored = self.git_dir / _INDEX
        scratch = self.git_dir / f"{_INDEX}.{uuid.uuid4().hex}"
        try:
            for source in (stored, self.git_dir / "index"):
                if source.is_file():
                    _copy(source, scratch)
                    break
            yield Index(self.path, self.git_dir, scratch, products(self.git_dir))
            if scratch.exists():
                scratch.replace(stored)
        finally:
            scratch.unlink(missing_ok=True)

    async def _id(self, expression: str) -> str:
        if expression.startswith("-"):
            raise ValueError(f"{expression!r} is no object name")
        found = await git("rev-parse", "--verify", "--quiet", expression, git_dir=self.git_dir, ok=(0, 1))
        if not found.strip():
            raise self._names_nothing("rev-parse", expression)
        return decode(found).strip()

    def _names_nothing(self, command: str, expression: str) -> GitError:
        message = english(make_reason("git.names_nothing", name=expression, path=str(self.git_dir)))
        return GitError(("git", command), 1, message)

    async def _ask(self, *args: str, stdin: str | None = None, env: dict[str, str] | None = None) -> str:
        fed = None if stdin is None else encode(stdin)
        out = decode(await git(*args, git_dir=self.git_dir, stdin=fed, env=env))
        return out if args[0] == "cat-file" else out.strip()


def _copy(index: Path, to: Path) -> None:
    """Copy an index with its time: by that git knows which files may have changed unseen since (its racy-git.txt)."""
    with index.open("rb") as source, to.open("wb") as copy:
        shutil.copyfileobj(source, copy)
        written = os.fstat(source.fileno()).st_mtime_ns  # of this very file; a neighbour may put another in its place
    os.utime(to, ns=(written, written))


def _identity(author: str) -> dict[str, str]:
    if not (found := _AUTHOR.fullmatch(author)) or not found[1]:
        raise ValueError(f"{author!r} is not of the form `Name <email>`")
    fields = {"NAME": found[1], "EMAIL": found[2]}
    return {f"GIT_{role}_{name}": value for role in ("AUTHOR", "COMMITTER") for name, value in fields.items()}
