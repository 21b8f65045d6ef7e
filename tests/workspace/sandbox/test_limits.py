"""What ends: time, processes, memory, disk (T26-T29)."""

from __future__ import annotations

import asyncio
import os
import secrets
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from bot.model import SandboxMode, ShellCommand
from bot.proc import ProcResult
from bot.workspace.sandbox.sandbox import Sandbox, open_sandbox
from tests.machine import PATIENCE_S, PYTHON
from tests.workspace.sandbox.sandboxed_commands import ROOT, passes, run, sleepers, until

EAT = 'import time; held = b"x" * (2 << 30); time.sleep(600)'

DAEMON = """
import os, sys, time
if os.fork() == 0:
    os.setsid()
    if os.fork():
        os._exit(0)
    os.execve("/bin/sleep", ["sleep", sys.argv[2]], {})
print("check ok", flush=True)
time.sleep(float(sys.argv[1]))
"""


@pytest.mark.parametrize("lasts", ["0", "600"])
async def test_nothing_gets_out_of_the_box_alive(box: Sandbox, tree: Path, lasts: str) -> None:
    mark = f"600.{secrets.randbelow(10**9)}"  # the daemon has no environment left to be known by
    limit = 0.4 if lasts == "600" else PATIENCE_S
    for _ in range(20 if lasts == "0" else 8):
        result = await run(box, tree, "python", "-I", "-S", "-c", DAEMON, lasts, mark, timeout_s=limit)
        while not result.output and limit < PATIENCE_S / 2:  # it was stopped before it had a daemon
            limit *= 3
            result = await run(box, tree, "python", "-I", "-S", "-c", DAEMON, lasts, mark, timeout_s=limit)
        assert (result.output, result.timed_out) == (b"check ok\n", lasts == "600")
        assert (result.exit_code == 0) == (lasts == "0")
    assert sleepers(mark) == []


def test_the_box_dies_with_the_bot(box: Sandbox, tree: Path) -> None:
    mark = f"600.{secrets.randbelow(10**9)}"
    script = (
        "import asyncio, sys\nfrom pathlib import Path\nfrom bot.model import ShellCommand\n"
        "from bot.workspace.sandbox.sandbox import open_sandbox\n"
        "async def main():\n"
        "    sandbox = await open_sandbox('bubblewrap', ())\n"
        "    command = ShellCommand(run=('sleep', sys.argv[2]), timeout_s=600)\n"
        "    await sandbox.run(command, Path(sys.argv[1]))\n"
        "asyncio.run(main())\n"
    )
    with subprocess.Popen((sys.executable, "-c", script, str(tree), mark), cwd=ROOT) as mendbot:
        until(lambda: sleepers(mark) != [] or mendbot.poll() is not None)
        assert mendbot.poll() is None
        mendbot.kill()
    until(lambda: sleepers(mark) == [])


async def test_a_fork_bomb_stays_in_its_box(box: Sandbox, tree: Path) -> None:
    bomb = (
        "import os, time\nmade = 0\n"
        "try:\n    for made in range(600):\n        if os.fork() == 0: time.sleep(600); os._exit(0)\n"
        "except OSError: print('stopped at', made, flush=True)\n"
        "else: print('made', made + 1, flush=True)\ntime.sleep(1)\n"
    )

    async def bomb_and_neighbour() -> tuple[ProcResult, ProcResult]:
        bombing = box.run(ShellCommand(run=("python", "-I", "-S", "-c", bomb), timeout_s=PATIENCE_S), tree)
        neighbour = box.run(ShellCommand(run="sleep 0.3; (true; true) && echo well", timeout_s=PATIENCE_S), tree)
        one, other = await asyncio.gather(bombing, neighbour)
        return one, other

    bombed, neighbour = await bomb_and_neighbour()
    assert neighbour.output == b"well\n"
    assert "512" in await passes(box, tree, "grep 'Max processes' /proc/self/limits")
    if os.geteuid() == 0:  # the kernel does not hold root to it; everybody still dies with the box
        assert bombed.output == b"made 600\n"
    else:
        assert bombed.output.startswith(b"stopped at") and int(bombed.output.split()[-1]) < 512
    assert bombed.exit_code == 0


@pytest.mark.parametrize("mode", ["bubblewrap", "none"])
async def test_eight_gigabytes_in_four_processes_are_killed_with_all_of_them(
    box: Sandbox, tree: Path, mode: SandboxMode
) -> None:
    mark = f"600.{secrets.randbelow(10**9)}"
    sandbox = box if mode == "bubblewrap" else await open_sandbox(mode, ())
    bounded = replace(sandbox, memory_mb=1024)
    eat = f"(setsid sleep {mark} &); for n in 1 2 3; do {PYTHON} -I -S -c '{EAT}' & done; {PYTHON} -I -S -c '{EAT}'"
    result = await run(bounded, tree, eat)
    assert (result.over_memory_mb, result.exit_code) == (1024, -9)
    assert sleepers(mark) == []
    assert (await run(bounded, tree, "echo alive")).output == b"alive\n"


async def test_a_program_may_reserve_far_more_than_it_uses(box: Sandbox, tree: Path) -> None:
    reserve = "import mmap; mmap.mmap(-1, 16 << 30, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)[0] = 1; print('well')"
    assert await passes(box, tree, "python", "-I", "-S", "-c", reserve) == "well\n"


async def test_the_kernel_takes_what_is_in_the_box_before_the_bot(box: Sandbox, tree: Path) -> None:
    told = await passes(box, tree, "sleep 1; cat /proc/self/oom_score_adj /proc/1/oom_score_adj")
    assert told.split() == ["1000", "1000"]


async def test_files_have_a_largest_size(box: Sandbox, tree: Path) -> None:
    result = await run(box, tree, "python", "-c", "open('big', 'wb').truncate((1 << 30) + 1)")
    assert b"File too large" in result.output
    assert (tree / "big").stat().st_size == 0


@pytest.mark.parametrize(("place", "mebibytes"), [("/tmp", 1024), ("/home/bot", 256), ("/dev/shm", 256)])
async def test_scratch_space_has_an_end(box: Sandbox, tree: Path, place: str, mebibytes: int) -> None:
    assert int(await passes(box, tree, f"echo $(( $(stat -f -c '%b * %S' {place}) ))")) == mebibytes << 20
    fill = f"for n in 1 2; do fallocate -l {mebibytes * 2 // 3}M {place}/$n || exit 5; done"
    result = await run(box, tree, fill)
    assert result.exit_code == 5 and b"No space left" in result.output


async def test_a_check_that_never_ends_is_stopped(box: Sandbox, tree: Path) -> None:
    result = await run(box, tree, "trap '' TERM; while :; do :; done", timeout_s=0.5)
    assert result.timed_out
