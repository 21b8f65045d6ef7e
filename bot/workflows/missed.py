"""What happened while nobody listened: GitHub tells it once and never again by itself (trust.md, finding 8).

Deliveries that failed are asked for again; what has no delivery any more is seen on the threads themselves."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta

import structlog

from bot.errors import MendbotError, Stale, Transient, UserError
from bot.rules.missed import withdrawn
from bot.store.runs import RunRow
from bot.workflows.context import Context
from bot.workflows.runner import persistently
from bot.workflows.stopping import cancel

KEPT = timedelta(days=3)
"""How long GitHub keeps deliveries ("Redelivering webhooks")."""
OVERLAP = timedelta(hours=1)
"""How far a sweep looks back beyond the one before: GitHub's clock is not ours, and what it sends again may fail."""
FIRST_S = 2.0
"""What is in the inbox already has its say first: it knows who did it."""
EVERY_S = 3 * 3600.0
AGAIN_S = 60.0
"""How soon a sweep that GitHub did not answer is tried again."""

log = structlog.get_logger()


async def catch_up_loop(context: Context) -> None:
    """Look at the threads of runs that go on, once; then ask for deliveries that failed, at first for all that GitHub
    keeps, every few hours for those that came since. Nothing waits for it."""
    since, looked = datetime.now(UTC) - KEPT, False

    async def once() -> None:
        nonlocal since, looked
        if not looked:
            looked = True
            await look_at_threads(context)
        began = datetime.now(UTC)
        try:
            await sweep_deliveries(context, since)
        except Transient as error:
            log.info("sweep_waits", because=str(error))
            await asyncio.sleep(max(AGAIN_S, error.retry_after_s or 0.0))
            return
        since = began - OVERLAP
        await asyncio.sleep(EVERY_S)

    await asyncio.sleep(FIRST_S)
    await persistently("catch_up", once)


async def sweep_deliveries(context: Context, since: datetime) -> int:
    """Ask GitHub to send again what failed since then (an aware time) and is not in the inbox; how much that was.

    Where GitHub will not tell, there is nothing to ask for. Raises Transient."""
    try:
        failed = await context.github.failed_deliveries(since)
    except (Stale, UserError) as error:
        log.info("deliveries_not_listed", because=str(error))
        return 0
    known = await context.stores.deliveries.known([delivery.guid for delivery in failed])
    asked = 0
    for delivery in failed:
        if delivery.guid in known:
            continue
        try:
            await context.github.redeliver(delivery.id)
            asked += 1
        except (Stale, UserError) as error:
            log.info("delivery_not_redelivered", delivery=delivery.guid, because=str(error))
    if asked:
        log.info("redelivering", count=asked)
    return asked


async def look_at_threads(context: Context) -> None:
    """Look once at the issues of every run that goes on after a start, and stop those that nobody wants any more. What
    GitHub does not tell now stops nothing."""
    for row in await context.stores.runs.unfinished():
        if row.spec.repo is not None and row.spec.issues and row.cancel_because is None:
            await _look(context, row)


async def _look(context: Context, row: RunRow) -> None:
    reasons = []
    for before in row.spec.issues:
        try:
            now = await context.github.repository(row.spec.on_github).issue(before.number)
        except Stale as error:
            reasons.append(str(error))
            continue
        except MendbotError as error:
            log.info("thread_not_seen", run=row.id, number=before.number, because=str(error))
            return
        why = withdrawn(before, now, row.spec.policy)
        if why is None:
            return
        reasons.append(why.text)
    log.info("run_withdrawn", run=row.id, because=reasons[0])
    await cancel(context, row, reasons[0])
