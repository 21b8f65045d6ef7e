"""A private git index, which turns a work tree into a tree object and back.
It is filled by `update-index`, not by `git add`, which would start git inside nested repositories that untrusted
code left in the tree, under their configuration (T18)."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from bot.reports.locale.reasons import refused
from bot.rules.reasons import make_reason
from bot.workspace.files.atomic_write import atomic_write
from bot.workspace.files.setup_products import patterns, within
from bot.workspace.git.command import GitError, Unread, git
from bot.workspace.git.objects import decode, split_names

_SETTINGS = (
    # the policy names and refuses `git~1` and its like; an index that left them out could not even show them
    "-c", "core.protectNTFS=false", "-c", "core.protectHFS=false",
    "-c", "core.splitIndex=false",
)  # fmt: skip
_BY_CONTENT = ("--no-ext-diff", "--no-textconv", "--no-renames", "--no-color")
_TIMEOUT_S = 300.0
_HASH = 20
_RECORD = "mendbot-tree"
_MAX_PATTERNS = 500
"""As many as surely fit a command line; what lies in further directories is sorted out afterwards."""


def checkout_settings() -> tuple[str, ...]:
    """Parallel checkout from two thousand files on, where it pays: 0.6 of the time on two cores (performance.md)."""
    workers = min(8, os.cpu_count() or 1)
    return ("-c", f"checkout.workers={workers}", "-c", "checkout.thresholdForParallelism=2000")


@dataclass(frozen=True, slots=True)
class Index:
    """`file` is the index of the work tree `path`; a warm one spares reading files that HEAD has unchanged."""

    path: Path
    git_dir: Path
    file: Path
    ignored_directories: tuple[bytes, ...] = ()
    """Directories of the work tree that count as ignored (`setup_products`)."""
    skip_unreadable: bool = False
    """Directories that cannot be read count as empty."""

    async def is_clean(self) -> bool:
        """Whether the work tree equals the index, except for ignored files; one git process."""
        return not await self._differing()

    async def load(self, tree: str) -> None:
        """Makes the index hold `tree`, whatever the work tree is; cached stats of unchanged files stay."""
        await self._read_tree("read-tree", "--reset", tree)

    async def untracked(self) -> tuple[bytes, ...]:
        """Names that the index does not have, but for what is ignored; of a directory that it has nothing of only the
        directory's, with a slash at the end."""
        asked = ("--others", "--exclude-standard", "--directory", "--no-empty-directory")
        return split_names(await self._git("ls-files", "-z", *asked))

    async def unversioned(self) -> tuple[bytes, ...]:
        """As `untracked`, and what is ignored too; nested repositories are directories like any other."""
        return split_names(await self._git("ls-files", "-z", "--others", "--directory"))

    async def altered(self) -> tuple[bytes, ...]:
        """The names that the index has and the work tree has otherwise or no longer, in git's order; one git process.

        Files that the index does not have are not looked for, so large directories beside them cost nothing."""
        # `git diff` and not `ls-files --modified`, which follows a link that took a directory's place
        return split_names(await self._git("diff", "--name-only", "-z", "--ignore-submodules=all", *_BY_CONTENT))

    async def update(self, tree: str) -> str:
        """As `fill`, for an index that `fill` made and that holds `tree`: only what differs is looked at."""
        names = await self._differing()
        if not names:
            return tree
        if any(name.rpartition(b"/")[2] == b".gitignore" for name in names):
            return await self.fill()  # other files may be ignored now, or no longer
        return await self._add_files(names)

    def checksum(self) -> str:
        """The hash of this index's content, with which git ends the file (index-format(5))."""
        with self.file.open("rb") as file:
            file.seek(-_HASH, os.SEEK_END)
            return file.read().hex()

    def recorded(self) -> tuple[str, ...]:
        """The recorded ids of the tree object that this index holds and of a commit with it; empty without a record."""
        try:
            checksum, *held = (self.git_dir / _RECORD).read_text("ascii").split()
            return tuple(held) if checksum == self.checksum() else ()
        except (OSError, ValueError):
            return ()

    def record(self, *held: str) -> None:
        """Records what this index holds. A record of another index, as a crash may leave it, is void."""
        atomic_write(self.git_dir / _RECORD, " ".join((self.checksum(), *held, "\n")).encode("ascii"))

    async def fill(self, also: Iterable[bytes] = ()) -> str:
        """Make the index hold the work tree without what is ignored, and return the id of its tree object.

        Files named in `also` are in it even if they are ignored."""
        await self._reset_to_head()
        return await self._add_files({**await self._differing(), **dict.fromkeys(also)})

    async def _add_files(self, names: Mapping[bytes, None]) -> str:
        """Put the files of these names into the index as they are; the id of its tree object."""
        gone = self._absent(names) - await self._gitlinks(names)
        if gone:
            await self._git("update-index", "-z", "--force-remove", "--stdin", stdin=_nul_terminated(gone))
        if present := [name for name in names if name not in gone]:
            flags = ("-q", "--refresh", "--add", "--remove")
            await self._git("update-index", *flags, "-z", "--stdin", stdin=_nul_terminated(present))
        return await self.tree()

    async def _differing(self) -> dict[bytes, None]:
        """The names whose files the index does not hold as they are, in git's order."""
        excludes = patterns(self.ignored_directories[:_MAX_PATTERNS])
        kinds = ("--modified", "--deleted", "--others", "--exclude-standard")
        listed = await self._git("ls-files", "-z", *kinds, *excludes, unread=self._unread)
        # a name that ends with a slash is a nested repository
        names = (name for name in split_names(listed) if not name.endswith(b"/"))
        return dict.fromkeys(name for name in names if not within(name, self.ignored_directories))

    async def tree(self) -> str:
        """The id of the tree object that the index describes; it is written if it is new."""
        return decode(await self._git("write-tree")).strip()

    async def check_out(self, tree: str) -> None:
        """Make index and work tree what `tree` holds; what the index has besides is deleted from both."""
        await self._git(*checkout_settings(), "read-tree", "--reset", "-u", tree)

    async def with_paths(self, tree: str, names: Sequence[bytes]) -> str:
        """The id of a tree like the index, but with `names` (files or directories) as `tree` has them or has not."""
        wanted = await git("ls-tree", "-r", "-z", tree, git_dir=self.git_dir)
        present = await self._git("ls-files", "-z")
        chosen = frozenset(name.rstrip(b"/") for name in names)
        null = b"0" * len(tree)
        lines = [b"0 " + null + b"\t" + name for name in present.split(b"\0") if _within(name, chosen)]
        lines += [entry for entry in wanted.split(b"\0") if _within(entry.partition(b"\t")[2], chosen)]
        await self._git("update-index", "-z", "--index-info", stdin=_nul_terminated(lines))
        return await self.tree()

    async def _reset_to_head(self) -> None:
        """HEAD's files, so that what the index held before decides nothing; what is unchanged stays warm."""
        try:
            await self._read_tree("read-tree", "--reset", "HEAD^{tree}")
        except GitError as error:
            if "Not a valid object name" not in error.stderr:
                raise
            await self._read_tree("read-tree", "--empty")  # no commit yet

    async def _read_tree(self, *args: str) -> None:
        """Run what fills the index from a tree; a damaged index, which is a cache, is deleted first."""
        try:
            await self._git(*args)
        except GitError as error:
            if "index" not in error.stderr:
                raise
            self.file.unlink(missing_ok=True)
            await self._git(*args)

    def _absent(self, names: Iterable[bytes]) -> frozenset[bytes]:
        """Those whose place is taken by nothing, or by what git can't hold, or that lie beyond a symbolic link."""
        root = os.fsencode(self.path)
        real: dict[bytes, bool] = {b"/": True}

        def is_real(directory: bytes) -> bool:
            at = b""
            for part in directory.split(b"/"):
                at += b"/" + part
                if at not in real:
                    real[at] = _kind(root + at) == stat.S_IFDIR
                if not real[at]:
                    return False
            return True

        kinds = (stat.S_IFREG, stat.S_IFLNK)
        return frozenset(
            name for name in names if not is_real(name.rpartition(b"/")[0]) or _kind(root + b"/" + name) not in kinds
        )

    async def _gitlinks(self, names: Iterable[bytes]) -> frozenset[bytes]:
        """Those that are a submodule in the index and a directory in the tree."""
        root = os.fsencode(self.path)
        directories = {name for name in names if _kind(root + b"/" + name) == stat.S_IFDIR}
        if not directories:
            return frozenset()
        staged = (entry.partition(b"\t") for entry in (await self._git("ls-files", "-s", "-z")).split(b"\0"))
        return frozenset(name for meta, _, name in staged if name in directories and meta.startswith(b"160000 "))

    def _unread(self, args: tuple[str, ...], stderr: str) -> None:
        """git passes over a directory that it cannot open, and what lies there would count as deleted or never made."""
        if "Permission denied" not in stderr:  # git cuts a long warning's end, which has the reason, off
            raise refused("tree_too_deep", make_reason("git.too_deep"))
        if not self.skip_unreadable:
            raise GitError(("git", *args), 0, stderr)

    async def _git(self, *args: str, stdin: bytes | None = None, unread: Unread | None = None) -> bytes:
        return await git(
            *_SETTINGS,
            *args,
            git_dir=self.git_dir,
            work_tree=self.path,
            stdin=stdin,
            env={"GIT_INDEX_FILE": str(self.file)},
            timeout_s=_TIMEOUT_S,
            unread=unread,
        )


def _kind(path: bytes) -> int:
    try:
        return stat.S_IFMT(os.lstat(path).st_mode)
    except OSError:
        return 0


def _within(name: bytes, chosen: frozenset[bytes]) -> bool:
    parts = name.split(b"/")
    return bool(name) and any(b"/".join(parts[:length]) in chosen for length in range(1, len(parts) + 1))


def _nul_terminated(items: Iterable[bytes]) -> bytes:
    return b"".join(item + b"\0" for item in items)
