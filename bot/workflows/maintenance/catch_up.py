"""What happened while nobody listened: GitHub tells it once and never again by itself (threats.md 3).

Deliveries that failed are asked for again; what has no delivery any more is seen on the threads themselves."""

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
"""How far a sweep looks back beyond the newest that the one before saw: an attempt may be listed late."""
FIRST_S = 2.0
"""What is in the inbox already has its say first: it knows who did it."""
EVERY_S = 240.0
"""What was refused, as while the disk was full, is asked for again within 5 minutes."""
AGAIN_S = 60.0
"""How soon a sweep that GitHub did not answer goes on."""
PAGE_PAUSE_S, ASK_PAUSE_S = 0.1, 0.5
"""Between two pages, and between two requests to redeliver: GitHub takes 180 writes a minute, of all kinds together."""

log = get_logger()


async def catch_up_loop(context: Context) -> None:
    """Look at the threads of runs that go on, once; then ask for deliveries that failed, at first for all that GitHub
    keeps, every few minutes for those that came since. Nothing waits for it."""
    since, looked = datetime.now(UTC) - KEPT, False
    sweep: RedeliverySweep | None = None

    async def once() -> None:
        nonlocal since, looked, sweep
        if not looked:
            looked = True
            await check_threads(context)
        sweep = sweep or RedeliverySweep(context, since)
        try:
            await sweep.run()
        except Transient as error:
            log.info("sweep_waits", because=str(error))
            await asyncio.sleep(max(AGAIN_S, error.retry_after_s or 0.0))
            return  # it goes on where it was
        since, sweep = sweep.seen_to, None
        await asyncio.sleep(EVERY_S)

    await asyncio.sleep(FIRST_S)
    await persistently("catch_up", once)


class RedeliverySweep:
    """Asks GitHub to send again what failed since then (an aware time) and is not in the inbox, oldest first.

    However many that are, none is lost: of each its number alone is kept, and after an error `run` goes on where it
    was."""

    def __init__(self, context: Context, since: datetime) -> None:
        self._context = context
        self._since = since
        self._log = context.github.deliveries(since)
        self._tried_again: set[str] = set()
        """What was sent again already and listed: the newest attempt says whether it came."""
        self._wanted = array("q")
        self.asked = 0

    @property
    def seen_to(self) -> datetime:
        """From when on the next sweep has to look; no later than this one where GitHub did not tell of all."""
        newest = self._log.newest if self._log.over else None
        return self._since if newest is None else max(self._since, newest - OVERLAP)

    async def run(self) -> int:
        """How many were asked for. Where GitHub will not tell, there is nothing to ask for. Raises Transient."""
        while not self._log.over:
            try:
                attempts = await self._log.page()
            except (Stale, UserError) as error:
                log.info("deliveries_not_listed", because=str(error))
                break
            await self._sort_out(attempts)
            await asyncio.sleep(PAGE_PAUSE_S)
        while self._wanted:
            await self._ask(self._wanted[-1])
            self._wanted.pop()
            await asyncio.sleep(ASK_PAUSE_S)
        if self.asked:
            log.info("redelivering", count=self.asked)
        return self.asked

    async def _sort_out(self, attempts: Sequence[Attempt]) -> None:
        known = await self._context.stores.deliveries.known([one.guid for one in attempts if not one.succeeded])
        for one in attempts:
            if not one.succeeded and one.guid not in known and one.guid not in self._tried_again:
                self._wanted.append(one.id)
            if one.again:
                self._tried_again.add(one.guid)

    async def _ask(self, delivery_id: int) -> None:
        try:
            await self._context.github.redeliver(delivery_id)
            self.asked += 1
        except (Stale, UserError) as error:
            log.info("delivery_not_redelivered", delivery=delivery_id, because=str(error))


async def check_threads(context: Context) -> None:
    """Look once at the issues of every run that goes on after a start, and stop those that nobody wants any more. What
    GitHub does not tell now stops nothing."""
    for row in await context.stores.runs.unfinished():
        if row.spec.repo is not None and row.spec.issues and row.cancel_because is None:
            await _look(context, row)


async def _look(context: Context, row: RunRow) -> None:
    reasons: list[Reason] = []
    for before in row.spec.issues:
        try:
            now = await context.github.repository(row.spec.on_github).issue(before.number)
        except Stale as error:
            reasons.append(error_reason(error))
            continue
        except MendbotError as error:
            log.info("thread_not_seen", run=row.id, number=before.number, because=str(error))
            return
        why = withdrawal_reason(before, now, row.spec.policy)
        if why is None:
            return
        reasons.append(why)
    log.info("run_withdrawn", run=row.id, because=english(reasons[0]))
    await cancel_run(context, row, reasons[0])
