"""The runner of the agents' tests: the real box, or what this machine has in its place."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from bot.agent.protocol import NO_VARIABLES
from bot.model import ShellCommand
from bot.proc import ProcResult
from bot.workspace.sandbox.bubblewrap import SandboxGrant
from bot.workspace.sandbox.sandbox import open_sandbox


async def boxed(
    command: ShellCommand,
    tree: Path,
    *,
    network: bool = False,
    env: Mapping[str, str] = NO_VARIABLES,
    read_only: tuple[Path, ...] = (),
    writable: tuple[Path, ...] = (),
    stdin: bytes | None = None,
) -> ProcResult:
    sandbox = await open_sandbox("auto", ())
    grant = SandboxGrant(network=network, env=env, read_only=read_only, writable=writable)
    return await sandbox.run(command, tree, grant=grant, stdin=stdin)
