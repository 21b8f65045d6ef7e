"""Runs programs of the system, such as cp(1), on files that are too many or too strange to be handled in here."""

from __future__ import annotations

import os
from pathlib import Path

from bot import proc
from bot.errors import Shortage, Transient, shortage
from bot.model.reasons import Reason
from bot.reports.locale.reasons import user_error
from bot.rules.reasons import make_reason, quoted

_BOUND = proc.Bounds(with_parent=True)


async def run_system_command(*argv: str, timeout_s: float) -> Reason | None:
    """Returns what went wrong, None for success. Raises Shortage where the system lacks what a start needs."""
    env = {"PATH": os.environ.get("PATH", os.defpath), "LC_ALL": "C"}
    result = await proc.run(argv, cwd=Path("/"), env=env, timeout_s=timeout_s, bounds=_BOUND)
    if lacking := shortage(result.spawn_errno):
        raise user_error(make_reason("command.not_started", program=argv[0], lacking=lacking), Shortage)
    if result.timed_out:
        return make_reason("command.timed_out", program=argv[0], seconds=round(timeout_s))
    if result.exit_code == 0:
        return None
    lines = (result.spawn_error or result.output.decode("utf-8", "replace")).strip().splitlines()
    return make_reason(
        "command.failed", program=argv[0], why=quoted(lines[0]) if lines else make_reason("command.silent")
    )


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
        raise user_error(problem, Transient)
