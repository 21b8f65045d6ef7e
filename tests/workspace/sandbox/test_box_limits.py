"""What ends: time, processes, memory, disk (trust T26-T29)."""

from __future__ import annotations

import asyncio
import os
import secrets
import subprocess
import sys
from pathlib import Path

import pytest

from bot.model import Command
from bot.proc import ProcResult
from bot.workspace.sandbox import Sandbox
from tests.machine import PATIENCE_S
from tests.workspace.sandbox.boxed import ROOT, passes, run, sleepers, until

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
def test_nothing_gets_out_of_the_box_alive(box: Sandbox, tree: Path, lasts: str) -> None:
    mark = f"600.{secrets.randbelow(10**9)}"  # the daemon has no environment left to be known by
    limit = 0.4 if lasts == "600" else PATIENCE_S
    for _ in range(20 if lasts == "0" else 8):
        result = run(box, tree, "python", "-I", "-S", "-c", DAEMON, lasts, mark, timeout_s=limit)
        while not result.output and limit < PATIENCE_S / 2:  # it was stopped before it had a daemon
            limit *= 3
            result = run(box, tree, "python", "-I", "-S", "-c", DAEMON, lasts, mark, timeout_s=limit)
        assert (result.output, result.timed_out) == (b"check ok\n", lasts == "600")
        assert (result.exit_code == 0) == (lasts == "0")
    assert sleepers(mark) == []


def test_the_box_dies_with_the_bot(box: Sandbox, tree: Path) -> None:
    mark = f"600.{secrets.randbelow(10**9)}"
    script = (
        "import asyncio, sys\nfrom pathlib import Path\nfrom bot.model import Command\n"
        "from bot.workspace.sandbox import open_sandbox\n"
        "async def main():\n"
        "    sandbox = await open_sandbox('bubblewrap', ())\n"
        "    command = Command(run=('sleep', sys.argv[2]), timeout_s=600)\n"
        "    await sandbox.run(command, Path(sys.argv[1]))\n"
        "asyncio.run(main())\n"
    )
    with subprocess.Popen((sys.executable, "-c", script, str(tree), mark), cwd=ROOT) as mendbot:
        until(lambda: sleepers(mark) != [] or mendbot.poll() is not None)
        assert mendbot.poll() is None
        mendbot.kill()
    until(lambda: sleepers(mark) == [])


def test_a_fork_bomb_stays_in_its_box(box: Sandbox, tree: Path) -> None:
    bomb = (
        "import os, time\nmade = 0\n"
        "try:\n    for made in range(600):\n        if os.fork() == 0: time.sleep(600); os._exit(0)\n"
        "except OSError: print('stopped at', made, flush=True)\n"
        "else: print('made', made + 1, flush=True)\ntime.sleep(1)\n"
    )

    async def bomb_and_neighbour() -> tuple[ProcResult, ProcResult]:
        bombing = box.run(Command(run=("python", "-I", "-S", "-c", bomb), timeout_s=PATIENCE_S), tree)
        neighbour = box.run(Command(run="sleep 0.3; (true; true) && echo well", timeout_s=PATIENCE_S), tree)
        one, other = await asyncio.gather(bombing, neighbour)
        return one, other

    bombed, neighbour = asyncio.run(bomb_and_neighbour())
    assert neighbour.output == b"well\n"
    assert "512" in passes(box, tree, "grep 'Max processes' /proc/self/limits")
    if os.geteuid() == 0:  # the kernel does not hold root to it; everybody still dies with the box
        assert bombed.output == b"made 600\n"
    else:
        assert bombed.output.startswith(b"stopped at") and int(bombed.output.split()[-1]) < 512
    assert bombed.exit_code == 0


def test_a_process_cannot_take_all_memory(box: Sandbox, tree: Path) -> None:
    assert b"MemoryError" in run(box, tree, "python", "-c", "bytearray(5 << 30)").output


def test_files_have_a_largest_size(box: Sandbox, tree: Path) -> None:
    result = run(box, tree, "python", "-c", "open('big', 'wb').truncate((1 << 30) + 1)")
    assert b"File too large" in result.output
    assert (tree / "big").stat().st_size == 0


@pytest.mark.parametrize(("place", "mebibytes"), [("/tmp", 1024), ("/home/bot", 256), ("/dev/shm", 256)])
def test_scratch_space_has_an_end(box: Sandbox, tree: Path, place: str, mebibytes: int) -> None:
    assert int(passes(box, tree, f"echo $(( $(stat -f -c '%b * %S' {place}) ))")) == mebibytes << 20
    fill = f"for n in 1 2; do fallocate -l {mebibytes * 2 // 3}M {place}/$n || exit 5; done"
    result = run(box, tree, fill)
    assert result.exit_code == 5 and b"No space left" in result.output


def test_a_check_that_never_ends_is_stopped(box: Sandbox, tree: Path) -> None:
    result = run(box, tree, "trap '' TERM; while :; do :; done", timeout_s=0.5)
    assert result.timed_out
