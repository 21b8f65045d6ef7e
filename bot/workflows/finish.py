"""The end of a run, however it came: nothing written is lost, the slot is free, the last word is said once."""

from __future__ import annotations

from bot.model import Phase, Status, StopReason
from bot.rules.course import RunState, fold
from bot.store.runs import Draft, RunRow
from bot.workflows.context import Context
from bot.workspace.tree import Tree
from bot.workspace.worktree import remove_worktree, reopen_worktree, salvage


async def finish(context: Context, row: RunRow, state: RunState, status: Status, stop: StopReason | None) -> None:
    """Salvage, remove the worktree, and record the final status with the reason."""
    salvage_ref = await clear(context, row)
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
    mirror, path = context.mirror(row.spec.repo), context.tree_path(row)
    if not mirror.exists():
        return None
    ref = f"refs/mendbot/salvage/{row.id}"
    tree: Tree | None = await reopen_worktree(mirror, path)
    kept = await salvage(tree, ref) if tree is not None else None
    await remove_worktree(mirror, path)
    return ref if kept else None


async def settle(context: Context, run_id: str) -> None:
    """End a run that somebody asked to stop; waits until whoever works on it has let go."""
    async with context.control.lock(run_id):
        row = await context.stores.runs.get(run_id)
        if row is None or row.status.final:
            return
        state = fold(await context.stores.runs.events(run_id))
        because = row.cancel_because or "asked to stop"
        await finish(context, row, state, Status.CANCELLED, StopReason(reason="cancelled", details=because))
