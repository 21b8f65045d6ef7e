"""Checks a tree on this machine by its own policy, for the command line and MCP."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from bot.config import ChecksPolicy
from bot.model import RunChecksResult
from bot.workspace.checks.run_checks import MAX_ATTEMPTS, Watch, configured_sandbox, run_checks
from bot.workspace.detect.local_policy import checks_with_a_command, local_policy


async def check_tree(
    tree: str | Path,
    checks: Sequence[str] | None,
    *,
    fail_fast: bool = True,
    max_attempts: int = MAX_ATTEMPTS,
    watch: Watch | None = None,
) -> RunChecksResult:
    """`run_checks` with the tree's policy and the configured sandbox; None as checks means all that have a command.

    Raises UserError for a wrong policy, and whatever `run_checks` raises."""
    # os.path and not pathlib, which raises for a name that is too long
    policy = (await local_policy(Path(tree))).checks if os.path.isdir(tree) else ChecksPolicy()  # noqa: PTH112
    sandbox = await configured_sandbox()
    wanted = checks_with_a_command(Path(tree), policy, sandbox.finds) if checks is None else checks
    return await run_checks(
        tree, wanted, fail_fast=fail_fast, max_attempts=max_attempts, policy=policy, sandbox=sandbox, watch=watch
    )
