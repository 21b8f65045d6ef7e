"""One step of a check, run for a test."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from bot.model import ShellCommand, ValidationStep
from bot.reports.format.redact import Redactor
from bot.workspace.checks.step import run_step
from bot.workspace.sandbox.bubblewrap import SandboxGrant
from bot.workspace.sandbox.sandbox import open_sandbox


async def step(
    tree: Path, command: str, stage: str = "test", seconds: float = 30, **options: Any
) -> tuple[ValidationStep, bytes]:
    box = await open_sandbox("none", ())
    mask = options.get("mask", Redactor().mask)
    wanted = ShellCommand(run=command, timeout_s=seconds)
    run = await run_step(stage, wanted, tree, box, grant=SandboxGrant(), mask=mask)
    return run.step, run.log
