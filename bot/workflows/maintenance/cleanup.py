"""Cleans up after crashes at the start and once a minute: runs without a job, worktrees of ended or unknown runs. Once
a day it deletes what is too old."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from pathlib import Path

from bot.agent.hook_bundle import remove_bundle
from bot.errors import MendbotError
from bot.logs import get_logger
from bot.model import Repo
from bot.model.events.runs import ChangeLost
from bot.store.database.database import now_ms
from bot.workflows.context import Context, Loop
from bot.workflows.job_runner import persistently
from bot.workflows.maintenance.reconcile import reconcile
from bot.workflows.maintenance.retention import forget_old, tidy_dependencies, tidy_mirrors
from bot.workflows.runs.begin import CANDIDATE_TREE
from bot.workflows.runs.finish import remove_tree, save_and_remove_tree
from bot.workspace.files.home_directories import own_entries
from bot.workspace.git.command import GitError
from bot.workspace.worktree.run_worktree import remove_worktree

RECONCILE_S = 60.0
RETENTION_S = 24 * 3600.0
_AT_ONCE = 4
KEEP_JOB_RECORDS = timedelta(days=7)
"""How long the engine's records of ended jobs stay: longer than GitHub offers redelivery (threats.md 4)."""

log = get_logger()


async def cleanup_loop(context: Context) -> None:
    """Reconcile once a minute. Concurrently sweep at the start and once a minute, since removing a worktree may take
    long. Once a day, first after a minute, delete what is old; that may take long and delays nothing."""

    async def once() -> None:
        await asyncio.sleep(RECONCILE_S)
        await reconcile(context)
        await context.forget_jobs(KEEP_JOB_RECORDS)

    async def clean() -> None:
        await sweep(context)
        await asyncio.sleep(RECONCILE_S)

    async def daily() -> None:
        await asyncio.sleep(RECONCILE_S)
        await forget_old(context, now_ms())
        await tidy_mirrors(context, now_ms())
        await tidy_dependencies(context)
        await asyncio.sleep(RETENTION_S)

    await asyncio.gather(persistently("tend", once), persistently("sweep", clean), persistently("forget", daily))


async def _sweep_checks(context: Context) -> int:
    """Remove the trees of ended checks, which hold no changes; returns how many."""
    removed = 0
    for where in own_entries(context.settings.home, "pulls", "*/*/*"):
        owner, name, run_id = where.parts[-3:]
        row = await context.stores.pulls.get(run_id)
        if row is not None and row.status in ("queued", "running"):
            continue
        mirror = context.mirror(Repo(owner=owner, name=name, installation_id=0))
        try:
            for path in sorted(where.glob("*")):
                await remove_worktree(mirror, path)
            where.rmdir()
        except (MendbotError, GitError, OSError) as error:
            log.warning("tree_left", path=str(where), because=str(error))
            continue
        removed += 1
    return removed


async def sweep(context: Context) -> int:
    """Remove worktrees whose run has ended, and their agents' kits; returns how many worktrees were removed.
    Uncommitted changes are saved; the run's comment reports a loss. Several run at a time, as one may take long."""
    turns = asyncio.Semaphore(_AT_ONCE)

    async def one(path: Path) -> bool:
        async with turns:
            return await _sweep_one(context, path)

    paths = own_entries(context.settings.home, "worktrees", "*/*/*/*")
    removed = sum(await asyncio.gather(*map(one, paths)))
    removed += await _sweep_checks(context)
    for kit in own_entries(context.settings.home, "kits"):
        row = await context.stores.runs.get(kit.name)
        if row is None or row.status.final:
            remove_bundle(kit)
    return removed


async def _sweep_one(context: Context, path: Path) -> bool:
    run_id, name, owner = path.parts[-2], path.parts[-3], path.parts[-4]
    row = await context.stores.runs.get(run_id)
    if row is not None and not row.status.final:
        return False
    mirror = context.mirror(Repo(owner=owner, name=name, installation_id=0))
    try:
        if path.name.startswith(CANDIDATE_TREE):  # its change is at a ref of its own
            await remove_tree(mirror, path)
            return True
        loss = await save_and_remove_tree(mirror, path, f"refs/mendbot/salvage/{run_id}")
    except (MendbotError, GitError, OSError) as error:
        log.warning("worktree_left", path=str(path), because=str(error))
        return False
    if loss is not None and row is not None:
        await context.stores.runs.append(run_id, [ChangeLost(loss=loss)])
        context.wake[Loop.RUN_REPORTS].set()
    return True
