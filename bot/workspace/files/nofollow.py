"""Reads and replaces files below a root without ever following a link at any part of a path, all of them or none.
A tree's content is untrusted: a link planted in it must not carry a read or a write anywhere else (T20)."""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
import stat
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from bot.errors import Refused, Shortage, shortage
from bot.reports.locale.reasons import english, refused, user_error
from bot.rules.reasons import make_reason

_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_CREATE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
MAX_FILE_BYTES = 50_000_000
_MAX_DEPTH = 200


@dataclass(frozen=True, slots=True)
class FileState:
    """A regular file's content and permission bits."""

    content: bytes
    mode: int

    @property
    def executable(self) -> bool:
        return bool(self.mode & 0o100)


@dataclass(frozen=True, slots=True)
class Replacement:
    """What shall stand at `path`: this content, or no file. `executable` None keeps what is there."""

    path: str
    content: bytes | None
    executable: bool | None = None


def read_state(root: Path, path: str, *, limit: int = MAX_FILE_BYTES) -> FileState | None:
    """The regular file at `path` below `root`, or None where there is none.

    Raises Refused(`through_symlink`) where a part is a link, OSError for what is no regular file, larger than `limit`
    bytes or not readable, Shortage where this machine has no descriptor or memory left. A FIFO does not block it."""
    try:
        with ExitStack() as held:
            try:
                parent, name = _open_parent(_open_root(root, held), path, held)
            except (FileNotFoundError, NotADirectoryError):
                return None
            return _read_at(parent, name, path, limit)
    except OSError as error:
        if lacking := shortage(error.errno):
            raise user_error(make_reason("file.lacks", path=path, lacking=lacking), Shortage) from error
        raise


def read_or_none(root: Path, path: str, *, limit: int = MAX_FILE_BYTES) -> bytes | None:
    """As `read_state`, for whom a file that may not be read is as good as none."""
    try:
        state = read_state(root, path, limit=limit)
    except (OSError, Refused):
        return None
    return None if state is None else state.content


def touch_files(root: Path, paths: Sequence[str]) -> None:
    """Give the files at these paths the present as their time of change; what is no longer there is passed over.

    Compilers and make go by that time. A change that keeps the old one would be judged by what was built before it."""
    with ExitStack() as held:
        top = _open_root(root, held)
        for path in paths:
            with ExitStack() as below, contextlib.suppress(OSError, Refused):
                parent, name = _open_parent(top, path, below)
                os.utime(name, dir_fd=parent, follow_symlinks=False)


def replace_all(root: Path, wanted: Sequence[Replacement]) -> None:
    """Makes the tree hold what is wanted; on any error it is as before, and the error (OSError, Refused) goes on.

    New contents are written aside first, where a full disk shows; after that there are only renames, each with its
    undoing at hand. Nothing is awaited in between, so a cancelled task can't stop it half-way. Directories that become
    empty go, as with git. A file is replaced, not overwritten: other hard links to it keep their content."""
    with ExitStack() as held:
        top = _open_root(root, held)
        stage = held.enter_context(_stage(top))
        for number, item in enumerate(wanted):
            if item.content is not None:
                _write_aside(top, stage, f"new{number}", item)
        with ExitStack() as undo:
            # deletions first: a directory may have to stand where a file was
            for number, item in sorted(enumerate(wanted), key=lambda pair: pair[1].content is not None):
                _swap(top, stage, number, item, held, undo)
            undo.pop_all()
        for item in wanted:
            if item.content is None:
                _prune(top, item.path)


@contextlib.contextmanager
def open_parent(root: Path, path: str, *, make: bool = False) -> Iterator[tuple[int, str]]:
    """A descriptor of the directory below `root` that holds `path`, and the path's last part; with `make`, directories
    that are missing are made. Raises Refused(`through_symlink`) where a part is a link, OSError."""
    with ExitStack() as held, ExitStack() as undo:
        parent, name = _open_parent(_open_root(root, held), path, held, undo if make else None)
        undo.pop_all()
        yield parent, name


def _open_root(root: Path, held: ExitStack) -> int:
    top = os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    held.callback(os.close, top)
    return top


def _open_parent(top: int, path: str, held: ExitStack, undo: ExitStack | None = None) -> tuple[int, str]:
    """The directory that holds the path's last part, and that part; with `undo` it makes what is missing."""
    *parents, name = path.split("/")
    if undo is not None and len(parents) > _MAX_DEPTH:
        raise refused("tree_too_deep", make_reason("file.too_deep", path=path[:200], limit=_MAX_DEPTH))
    at = top
    passed = held.enter_context(ExitStack())
    for part in parents:
        if undo is not None:
            with contextlib.suppress(FileExistsError):
                os.mkdir(part, dir_fd=at)
                undo.callback(os.rmdir, part, dir_fd=at)
                held.push(passed.pop_all())  # to undo it takes the directory that it was made in
        try:
            below = os.open(part, _DIRECTORY, dir_fd=at)
        except OSError as error:
            if error.errno in (errno.ENOTDIR, errno.ELOOP):
                _refuse_link(at, part, path)
            raise
        passed.close()  # one descriptor at a time, for a path may be as deep as the limit on them
        passed.callback(os.close, below)
        at = below
    return at, name


