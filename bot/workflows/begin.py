"""The start of a run: a fresh mirror, a branch, a worktree, the checks that will judge, and the project's set-up."""

from __future__ import annotations

from pathlib import Path

from bot.errors import UserError
from bot.model import Command, Phase
from bot.rules.course import RunState
from bot.rules.failures import first_error_block
from bot.rules.pipeline import STAGES, Stage
from bot.store.runs import Draft, RunRow
from bot.workflows.context import Context
from bot.workspace import mirror as mirrors
from bot.workspace.artifacts import write_log
from bot.workspace.detect import Missing, detect
from bot.workspace.sandbox import Grant
from bot.workspace.tree import Tree
from bot.workspace.worktree import ensure_worktree

SETUP_TIMEOUT_S = 1800.0
_GENERATIONS = 99


async def begin(context: Context, row: RunRow) -> None:
    """Bring the mirror up to date, take a branch and a worktree, and record what the run starts from."""
    spec, runs = row.spec, context.stores.runs
    await runs.append(row.id, [Draft(type="session_started", key="session_started", data={"task": spec.task[:2000]})])
    mirror = context.mirror(spec.repo)
    await mirrors.ensure_mirror(mirror)
    await mirrors.fetch(mirror, await context.remote(spec.repo, write=False))
    start = await mirrors.resolve(mirror, f"refs/remotes/origin/{spec.base_branch}")
    if start is None:
        raise UserError(f"the base branch `{spec.base_branch}` does not exist in {spec.repo.full_name}")
    branch = await _branch(context, row, mirror)
    tree = await ensure_worktree(mirror, context.tree_path(row), branch, start, context.max_worktrees(spec))
    stages = [_stage(tree.path, name, row) for name in STAGES]
    data = {
        "baseSha": await tree.head(),
        "branch": branch,
        "sandbox": context.sandbox.describe(),
        "snapshot": await tree.snapshot(),
        "stages": [stage.model_dump(mode="json") for stage in stages],
    }
    await runs.append(row.id, [Draft(type="phase_started", key="planning", phase=Phase.PLANNING, data=data)])


async def _branch(context: Context, row: RunRow, mirror: Path) -> str:
    taken = await mirrors.branches(mirror)
    wanted = row.spec.suggested_branch
    names = [wanted, *(f"{wanted}-r{generation}" for generation in range(2, _GENERATIONS))]
    return await context.stores.runs.claim_branch(row.id, row.spec.repo.full_name, [n for n in names if n not in taken])


def _stage(tree: Path, name: str, row: RunRow) -> Stage:
    found = detect(tree, name, row.spec.policy.checks)  # type: ignore[arg-type]  # STAGES are CheckNames
    if isinstance(found, Missing):
        return Stage(name=name, looked_for=found.looked_for)
    return Stage(name=name, command=found)


async def open_tree(context: Context, row: RunRow, state: RunState) -> Tree:
    """The run's tree, made again where it is gone (REQ-RUN: everything an attempt wrote survives a crash)."""
    assert state.base_sha is not None and state.branch is not None
    mirror, path = context.mirror(row.spec.repo), context.tree_path(row)
    existed = path.exists()
    tree = await ensure_worktree(mirror, path, state.branch, state.base_sha, context.max_worktrees(row.spec))
    if not existed and state.snapshot is not None:
        await tree.restore(state.snapshot)
    return tree


def git_grant(context: Context, row: RunRow, *, network: bool = False) -> Grant:
    """What every command in a run's box may read beside its tree: the mirror that its `.git` file names."""
    return Grant(network=network, read_only=(context.mirror(row.spec.repo),))


async def set_up(context: Context, row: RunRow, state: RunState) -> None:
    """Run the repository's set-up command, the only one with network (trust.md T31)."""
    setup = row.spec.policy.setup
    assert setup is not None
    runs, tree = context.stores.runs, await open_tree(context, row, state)
    command = Command(run=setup, timeout_s=SETUP_TIMEOUT_S)
    await runs.append(row.id, [Draft(type="setup_started", key="setup", data={"command": command.text})])
    result = await context.sandbox.run(command, tree.path, grant=git_grant(context, row, network=True))
    log = context.mask(result.output.decode("utf-8", "replace"))
    data = {
        "command": command.text,
        "exitCode": result.exit_code,
        "durationMs": result.duration_ms,
        "log": write_log(context.settings.home, row.id, "setup.log", log.encode()),
        "snapshot": await tree.snapshot(),
    }
    if result.exit_code == 0:
        await runs.append(row.id, [Draft(type="setup_completed", key="setup_done", data=data)])
        return
    how = "timed out" if result.timed_out else result.spawn_error or f"exit {result.exit_code}"
    data["details"] = f"`{command.text}`: {how}\n{first_error_block(log)}"
    await runs.append(row.id, [Draft(type="setup_failed", key="setup_done", data=data)])
