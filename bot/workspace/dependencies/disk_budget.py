"""How much the cached dependencies may take of the disk. What was used least recently goes first, nothing in use goes,
and what a crash left half made is swept. Only a directory with Mendbot's mark is touched."""

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
"""What all repositories' cached dependencies may take together."""
FREE_BYTES = 2_000_000_000
"""What they leave free on the disk in any case."""
UNUSED_S = 30 * 24 * 3600.0
"""After this time without use an entry goes, however much room there is."""

_KEY = re.compile(r"[0-9a-f]{64}")
_HALF = re.compile(r"\.([0-9a-f]{64})\.(?:new|given|trash)-[0-9a-f]+.*|\.\.([0-9a-f]{64})\..*")

log = get_logger()


@dataclass(frozen=True, slots=True)
class _Entry:
    """A cached entry: `used` is when it was last given, in seconds since the epoch; `size` is in bytes."""

    path: Path
    used: float
    size: int


async def trim(
    directory: Path, *, need: int = 0, budget: int = BUDGET_BYTES, free: int = FREE_BYTES, unused_s: float = UNUSED_S
) -> bool:
    """Remove entries until `need` bytes more fit the budget and leave `free` bytes of the disk; whether they
    do. Entries that were not used for `unused_s` seconds go in any case. Raises OSError."""
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
    """Remove what a crash left half made or half removed; how much of it went. What somebody works on stays.

    Raises Transient for what resists."""
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
    """Whether the entry could be removed: not while somebody makes it or is given of it."""
    try:
        async with entry_lock(path.parent, key, timeout_s=0):
            await remove_directory(path)
    except Transient as error:
        log.info("dependencies_left", path=str(path), because=str(error))
        return False
    return True


def _free(directory: Path) -> int:
    return shutil.disk_usage(os.fspath(directory)).free