def _refuse_link(directory: int, name: str, path: str) -> None:
    if stat.S_ISLNK(os.stat(name, dir_fd=directory, follow_symlinks=False).st_mode):
        raise refused("through_symlink", make_reason("file.symlink", path=repr(path), name=repr(name)))


def _read_at(directory: int, name: str, path: str, limit: int) -> FileState | None:
    try:
        opened = os.open(name, _READ, dir_fd=directory)
    except FileNotFoundError:
        return None
    except OSError as error:
        if error.errno == errno.ELOOP:
            _refuse_link(directory, name, path)
        raise
    with os.fdopen(opened, "rb") as file:
        status = os.fstat(opened)
        if not stat.S_ISREG(status.st_mode):
            raise OSError(errno.EINVAL, english(make_reason("file.not_regular")), path)
        if status.st_size > limit:
            raise OSError(errno.EFBIG, english(make_reason("file.larger", bytes=f"{limit:,}")), path)
        return FileState(file.read(limit), stat.S_IMODE(status.st_mode) & 0o777)


@contextlib.contextmanager
def _stage(top: int) -> Iterator[int]:
    """A private directory in the tree itself, on the same file system, so that a rename can't fail for being a copy."""
    name = f".mendbot-{secrets.token_hex(8)}"
    os.mkdir(name, 0o700, dir_fd=top)
    try:
        stage = os.open(name, _DIRECTORY, dir_fd=top)
        try:
            yield stage
        finally:
            for entry in list(os.scandir(stage)):
                os.unlink(entry.name, dir_fd=stage)
            os.close(stage)
    finally:
        os.rmdir(name, dir_fd=top)


def _write_aside(top: int, stage: int, name: str, item: Replacement) -> None:
    with ExitStack() as held:
        try:
            before = _read_mode(*_open_parent(top, item.path, held))
        except (FileNotFoundError, NotADirectoryError):
            before = None
    # 0o777 and 0o666 are what the umask is for; an existing file keeps its own bits
    opened = os.open(name, _CREATE, 0o777 if item.executable else 0o666, dir_fd=stage)
    with os.fdopen(opened, "wb") as file:
        file.write(item.content or b"")
        if before is not None:
            os.fchmod(opened, _with_executable(before, item.executable))


def _read_mode(directory: int, name: str) -> int | None:
    status = os.stat(name, dir_fd=directory, follow_symlinks=False)
    return stat.S_IMODE(status.st_mode) & 0o777 if stat.S_ISREG(status.st_mode) else None


def _with_executable(mode: int, executable: bool | None) -> int:
    if executable is None:
        return mode
    return mode | (mode & 0o444) >> 2 if executable else mode & ~0o111


def _swap(top: int, stage: int, number: int, item: Replacement, held: ExitStack, undo: ExitStack) -> None:
    directory, name = _open_parent(top, item.path, held, undo if item.content is not None else None)
    try:
        status = os.stat(name, dir_fd=directory, follow_symlinks=False)
    except FileNotFoundError:
        pass
    else:
        _refuse_link(directory, name, item.path)
        if not stat.S_ISREG(status.st_mode):
            raise OSError(errno.EINVAL, english(make_reason("file.not_regular")), item.path)
        os.rename(name, f"old{number}", src_dir_fd=directory, dst_dir_fd=stage)
        undo.callback(os.rename, f"old{number}", name, src_dir_fd=stage, dst_dir_fd=directory)
    if item.content is not None:
        os.rename(f"new{number}", name, src_dir_fd=stage, dst_dir_fd=directory)
        undo.callback(os.rename, name, f"new{number}", src_dir_fd=directory, dst_dir_fd=stage)


def _prune(top: int, path: str) -> None:
    """Removes the directories above a deleted file that are empty now."""
    parent = path.rpartition("/")[0]
    while parent:
        with ExitStack() as held, contextlib.suppress(FileNotFoundError):
            directory, name = _open_parent(top, parent, held)
            try:
                os.rmdir(name, dir_fd=directory)
            except OSError as error:
                if error.errno in (errno.ENOTEMPTY, errno.EEXIST, errno.ENOTDIR):
                    return
                raise
        parent = parent.rpartition("/")[0]
