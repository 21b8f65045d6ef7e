"""Deletes directories that untrusted code may have filled: thousands deep, unreadable, still written to.
The directory is renamed first, so its name is free at once. Child processes delete all but files and small directories
(T34)."""

from __future__ import annotations

import asyncio
import os
import shutil
import stat
import uuid
from contextlib import suppress
from pathlib import Path

from bot.errors import Transient
from bot.model.reasons import Reason
from bot.reports.locale.reasons import user_error
from bot.rules.reasons import make_reason
from bot.workspace.files.system_command import run_system_command

_TIMEOUT_S = 300.0
_TRIES = 3
_TRASH = ".trash-"
_MAX_SMALL = 64
"""Entries of a directory that is deleted here: to start rm(1) takes longer."""


async def remove_directory(path: Path, *, trash_in: Path | None = None) -> None:
    """Delete `path`, whatever it is and holds, and what an earlier, interrupted deletion of it left; absent is fine.

    It is moved within its parent, or to `trash_in` on the same file system, and deleted there. No link is followed.
    Transient if something stays; the name `path` is free even then, and the next call goes on.
    """
    parent = trash_in or path.parent
    if not parent.is_dir():
        return
    if _TRASH in path.name:  # what resisted an earlier time
        await _delete(path)
        return
    trash = parent / f".{path.name}{_TRASH}{uuid.uuid4().hex}"
    try:
        path.rename(trash)
    except FileNotFoundError:
        pass
    except OSError as error:
        fields = {"path": str(path), "error": error.strerror or ""}
        raise user_error(make_reason("deletion.not_moved", **fields), Transient) from error
    for leftover in sorted(parent.glob(f".{path.name}{_TRASH}*")):
        await _delete(leftover)


async def make_writable(path: Path) -> None:
    """Give the owner every right on `path` and all below it; symbolic links are not followed (chmod(1))."""
    await run_system_command("chmod", "-R", "u+rwX", "--", str(path), timeout_s=_TIMEOUT_S)


async def _delete(path: Path) -> None:
    problem: Reason | None = None
    await _delete_small(path)
    if not os.path.lexists(path):
        return
    for _ in range(_TRIES):
        problem = await run_system_command("rm", "-rf", "--", str(path), timeout_s=_TIMEOUT_S)
        if not os.path.lexists(path):
            return
        await make_writable(path)
    if problem is None:
        raise user_error(make_reason("deletion.failed", path=str(path)), Transient)
    raise user_error(make_reason("deletion.failed.because", path=str(path), why=problem), Transient)


async def _delete_small(path: Path) -> None:
    """Deletes a file, a link or a small directory; leaves anything else, and what resists."""
    with suppress(OSError, RecursionError):
        if not stat.S_ISDIR(path.lstat().st_mode):
            path.unlink()
        elif shutil.rmtree.avoids_symlink_attacks:
            await asyncio.to_thread(_delete_small_directory, path)


def _delete_small_directory(path: Path) -> None:
    waiting, count = [str(path)], 0
    while waiting:
        with os.scandir(waiting.pop()) as entries:
            for entry in entries:
                count += 1
                if count > _MAX_SMALL:
                    return
                if entry.is_dir(follow_symlinks=False):
                    waiting.append(entry.path)
    shutil.rmtree(path)
