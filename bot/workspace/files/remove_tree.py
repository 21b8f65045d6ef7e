"""Deletes directories that untrusted code may have filled: thousands deep, unreadable, still written to.
The directory is renamed first, so its name is free at once; child processes delete it (T34)."""

from __future__ import annotations

import os
import uuid
from pathlib import Path

from bot.errors import Transient
from bot.model.reasons import Reason
from bot.reports.locale.reasons import user_error
from bot.rules.reasons import make_reason
from bot.workspace.files.system_command import run_system_command

_TIMEOUT_S = 300.0
_TRIES = 3
_TRASH = ".trash-"


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
