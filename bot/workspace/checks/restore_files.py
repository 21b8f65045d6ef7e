"""Saves a tree's files before a check, and restores those that the check rewrites byte for byte.

In a person's own tree, uncommitted edits exist nowhere else."""

from __future__ import annotations

import asyncio
import os
import stat
import tempfile
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import BinaryIO

from bot.errors import Transient, UserError
from bot.reports.locale.reasons import user_error
from bot.rules.reasons import error_reason, make_reason, quoted
from bot.workspace.files.output_files import output_files
from bot.workspace.files.remove_tree import remove_directory
from bot.workspace.files.tree_digest import Walk
from bot.workspace.git.command import GitError, git

_MAX_FILES = 100_000
_MAX_BYTES = 1 << 30
_MAX_FILE_BYTES = 50_000_000
"""Limits of the copies: files, bytes of all of them, bytes of one. Other files are only compared."""

_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


@dataclass(frozen=True, slots=True)
class Restored:
    """The files that a check had altered: those restored and those without a copy.

    `found_in` is the directory with the altered content of the restored files; empty if nothing was saved."""

    paths: tuple[str, ...] = ()
    not_restored: tuple[str, ...] = ()
    found_in: str = ""


@dataclass(slots=True)
class _File:
    """The saved state of one path. An equal `stamp` means that the file is unchanged; None if there was no file."""

    stamp: tuple[int, ...] | None
    mode: int = 0
    link: str | None = None
    at: int | None = None
    """The offset of its copy in `copies`; None if there is none."""
    size: int = 0
    mtime_ns: int = 0


@dataclass(slots=True)
class SavedFiles:
    """The files of `tree` as `save_files` found them; files that are added later are ignored."""

    tree: Path
    copies: BinaryIO
    files: dict[str, _File] = field(default_factory=dict)
    room: int = _MAX_BYTES
    outputs: Collection[tuple[int, int]] = field(default_factory=output_files)
    """Device and inode of the files that this process writes to itself."""

    async def restore(self) -> Restored:
        """Restores the altered files. Their altered content is saved in a temporary directory, as it may be a person's
        edit. Raises UserError with the place of the copies if a file cannot be restored."""
        altered = await asyncio.to_thread(self._altered)
        if not altered:
            return Restored()
        able = [name for name in altered if self._is_restorable(self.files[name])]
        found = Path(tempfile.mkdtemp(prefix="mendbot-found-"))
        try:
            await asyncio.to_thread(self._set_aside, able, found)
            for at, name in enumerate(able):
                try:
                    await self._clear(name)
                    await asyncio.to_thread(self._write, name)
                except (OSError, Transient) as error:
                    raise self._given_up(able[at:], error, found) from error
        finally:
            has_files = any(found.iterdir())
            if not has_files:
                found.rmdir()
        lost = tuple(name for name in altered if name not in able)
        return Restored(tuple(able), lost, str(found) if has_files else "")

    def close(self) -> None:
        """Deletes the copies."""
        self.copies.close()

    def add(self, name: str) -> None:
        """Saves a file, with a copy if there is space for one; not one that this process writes to itself."""
        path = self.tree / name
        status = _status(path)
        if status is None:
            self.files[name] = _File(None)
            return
        if (status.st_dev, status.st_ino) in self.outputs:
            return
        file = self.files[name] = _File(_stamp(status), mode=stat.S_IMODE(status.st_mode), mtime_ns=status.st_mtime_ns)
        if stat.S_ISLNK(status.st_mode):
            file.link = str(path.readlink())
        elif stat.S_ISREG(status.st_mode) and status.st_size <= min(_MAX_FILE_BYTES, self.room):
            content = _content(path)
            if content is not None:
                file.at, file.size = self.copies.seek(0, os.SEEK_END), len(content)
                self.copies.write(content)
                self.room -= len(content)

    def _altered(self) -> list[str]:
        return sorted(name for name, file in self.files.items() if self._is_altered(name, file))

    def _is_altered(self, name: str, file: _File) -> bool:
        status = _status(self.tree / name)
        now = None if status is None or not self._is_really_there(name) else status
        if file.stamp is None or now is None:
            return (file.stamp is None) != (now is None)
        if _stamp(now) == file.stamp:
            return False
        if file.link is not None:
            return not stat.S_ISLNK(now.st_mode) or str((self.tree / name).readlink()) != file.link
        if file.at is None:
            return True  # a file of which there is no copy
        same_kind = stat.S_ISREG(now.st_mode) and stat.S_IMODE(now.st_mode) == file.mode and now.st_size == file.size
        return not same_kind or _content(self.tree / name) != self._copy(file)

    def _is_really_there(self, name: str) -> bool:
        """Whether no parent of the path was replaced by a link."""
        parent = self.tree
        for part in name.split("/")[:-1]:
            parent /= part
            if parent.is_symlink():
                return False
        return True

    def _is_restorable(self, file: _File) -> bool:
        return file.stamp is None or file.link is not None or file.at is not None

    def _copy(self, file: _File) -> bytes:
        assert file.at is not None
        self.copies.seek(file.at)
        return self.copies.read(file.size)

    def _set_aside(self, names: Iterable[str], found: Path) -> None:
        for name in names:
            content = _content(self.tree / name) if self._is_really_there(name) else None
            # the same content with another mode, time or kind is not worth saving
            if content is not None and (self.files[name].at is None or content != self._copy(self.files[name])):
                (found / name).parent.mkdir(parents=True, exist_ok=True)
                (found / name).write_bytes(content)

    def _given_up(self, names: Iterable[str], error: OSError | Transient, found: Path) -> UserError:
        """The error if files cannot be restored; their saved contents are written to a temporary directory."""
        saved = Path(tempfile.mkdtemp(prefix="mendbot-originals-"))
        for name in names:
            if self.files[name].at is not None:
                (saved / name).parent.mkdir(parents=True, exist_ok=True)
                (saved / name).write_bytes(self._copy(self.files[name]))
        why = quoted(f"{error.filename}: {error.strerror}") if isinstance(error, OSError) else error_reason(error)
        if any(found.iterdir()):
            return user_error(make_reason("restore.failed_with_edits", why=why, saved=str(saved), found=str(found)))
        return user_error(make_reason("restore.failed", why=why, saved=str(saved)))

    async def _clear(self, name: str) -> None:
        """Removes anything in the place of the file or of one of its directories."""
        at = self.tree
        *parents, last = name.split("/")
        for part in parents:
            at /= part
            if at.is_symlink() or (at.exists() and not at.is_dir()):
                await remove_directory(at)
        status = _status(at / last)
        if status is not None and (not stat.S_ISREG(status.st_mode) or self.files[name].at is None):
            await remove_directory(at / last)

    def _write(self, name: str) -> None:
        path, file = self.tree / name, self.files[name]
        if file.stamp is None:
            return
        path.parent.mkdir(parents=True, exist_ok=True)
        if file.link is not None:
            path.symlink_to(file.link)
        else:
            if path.exists():
                path.chmod(0o600)
            # in place, so that it stays the file that an editor or a hard link knows
            opened = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
            with os.fdopen(opened, "wb") as target:
                target.write(self._copy(file))
                target.flush()
                os.fchmod(opened, file.mode)
                os.utime(opened, ns=(file.mtime_ns, file.mtime_ns))
        file.stamp = _stamp(path.lstat())


