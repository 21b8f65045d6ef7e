"""*Start of a coding agent*: a program in the sandbox with its filtering proxy, beside one without a sandbox."""

from __future__ import annotations

import asyncio
import os
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from benchmarks.result import Result, Row
from bot import proc
from bot.model import ShellCommand
from bot.workspace.sandbox.bubblewrap import SandboxGrant
from bot.workspace.sandbox.network_filter import AllowedHost, NetworkFilter
from bot.workspace.sandbox.sandbox import open_sandbox

GOAL_MS = 50.0


@dataclass(frozen=True, slots=True)
class Size:
    """How often each way is measured."""

    rounds: int = 30


def measure(size: Size) -> Result:
    """The difference of the medians; without a working bubblewrap its value is that of no sandbox."""
    return asyncio.run(_measure(size))


async def _measure(size: Size) -> Result:
    sandbox = await open_sandbox("auto", ())
    command = ShellCommand(run=("true",), timeout_s=30)
    bare: list[float] = []
    boxed: list[float] = []
    with tempfile.TemporaryDirectory() as directory:
        tree = Path(directory)
        for _ in range(size.rounds):
            began = time.perf_counter()
            await proc.run(command.argv, cwd=tree, env={"PATH": os.defpath}, timeout_s=30)
            between = time.perf_counter()
            grant = SandboxGrant(reach=NetworkFilter((AllowedHost("api.example.com"),)))
            await sandbox.run(command, tree, grant=grant)
            bare.append((between - began) * 1000)
            boxed.append((time.perf_counter() - between) * 1000)
    rows = (
        Row("start in the sandbox, beyond a bare start", median(boxed) - median(bare), "ms", goal=GOAL_MS),
        Row("bare start", median(bare), "ms"),
        Row("start in the sandbox with the proxy", median(boxed), "ms"),
    )
    return Result("start of a coding agent", size.rounds, rows, (sandbox.describe(),))
