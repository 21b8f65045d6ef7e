"""Running commands in a sandbox from a test, and looking for what they left running."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import bot
from bot.model import ShellCommand
from bot.proc import ProcResult
from bot.workspace.sandbox.bubblewrap import SandboxGrant
from bot.workspace.sandbox.sandbox import Sandbox
from tests.machine import PATIENCE_S

ROOT = Path(bot.__file__).parent.parent


async def run(
    sandbox: Sandbox,
    tree: Path,
    *argv: str,
    timeout_s: float = PATIENCE_S,
    grant: SandboxGrant | None = None,
    stdin: bytes | None = None,
) -> ProcResult:
    """One argument is a line for the shell, several are an argv."""
    command = ShellCommand(run=argv[0] if len(argv) == 1 else argv, timeout_s=timeout_s)
    return await sandbox.run(command, tree, grant=grant or SandboxGrant(), stdin=stdin)


async def passes(sandbox: Sandbox, tree: Path, *argv: str, grant: SandboxGrant | None = None) -> str:
    result = await run(sandbox, tree, *argv, grant=grant)
    assert (result.exit_code, result.spawn_error) == (0, None), result.output.decode()
    return result.output.decode()


def sleepers(seconds: str) -> list[str]:
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                words = (entry / "cmdline").read_bytes().split(b"\0")
            except (FileNotFoundError, ProcessLookupError):
                continue
            if words[:2] == [b"sleep", seconds.encode()]:
                found.append(entry.name)
    return found


def until(holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.02)