async def save_files(tree: Path) -> SavedFiles:
    """Saves the files of `tree` (absolute) that a person or an agent would write.

    In a git checkout these are all that git tracks or does not ignore, else all but those that tools make. Raises
    UserError if there is no space for their copies."""
    names = await _listed(tree)
    try:
        return await asyncio.to_thread(_save, tree, names)
    except OSError as error:
        where = tempfile.gettempdir()
        reason = make_reason("restore.no_space", tree=str(tree), directory=where, error=str(error.strerror))
        raise user_error(reason) from error


def _save(tree: Path, names: Iterable[str]) -> SavedFiles:
    copies = tempfile.TemporaryFile(prefix="mendbot-saved-")  # noqa: SIM115 (it lives as long as the saved files)
    saved = SavedFiles(tree, copies)
    try:
        for name in names:
            saved.add(name)
    except BaseException:
        saved.close()
        raise
    return saved


async def _listed(tree: Path) -> Iterable[str]:
    try:
        listed = await git("ls-files", "-z", "--cached", "--others", "--exclude-standard", cwd=tree)
    except GitError:
        return Walk(tree, _MAX_FILES)
    # a name that ends with a slash is a nested repository
    found = (os.fsdecode(name) for name in listed.split(b"\0") if name and not name.endswith(b"/"))
    return islice(dict.fromkeys(found), _MAX_FILES)


def _status(path: Path) -> os.stat_result | None:
    try:
        return path.lstat()
    except OSError:
        return None


def _stamp(status: os.stat_result) -> tuple[int, ...]:
    return status.st_ino, status.st_mode, status.st_size, status.st_mtime_ns, status.st_ctime_ns


def _content(path: Path) -> bytes | None:
    """The content of a regular file; None for anything else and for an unreadable file."""
    try:
        opened = os.open(path, _READ)
    except OSError:
        return None
    try:
        if not stat.S_ISREG(os.fstat(opened).st_mode):
            return None
        with os.fdopen(opened, "rb", closefd=False) as file:
            return file.read(_MAX_FILE_BYTES + 1)
    finally:
        os.close(opened)
