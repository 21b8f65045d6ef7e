"""What a tree holds, without asking git: the files that a person or an agent would write, and one digest of them.
It tells whether something changed between two runs of a check, also where there is no repository at all."""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Iterator
from pathlib import Path

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


def file_names(tree: Path) -> Iterator[str]:
    """Relative paths of the files, in a fixed order, with `/`; directories that tools fill are left out."""
    for directory, below, files in os.walk(tree):
        below[:] = sorted(name for name in below if name not in MADE_BY_TOOLS)
        here = os.path.relpath(directory, tree)
        for name in sorted(files):
            if not name.endswith(_MADE_FILES):
                yield name if here == "." else f"{here}/{name}"


def digest(tree: Path) -> str:
    """One digest of names, kinds, permission to execute and contents; of a link its target, which isn't followed."""
    total = hashlib.sha256()
    for name in file_names(tree):
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
