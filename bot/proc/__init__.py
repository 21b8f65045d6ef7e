"""The only place a process starts: argv, an explicit environment and directory, a time limit, bounded output.
It exists because asyncio's own subprocesses hang while a grandchild holds the pipe (cpython gh-119710);
here every process of a command is dead when `run` returns, however it ended."""

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
    """How a command ended. `exit_code` is negative for a signal, None where it never started or can't be killed;
    `output` and `errors` are head, a marker line and tail where `dropped_bytes` fell between them."""

    exit_code: int | None
    output: bytes
    errors: bytes
    duration_ms: int
    timed_out: bool = False
    overflowed: bool = False
    over_memory_mb: int = 0
    """The limit that its processes together went past, for which they were killed; 0 where they did not."""
    dropped_bytes: int = 0
    spawn_error: str | None = None
    spawn_errno: int | None = None
    """Why the system could not start it (errno(3)), where it was the system."""

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
    """Run `argv` (never a shell) with exactly `env` and the cookie; stderr joins `output` if `merge_stderr`.

    Nothing it started lives when this returns or is cancelled: its process group and session, their descendants,
    and whoever carries its cookie or holds its pipes are killed. Only a process that shed all of these escapes,
    which takes a box to prevent. What can't be started is a `spawn_error`, a command past its time, output or memory a
    flag; neither raises. It starts on the calling thread, because PR_SET_PDEATHSIG (bubblewrap's `--die-with-parent`)
    fires when the *thread* that started the process ends, prctl(2).
    """
    began = time.monotonic()
    cookie = uuid.uuid4().hex
    try:
        bound = started_as(argv, env, bounds)
        popen = _spawn(bound, cwd, {**env, COOKIE: cookie}, stdin is not None, merge_stderr)
    except (OSError, ValueError) as error:
        number = error.errno if isinstance(error, OSError) else None
        return ProcResult(None, b"", b"", _ms_since(began), spawn_error=_sentence(error), spawn_errno=number)
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


def _spawn(argv: Sequence[str], cwd: Path, env: dict[str, str], feed: bool, merge: bool) -> subprocess.Popen[bytes]:
    if not argv:
        raise ValueError("the command is empty")
    return subprocess.Popen(
        list(argv),
        cwd=cwd,
        env=env,
        stdin=subprocess.PIPE if feed else subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT if merge else subprocess.PIPE,
        bufsize=0,
        close_fds=True,
        start_new_session=True,
    )


def _sentence(error: OSError | ValueError) -> str:
    if isinstance(error, OSError) and error.strerror:
        return f"{error.strerror}: {os.fsdecode(error.filename)}" if error.filename else error.strerror
    return str(error)


def _ms_since(began: float) -> int:
    return round((time.monotonic() - began) * 1000)


def base_python() -> Path:
    """The Python below the bot's own virtual environment: the only one of the two that the sandbox shows."""
    return Path(getattr(sys, "_base_executable", None) or sys.executable).resolve()
