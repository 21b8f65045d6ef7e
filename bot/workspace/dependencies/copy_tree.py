"""Copies of whole directories that share no file with what they were made of, by cp(1) in a process of its own.
Where the file system can, their blocks are shared until one is written to (`--reflink`); never by hard links, for
whoever writes to a linked file writes to the other, too."""

from __future__ import annotations

import os
from pathlib import Path

from bot import proc
from bot.errors import Shortage, Transient, shortage

_TIMEOUT_S = 900.0
_BOUND = proc.Bounds(with_parent=True)
_COPY = ("cp", "-R", "-P", "--preserve=mode,timestamps,links", "--reflink=auto", "-T", "--")


async def copy(source: Path, to: Path) -> None:
    """Copy a file, a link or a directory to `to`, which must be free; times and modes stay, no link is followed.

    Raises Transient where something was not copied; what was copied until then stays."""
    await _run((*_COPY, str(source), str(to)))


async def flush(directory: Path) -> None:
    """Return when all that was written to the directory's file system is on the disk. Raises Transient."""
    await _run(("sync", "-f", str(directory)))


async def _run(argv: tuple[str, ...]) -> None:
    env = {"PATH": os.environ.get("PATH", os.defpath), "LC_ALL": "C"}
    result = await proc.run(argv, cwd=Path("/"), env=env, timeout_s=_TIMEOUT_S, bounds=_BOUND)
    if result.exit_code == 0:
        return
    if lacking := shortage(result.spawn_errno):
        raise Shortage(f"{argv[0]} could not be started: {lacking}")
    if result.timed_out:
        raise Transient(f"{argv[0]} did not end within {_TIMEOUT_S:.0f} seconds")
    said = (result.spawn_error or result.output.decode("utf-8", "replace")).strip()
    raise Transient(f"{argv[0]} failed: {said.splitlines()[0] if said else 'it gave no reason'}")
