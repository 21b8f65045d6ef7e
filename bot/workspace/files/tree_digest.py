"""What a tree holds, without asking git: the files that a person or an agent would write, and one digest of them.
It shows whether something changed between two runs of a check, also where there is no repository at all."""

from __future__ import annotations

import hashlib
import os
import stat
import sys
from collections.abc import Iterator
from pathlib import Path

from bot.errors import shortage

MADE_BY_TOOLS = frozenset(
    (
        *(".git", "node_modules", ".venv", "venv", "__pycache__", ".pytest_cache", ".mypy_cache", ".ruff_cache"),
        *(".tox", ".nox", ".hypothesis", ".cache", ".turbo", ".nyc_output", "coverage", "htmlcov", ".eggs"),
    )
)
"""Names of directories that tools fill, wherever they lie."""
_MADE_FILES = (".coverage", ".eslintcache", ".tsbuildinfo", ".pyc")
_HASHED = 4_000_000
"""Bytes up to which a file's content counts; of a larger one its size and time."""


class Walk:
    """Relative paths of the files below `tree`, in a fixed order, with `/`; directories that tools fill are left out.

    It ends after `limit` names. `unread` then has the directories that could not be listed or were not come to. Deep
    trees do no harm: it is no recursion, as `os.walk` is in Python 3.11, and follows no link."""

    def __init__(self, tree: Path, limit: int | None = None) -> None:
        self._tree = os.fspath(tree)
        self._left = sys.maxsize if limit is None else limit
        self.unread: list[str] = []

    def __iter__(self) -> Iterator[str]:
        waiting = [""]
        while waiting:
            here = waiting.pop()
            prefix = f"{here}/" if here else ""
            try:
                with os.scandir(f"{self._tree}/{here}") as found:
                    entries = sorted((entry.name, entry.is_dir(follow_symlinks=False)) for entry in found)
            except OSError as error:
                if shortage(error.errno):
                    raise
                self.unread.append(here or ".")
                continue
            for name, below in entries:
                if below or name.endswith(_MADE_FILES):
                    continue
                if self._left <= 0:
                    self.unread += [here or ".", *waiting]
                    return
                self._left -= 1
                yield prefix + name
            waiting += [prefix + name for name, below in reversed(entries) if below and name not in MADE_BY_TOOLS]


def tree_digest(tree: Path) -> str:
    """One digest of names, kinds, permission to execute and contents; of a link its target, which isn't followed."""
    total = hashlib.sha256()
    for name in Walk(tree):
        total.update(name.encode("utf-8", "surrogateescape") + b"\0" + _identity(tree / name) + b"\0")
    return total.hexdigest()


def _identity(path: Path) -> bytes:
    try:
        status = path.lstat()
        if stat.S_ISLNK(status.st_mode):
            return b"link " + os.fsencode(path.readlink())
        if not stat.S_ISREG(status.st_mode):
            return b"special"
        mode = b"x" if status.st_mode & 0o100 else b"-"
        if status.st_size > _HASHED:
            return mode + f"{status.st_size} {status.st_mtime_ns}".encode()
        # it may have become a link or a FIFO since; neither is followed or waited for
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        with os.fdopen(descriptor, "rb") as file:
            return mode + hashlib.sha256(file.read(_HASHED)).digest()
    except OSError as error:
        # gone or unreadable is a state too: what matters is whether it is the same the next time
        return f"error {error.errno}".encode()
