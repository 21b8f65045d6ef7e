"""The end of a run, however it came: nothing written is lost, the slot is free, the last word is said once."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from bot.engine import Job
from bot.model import Phase, Repo, Status, StopReason
from bot.rules.course import RunState, fold
from bot.store.runs import Draft, RunRow
from bot.workflows.context import Context
from bot.workspace import mirror as mirrors
from bot.workspace.worktree import remove_worktree, reopen_worktree, salvage


async def finish(context: Context, row: RunRow, state: RunState, status: Status, stop: StopReason | None) -> None:
    """Salvage, remove the worktree, and record the final status with the reason."""
    await record_end(context, row, state, status, stop, await clear(context, row))


async def record_end(
    context: Context, row: RunRow, state: RunState, status: Status, stop: StopReason | None, salvage_ref: str | None
) -> None:
    """Record the final status with the reason; phases that never came are skipped (REQ-RUN-002)."""
    drafts = [
        Draft(type="phase_skipped", key=f"skipped:{phase}", phase=phase)
        for phase in (Phase.REVIEW, Phase.PACKAGING)
        if status is not Status.SUCCESS and phase not in state.phases
    ]
    data = {"status": status, "stop": stop.model_dump() if stop else None, "salvageRef": salvage_ref}
    await context.stores.runs.append(
        row.id, [*drafts, Draft(type="session_finished", key="session_finished", data=data)]
    )


async def clear(context: Context, row: RunRow) -> str | None:
    """Salvage what is not committed and remove the worktree; the ref that keeps it, if there was anything."""
    mirror, ref = context.mirror(row.spec.repo), f"refs/mendbot/salvage/{row.id}"
    await clear_tree(mirror, context.tree_path(row), ref)
    if not mirror.is_dir():
        return None
    # asked of git, because a crash may have come between the salvage and the record of it
    return ref if await mirrors.resolve(mirror, ref) else None


async def clear_tree(mirror: Path, path: Path, ref: str) -> None:
    """Keep at `ref` what a worktree holds beside its commits, and remove it with the run's own directory."""
    tree = await reopen_worktree(mirror, path) if mirror.is_dir() else None
    if tree is not None:
        await salvage(tree, ref)
    await remove_worktree(mirror, path)
    with suppress(OSError):  # what else somebody put there keeps it
        path.parent.rmdir()


async def settle(context: Context, run_id: str) -> None:
    """End a run that somebody asked to stop; waits until whoever works on it has let go."""
    async with context.control.lock(run_id):
        row = await context.stores.runs.get(run_id)
        if row is None or row.status.final:
            return
        state = fold(await context.stores.runs.events(run_id))
        if state.pull is not None:  # asked too late: the pull request is there, and that is what is to be told
            await finish(context, row, state, Status.SUCCESS, None)
            return
        because = row.cancel_because or "asked to stop"
        await finish(context, row, state, Status.CANCELLED, StopReason(reason="cancelled", details=because))


def settle_job(run_id: str, repo: Repo) -> Job:
    """The job that says a cancelled run's last word."""
    return Job(kind="settle", id=f"settle:{run_id}", partition=repo.full_name, args={"run_id": run_id})
