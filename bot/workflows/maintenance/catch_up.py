"""Catches up on events that were missed while the server was down: GitHub sends each delivery once (threats.md 3).

Failed deliveries are requested again. Changes whose delivery GitHub no longer has are read from the threads."""

from __future__ import annotations

import asyncio
from array import array
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

from bot.errors import MendbotError, Stale, Transient, UserError
from bot.github.deliveries import Attempt
from bot.logs import get_logger
from bot.model.reasons import Reason
from bot.reports.locale.reasons import english
from bot.rules.reasons import error_reason
from bot.rules.triage.missed_events import withdrawal_reason
from bot.store.runs.runs import RunRow
from bot.workflows.context import Context
from bot.workflows.job_runner import persistently
from bot.workflows.runs.request import cancel_run

KEPT = timedelta(days=3)
"""How long GitHub keeps deliveries ("Redelivering webhooks")."""
OVERLAP = timedelta(minutes=10)
"""How far a sweep looks back beyond the newest attempt that the previous one saw: an attempt may be listed late."""
FIRST_S = 2.0
"""Deliveries that are stored already are processed first: they name the person."""
EVERY_S = 240.0
"""A delivery that was refused, for instance while the disk was full, is requested again within 5 minutes."""
AGAIN_S = 60.0
"""The wait before a sweep continues that GitHub did not answer."""
PAGE_PAUSE_S, ASK_PAUSE_S = 0.1, 0.5
"""Between two pages, and between two requests to redeliver: GitHub takes 180 writes a minute, of all kinds together."""

log = get_logger()


async def catch_up_loop(context: Context) -> None:
    """Check the threads of unfinished runs once. Then request failed deliveries: first all that GitHub keeps, then
    every few minutes those that failed since. Nothing waits for this."""
    since, threads_checked = datetime.now(UTC) - KEPT, False
    sweep: RedeliverySweep | None = None

    async def once() -> None:
        nonlocal since, threads_checked, sweep
        if not threads_checked:
            threads_checked = True
            await check_threads(context)
        sweep = sweep or RedeliverySweep(context, since)
        try:
            await sweep.run()
        except Transient as error:
            log.info("sweep_waits", because=str(error))
            await asyncio.sleep(max(AGAIN_S, error.retry_after_s or 0.0))
            return  # the next call continues this sweep
        since, sweep = sweep.seen_to, None
        await asyncio.sleep(EVERY_S)

    await asyncio.sleep(FIRST_S)
    await persistently("catch_up", once)


class RedeliverySweep:
    """Requests the deliveries that failed since `since` (an aware time) and are not in the inbox, oldest first.

    None is lost, however many there are: only the number of each is held, and after an error `run` continues where it
    stopped."""

    def __init__(self, context: Context, since: datetime) -> None:
        self._context = context
        self._since = since
        self._log = context.github.deliveries(since)
        self._tried_again: set[str] = set()
        """Deliveries of which a newer attempt was listed; that attempt shows whether they arrived."""
        self._wanted = array("q")
        self.requested = 0

    @property
    def seen_to(self) -> datetime:
        """The start of the next sweep; it is this sweep's start where GitHub did not list all attempts."""
        newest = self._log.newest if self._log.over else None
        return self._since if newest is None else max(self._since, newest - OVERLAP)

    async def run(self) -> int:
        """Request them; returns how many. It is none where GitHub refuses to list them. Raises Transient."""
        while not self._log.over:
            try:
                attempts = await self._log.page()
            except (Stale, UserError) as error:
                log.info("deliveries_not_listed", because=str(error))
                break
            await self._select(attempts)
            await asyncio.sleep(PAGE_PAUSE_S)
        while self._wanted:
            await self._redeliver(self._wanted[-1])
            self._wanted.pop()
            await asyncio.sleep(ASK_PAUSE_S)
        if self.requested:
            log.info("redelivering", count=self.requested)
        return self.requested

    async def _select(self, attempts: Sequence[Attempt]) -> None:
        known = await self._context.stores.deliveries.known([one.guid for one in attempts if not one.succeeded])
        for one in attempts:
            if not one.succeeded and one.guid not in known and one.guid not in self._tried_again:
                self._wanted.append(one.id)
            if one.again:
                self._tried_again.add(one.guid)

    async def _redeliver(self, delivery_id: int) -> None:
        try:
            await self._context.github.redeliver(delivery_id)
            self.requested += 1
        except (Stale, UserError) as error:
            log.info("delivery_not_redelivered", delivery=delivery_id, because=str(error))


async def check_threads(context: Context) -> None:
    """Check the issues of every unfinished run once, and stop the runs whose issues were all withdrawn. An issue that
    cannot be read stops nothing."""
    for row in await context.stores.runs.unfinished():
        if row.spec.repo is not None and row.spec.issues and row.cancel_because is None:
            await _check_run(context, row)


async def _check_run(context: Context, row: RunRow) -> None:
    reasons: list[Reason] = []
    for before in row.spec.issues:
        try:
            now = await context.github.repository(row.spec.on_github).issue(before.number)
        except Stale as error:
            reasons.append(error_reason(error))
            continue
        except MendbotError as error:
            log.info("thread_not_read", run=row.id, number=before.number, because=str(error))
            return
        why = withdrawal_reason(before, now, row.spec.policy)
        if why is None:
            return
        reasons.append(why)
    log.info("run_withdrawn", run=row.id, because=english(reasons[0]))
    await cancel_run(context, row, reasons[0])
