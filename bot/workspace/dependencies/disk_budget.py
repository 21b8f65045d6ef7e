"""The disk budget of the cached dependencies: removes the least recently used entries, but none in use.

It also removes entries that a crash left incomplete. Only a directory with Mendbot's mark is touched."""

from __future__ import annotations

import os
import re
import shutil
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from bot.errors import Transient
from bot.logs import get_logger
from bot.workspace.dependencies.cache import MANIFEST, entry_lock, read_manifest
from bot.workspace.files.home_directories import own_entries
from bot.workspace.files.remove_tree import remove_directory

BUDGET_BYTES = 10_000_000_000
"""The limit for the cached dependencies of all repositories together."""
FREE_BYTES = 2_000_000_000
"""The free space that must remain on the disk."""
UNUSED_S = 30 * 24 * 3600.0
"""Seconds without use after which an entry is removed, even if there is space."""

_KEY = re.compile(r"[0-9a-f]{64}")
_HALF = re.compile(r"\.([0-9a-f]{64})\.(?:new|given|trash)-[0-9a-f]+.*|\.\.([0-9a-f]{64})\..*")

log = get_logger()


@dataclass(frozen=True, slots=True)
class _Entry:
    """A cached entry: `used` is its last use in seconds since the epoch; `size` is in bytes."""

    path: Path
    used: float
    size: int


async def trim(
    directory: Path, *, need: int = 0, budget: int = BUDGET_BYTES, free: int = FREE_BYTES, unused_s: float = UNUSED_S
) -> bool:
    """Removes entries until `need` more bytes fit the budget and leave `free` bytes of the disk; whether they fit.

    Entries that were not used for `unused_s` seconds are always removed. Raises OSError."""
    entries = sorted(_entries(directory), key=lambda entry: entry.used)
    total = sum(entry.size for entry in entries)
    for entry in entries:
        fits = total + need <= budget and _free(directory) - need >= free
        if fits and time.time() - entry.used < unused_s:
            break
        if await _removed(entry.path, entry.path.name):
            total -= entry.size
    return total + need <= budget and _free(directory) - need >= free


async def remove_unfinished(directory: Path) -> int:
    """Removes entries that a crash left half made or half removed, but none in use; returns their number.

    Raises Transient if one cannot be removed."""
    gone = 0
    for path in own_entries(directory.parent, directory.name, "*/*/.*"):
        if half := _HALF.fullmatch(path.name):
            gone += await _removed(path, half[1] or half[2])
    for path in own_entries(directory.parent, directory.name, "*/.*.trash-*"):
        await remove_directory(path)
        gone += 1
    return gone


def _entries(directory: Path) -> list[_Entry]:
    found = []
    for path in own_entries(directory.parent, directory.name, "*/*/*"):
        if not _KEY.fullmatch(path.name):
            continue
        with suppress(FileNotFoundError):
            manifest = read_manifest(path)
            used = (path / MANIFEST).stat().st_mtime if manifest else 0.0
            found.append(_Entry(path, used, manifest.size if manifest else 0))
    return found


async def _removed(path: Path, key: str) -> bool:
    """Whether the entry could be removed: not while it is created or copied."""
    try:
        async with entry_lock(path.parent, key, timeout_s=0):
            await remove_directory(path)
    except Transient as error:
        log.info("dependencies_left", path=str(path), because=str(error))
        return False
    return True


def _free(directory: Path) -> int:
    return shutil.disk_usage(os.fspath(directory)).free
