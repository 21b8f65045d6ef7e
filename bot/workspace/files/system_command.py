"""Runs programs of the system, such as cp(1), on files that are too many or too strange to be handled in here."""

from __future__ import annotations

import os
from pathlib import Path

from bot import proc
from bot.errors import Shortage, Transient, shortage
from bot.reports.locale.reasons import english

_BOUND = proc.Bounds(with_parent=True)


async def run_system_command(*argv: str, timeout_s: float) -> str:
    """What went wrong, in one line; empty where nothing did. Raises Shortage where it cannot be started for a lack."""
    env = {"PATH": os.environ.get("PATH", os.defpath), "LC_ALL": "C"}
    result = await proc.run(argv, cwd=Path("/"), env=env, timeout_s=timeout_s, bounds=_BOUND)
    if lacking := shortage(result.spawn_errno):
        raise Shortage(f"{argv[0]} could not be started: {english(lacking)}")
    if result.timed_out:
        return f"{argv[0]} did not end within {timeout_s:.0f} seconds"
    lines = (result.spawn_error or result.output.decode("utf-8", "replace")).strip().splitlines()
    return "" if result.exit_code == 0 else f"{argv[0]} failed: {lines[0] if lines else 'it gave no reason'}"


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
