"""What a crash may leave behind is found at start: worktrees of runs that have ended, or that nobody knows."""

from __future__ import annotations

import structlog

from bot.errors import MendbotError
from bot.model import Repo
from bot.workflows.context import Context
from bot.workspace.worktree import remove_worktree, reopen_worktree, salvage

log = structlog.get_logger()


async def sweep(context: Context) -> int:
    """Salvage and remove worktrees whose run is over; returns how many were removed."""
    removed = 0
    for path in sorted((context.settings.home / "worktrees").glob("*/*/*/*")):
        run_id, name, owner = path.parts[-2], path.parts[-3], path.parts[-4]
        row = await context.stores.runs.get(run_id)
        if row is not None and not row.status.final:
            continue
        mirror = context.mirror(Repo(owner=owner, name=name, installation_id=0))
        try:
            tree = await reopen_worktree(mirror, path)
            if tree is not None:
                await salvage(tree, f"refs/mendbot/salvage/{run_id}")
            await remove_worktree(mirror, path)
            removed += 1
        except MendbotError as error:
            log.warning("worktree_left", path=str(path), because=str(error))
    return removed
