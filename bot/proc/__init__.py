"""Starts processes, and nothing else does: argv, an explicit environment and directory, a time limit, bounded output.

asyncio's own subprocesses hang while a grandchild holds the pipe (cpython gh-119710). Here every process of a command
is dead when `run` returns, however it ended."""

from __future__ import annotations

import os
import subprocess
import sys
import time
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from bot.proc.bounds import Bounds, impose, started_as
from bot.proc.capture import OutputLimit
from bot.proc.child import Child
from bot.proc.memory import is_counted as memory_is_counted
from bot.proc.process_tree import COOKIE

__all__ = ["COOKIE", "Bounds", "OutputLimit", "ProcResult", "base_python", "memory_is_counted", "run"]

_DEFAULT_LIMIT = OutputLimit()
_UNBOUND = Bounds()


@dataclass(frozen=True, slots=True)
class ProcResult:
    """How a command ended. `exit_code` is negative for a signal, None if it never started or can't be killed.

    `output` and `errors` are head, a marker line and tail if `dropped_bytes` between them were dropped."""

    exit_code: int | None
    output: bytes
    errors: bytes
    duration_ms: int
    timed_out: bool = False
    overflowed: bool = False
    over_memory_mb: int = 0
    """The limit of memory for which its processes were killed; 0 if they stayed below it."""
    dropped_bytes: int = 0
    spawn_error: str | None = None
    spawn_errno: int | None = None
    """The errno(3) with which the system could not start it, if there is one."""

    @property
    def ended_by_us(self) -> bool:
        """Whether it was killed at a limit: of time, of output or of memory."""
        return self.timed_out or self.overflowed or self.over_memory_mb > 0


async def run(
    argv: Sequence[str],
    *,
    cwd: Path,
    env: Mapping[str, str],
    timeout_s: float,
    stdin: bytes | None = None,
    limit: OutputLimit = _DEFAULT_LIMIT,
    merge_stderr: bool = True,
    bounds: Bounds = _UNBOUND,
) -> ProcResult:
    """Runs `argv` (never a shell) with exactly `env` and the cookie; stderr joins `output` if `merge_stderr`.

    When this returns or is cancelled, all processes that it started are dead: its process group and session, their
    descendants, and those with its cookie or its pipes. A process without any of these escapes, which only a sandbox
    prevents. A command that can't be started has a `spawn_error`; one that exceeds its time, output or memory has a
    flag. Neither raises. It starts on the calling thread, because PR_SET_PDEATHSIG (bubblewrap's `--die-with-parent`)
    fires when the *thread* that started the process ends, prctl(2).
    """
    began = time.monotonic()
    cookie = uuid.uuid4().hex
    try:
        bound = started_as(argv, env, bounds)
        popen = _spawn(bound, cwd, {**env, COOKIE: cookie}, stdin is not None, merge_stderr)
    except (OSError, ValueError) as error:
        number = error.errno if isinstance(error, OSError) else None
        return ProcResult(None, b"", b"", _ms_since(began), spawn_error=_message(error), spawn_errno=number)
    impose(popen.pid, bounds)
    child = Child(popen, cookie, limit)
    try:
        child.serve(stdin)
        cause = await child.ended(timeout_s, bounds.total_memory_mb)
        duration_ms = _ms_since(began)
        await child.kill()
        await child.drain()
    finally:
        try:
            await child.kill()
        finally:
            child.close()
    return ProcResult(
        exit_code=popen.returncode,
        output=child.output.content(),
        errors=child.errors.content(),
        duration_ms=duration_ms,
        timed_out=cause == "timed_out",
        overflowed=cause == "overflowed",
        over_memory_mb=(bounds.total_memory_mb or 0) if cause == "over_memory" else 0,
        dropped_bytes=child.output.dropped + child.errors.dropped,
    )


def _spawn(
    argv: Sequence[str], cwd: Path, env: dict[str, str], has_stdin: bool, merge: bool
) -> subprocess.Popen[bytes]:
    if not argv:
        raise ValueError("the command is empty")
    return subprocess.Popen(
        list(argv),
        cwd=cwd,
        env=env,
        stdin=subprocess.PIPE if has_stdin else subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT if merge else subprocess.PIPE,
        bufsize=0,
        close_fds=True,
        start_new_session=True,
    )


def _message(error: OSError | ValueError) -> str:
    if isinstance(error, OSError) and error.strerror:
        return f"{error.strerror}: {os.fsdecode(error.filename)}" if error.filename else error.strerror
    return str(error)


def _ms_since(began: float) -> int:
    return round((time.monotonic() - began) * 1000)


def base_python() -> Path:
    """The Python on which the bot's virtual environment is based; the sandbox shows this one only."""
    return Path(getattr(sys, "_base_executable", None) or sys.executable).resolve()
