"""What all processes of a command use together has a limit; what they reserve or share has none (T28)."""

from __future__ import annotations

import os
import secrets
import sys
import time
from pathlib import Path

import pytest

from bot import proc
from bot.proc import Bounds, ProcResult
from tests.machine import PATIENCE_S

ENV = {"PATH": "/usr/bin:/bin"}

# processes that take megabytes: each its own, as daemons away from the first, in shared memory, from before the fork
EAT = """
import mmap, os, sys, time
count, size, how = int(sys.argv[1]), int(sys.argv[2]) << 20, sys.argv[3]
held = b"x" * size if how == "shared" else None
first = os.getpid()
for _ in range(count - 1):
    if os.fork() == 0:
        break
if how == "away" and os.getpid() != first:
    os.setsid()
    if os.fork():
        os._exit(0)
if how in ("each", "away"):
    held = b"x" * size
if how == "mapped":
    held = mmap.mmap(-1, size, flags=mmap.MAP_SHARED)
    for at in range(0, size, 4096):
        held[at] = 1
if how == "reserved":
    held = mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    held[0] = 1
print("full", flush=True)
time.sleep(float(sys.argv[4]))
"""


async def eat(count: int, size: int, how: str, limit: int, lasts: str = "600") -> ProcResult:
    argv = (sys.executable, "-I", "-S", "-c", EAT, str(count), str(size), how, lasts)
    bounds = Bounds(total_memory_mb=limit)
    return await proc.run(argv, cwd=Path("/"), env=ENV, timeout_s=PATIENCE_S, bounds=bounds)


def eaters(mark: str) -> list[str]:
    """The processes of such a command that live: to this one they are children, or orphans of the system's."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and int(entry.name) != os.getpid():
            try:
                if mark.encode() in (entry / "cmdline").read_bytes().split(b"\0"):
                    found.append(entry.name)
            except (FileNotFoundError, ProcessLookupError):
                continue
    return found


@pytest.mark.parametrize("how", ["each", "away", "mapped"])
async def test_processes_that_need_too_much_together_are_killed(how: str) -> None:
    mark = f"600.{secrets.randbelow(10**9)}"
    result = await eat(4, 160, how, limit=400, lasts=mark)
    assert (result.over_memory_mb, result.exit_code) == (400, -9)
    assert result.ended_by_us and not result.timed_out and not result.overflowed
    assert eaters(mark) == []


async def test_eight_gigabytes_in_four_processes_end_before_they_have_it_and_hold_nobody_up() -> None:
    mark = f"600.{secrets.randbelow(10**9)}"

    async def watched() -> tuple[ProcResult, float]:
        argv = (sys.executable, "-I", "-S", "-c", EAT, "4", "2048", "each", mark)
        bounds = Bounds(total_memory_mb=1024)
        began = time.thread_time()
        result = await proc.run(argv, cwd=Path("/"), env=ENV, timeout_s=PATIENCE_S, bounds=bounds)
        return result, time.thread_time() - began

    result, busy = await watched()
    assert result.over_memory_mb == 1024
    assert result.output.count(b"full") < 4
    assert busy < 1.0
    assert (eaters(mark), await proc_still_works()) == ([], True)


async def proc_still_works() -> bool:
    return (await proc.run(("true",), cwd=Path("/"), env=ENV, timeout_s=PATIENCE_S)).exit_code == 0


async def test_less_than_the_limit_is_nobodys_business() -> None:
    result = await eat(4, 60, "each", limit=400, lasts="1")
    assert (result.exit_code, result.over_memory_mb, result.output) == (0, 0, b"full\n" * 4)


async def test_what_is_reserved_and_never_touched_does_not_count() -> None:
    result = await eat(1, 16 << 10, "reserved", limit=400, lasts="1")
    assert (result.exit_code, result.over_memory_mb, result.output) == (0, 0, b"full\n")


async def test_pages_that_forks_share_count_once() -> None:
    result = await eat(4, 256, "shared", limit=400, lasts="1")
    assert (result.exit_code, result.over_memory_mb, result.output) == (0, 0, b"full\n" * 4)
    assert (await eat(4, 512, "shared", limit=400)).over_memory_mb == 400


async def test_the_kernel_takes_a_command_before_the_bot() -> None:
    own = Path("/proc/self/oom_score_adj").read_text()
    script = "sleep 1; cat /proc/self/oom_score_adj; sh -c 'cat /proc/self/oom_score_adj'"

    async def told(bounds: Bounds) -> list[str]:
        running = proc.run(("sh", "-c", script), cwd=Path("/"), env=ENV, timeout_s=PATIENCE_S, bounds=bounds)
        return (await running).output.decode().split()

    assert await told(Bounds(total_memory_mb=400)) == ["1000", "1000"]
    assert await told(Bounds()) == [own.strip()] * 2
    assert Path("/proc/self/oom_score_adj").read_text() == own
