"""Locks of a repository over all tasks and processes, which the system drops if their holder dies, and git's own.
Several bots, command lines and tests may share a repository, and git's own locks do not queue."""

from __future__ import annotations

import asyncio
import fcntl
import os
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from bot.errors import Shortage, Transient, shortage
from bot.reports.locale.reasons import english, user_error
from bot.rules.reasons import make_reason

STALE_LOCK_S = 60.0
"""A lock file older than this was left by a process that died (threats.md 3); git itself holds one for moments."""

_LOCK_WAIT_S = 2.0
POLL_S = 0.01
"""How often a lock that another process holds is asked for; flock(2) cannot be awaited."""


def common_dir(git_dir: Path) -> Path:
    """The directory that a repository's worktrees share, for any of their git directories (gitrepository-layout(5))."""
    try:
        shared = (git_dir / "commondir").read_text(encoding="utf-8").strip()
    except OSError as error:
        if shortage(error.errno):
            raise  # else two of us could hold different locks
        return git_dir
    return Path(os.path.realpath(git_dir / shared))


def mutex_path(common: Path, purpose: str) -> Path:
    """Where the lock for one `purpose` lies: in a checkout's `.git`, but beside a bare repository, because mirrors are
    shown to checks in their sandbox and whoever can read a file can hold its lock."""
    if common.name == ".git":
        return common / f"mendbot-{purpose}.mutex"
    return common.parent / f".{common.name}.{purpose}.mutex"


@asynccontextmanager
async def exclusive(common: Path, purpose: str, timeout_s: float = 300.0) -> AsyncIterator[None]:
    """Hold the repository's lock for `purpose`; Transient after `timeout_s` seconds, or where it can't be made."""
    path = mutex_path(common, purpose)
    try:
        lock = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)
    except OSError as error:
        if lacking := shortage(error.errno):
            raise user_error(make_reason("lock.lacks", path=str(path), lacking=lacking), Shortage) from error
        raise user_error(make_reason("lock.closed", path=str(path), error=error.strerror or ""), Transient) from error
    try:
        deadline = time.monotonic() + timeout_s
        while not _try_lock(lock):
            if time.monotonic() > deadline:
                raise user_error(make_reason("lock.held", path=str(path), seconds=round(timeout_s)), Transient)
            await asyncio.sleep(POLL_S)
        yield
    finally:
        os.close(lock)


def _try_lock(lock: int) -> bool:
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


async def wait_for_git_lock(lock: Path, common: Path, deadline: float) -> None:
    """Returns when git's own `lock` is gone: its owner released it, or it was stale and is deleted here.

    Raises Transient where it is young and stays."""
    give_up_at = min(deadline, time.monotonic() + _LOCK_WAIT_S)
    while (age := _age_s(lock)) is not None:
        if age > STALE_LOCK_S:
            # under a mutex, and looked at again: else two of us could each delete the other's fresh lock
            async with exclusive(common, "locks"):
                if (_age_s(lock) or 0.0) > STALE_LOCK_S:
                    lock.unlink(missing_ok=True)
            return
        if time.monotonic() >= give_up_at:
            because = make_reason("git.locked", path=str(lock), seconds=round(STALE_LOCK_S))
            raise Transient(english(because), max(1.0, STALE_LOCK_S - age + 1), because=because)
        await asyncio.sleep(POLL_S)


def _age_s(lock: Path) -> float | None:
    try:
        return time.time() - lock.lstat().st_mtime
    except OSError:
        return None
