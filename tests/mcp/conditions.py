"""Waits for what the processes of a check do."""

from __future__ import annotations

import os
from pathlib import Path

import anyio

from tests.machine import PATIENCE_S


async def written(path: Path) -> None:
    """Waits until the file has content."""
    with anyio.fail_after(PATIENCE_S):
        while not path.exists() or not path.read_text():  # noqa: ASYNC110  # another process writes it
            await anyio.sleep(0.02)


async def gone(pid: int) -> bool:
    """Waits until no process has this id; False after a long time."""
    with anyio.move_on_after(PATIENCE_S):
        while True:
            try:
                os.kill(pid, 0)
            except ProcessLookupError:
                return True
            await anyio.sleep(0.02)
    return False
