"""Ends processes that a killed bot left running, such as git, which would change a worktree under repair.
They are recognised by a mark in their environment, which their children inherit (proc(5); Linux alone)."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import time
from pathlib import Path

from bot.errors import Transient
from bot.reports.locale.reasons import user_error
from bot.rules.reasons import make_reason

MARK = "MENDBOT_MARK"
"""The variable that holds the mark."""

_PROC = Path("/proc")
_PATIENCE_S = 10.0
_POLL_S = 0.01


async def kill_marked(mark: str) -> None:
    """Kills every process that carries `mark` and returns when none lives. Raises Transient if one can't be killed."""
    deadline = time.monotonic() + _PATIENCE_S
    while living := _carriers(f"{MARK}={mark}".encode()):
        for pid in living:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        if time.monotonic() > deadline:
            raise user_error(make_reason("process.unkillable", processes=str(living)), Transient)
        await asyncio.sleep(_POLL_S)


def _carriers(entry: bytes) -> list[int]:
    if not _PROC.is_dir():
        return []
    return [int(process.name) for process in _PROC.iterdir() if process.name.isdigit() and _carries(process, entry)]


def _carries(process: Path, entry: bytes) -> bool:
    try:
        return entry in (process / "environ").read_bytes().split(b"\0")  # empty for the dead
    except OSError:  # gone, or another user's
        return False
