"""Copies of whole directories that share no file with what they were made of, by cp(1) in a process of its own.
Where the file system can, their blocks are shared until one is written to (`--reflink`); never by hard links, for
whoever writes to a linked file writes to the other, too."""

from __future__ import annotations

from pathlib import Path

from bot.errors import Transient
from bot.workspace.files.system_command import run_system_command

_TIMEOUT_S = 900.0
_COPY = ("cp", "-R", "-P", "--preserve=mode,timestamps,links", "--reflink=auto", "-T", "--")


async def copy(source: Path, to: Path) -> None:
    """Copy a file, a link or a directory to `to`, which must be free; times and modes stay, no link is followed.

    Raises Transient where something was not copied; what was copied until then stays."""
    await _run(*_COPY, str(source), str(to))


async def flush(directory: Path) -> None:
    """Return when all that was written to the directory's file system is on the disk. Raises Transient."""
    await _run("sync", "-f", str(directory))


async def _run(*argv: str) -> None:
    if problem := await run_system_command(*argv, timeout_s=_TIMEOUT_S):
        raise Transient(problem)
