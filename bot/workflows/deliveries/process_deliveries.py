"""Processes stored deliveries: parses each, reads the facts, decides, acts, and records the reason.

This runs after the acknowledgement and never slows it. A transient failure is tried again for an hour."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from weakref import WeakValueDictionary

from bot.errors import Stale, Transient, UserError
from bot.github.answers import Unauthorized
from bot.logs import get_logger, log_fields
from bot.model.reasons import Reason
from bot.reports.locale.reasons import english
from bot.rules.events import parse as parser
from bot.rules.events.parse import repository_key
from bot.rules.events.types import Event
from bot.rules.reasons import all_reasons, error_reason, make_reason
from bot.rules.triage import decide as issues
from bot.rules.triage.decisions import Ignore
from bot.store.inbox.deliveries import Delivery, DeliveryOutcome
from bot.workflows.context import Context, Loop
from bot.workflows.deliveries.dispatch import dispatch
from bot.workflows.deliveries.gather_facts import get_facts
from bot.workflows.job_runner import MAX_FAULTS, backoff_s, persistently

BATCH = 64
IDLE_S = 5.0
MAX_DELIVERIES = 512
"""Deliveries in process at once; most of them may be waiting for GitHub to recover."""

AT_ONCE = 16
"""Of these, the ones that send requests to GitHub (it allows 100 at once)."""

log = get_logger()


async def deliveries_loop(context: Context) -> None:
    """Process waiting deliveries as they come. It also polls, for rows that another process stored."""
    await persistently("deliveries", DeliveryProcessor(context).run)


class DeliveryProcessor:
    """The deliveries in process. Those of one issue are processed in the order of their arrival; no other delivery
    waits for them, and none waits while GitHub delays another."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._tasks: set[asyncio.Task[None]] = set()
        self._slots = asyncio.Semaphore(AT_ONCE)
        self._turns: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    async def run(self) -> None:
        wake = self._context.wake[Loop.DELIVERIES]
        while True:
            wake.clear()
            free = min(BATCH, MAX_DELIVERIES - len(self._tasks))
            batch = await self._context.stores.deliveries.take(free) if free > 0 else ()
            for delivery in batch:
                task = asyncio.create_task(self._handle(delivery))
                self._tasks.add(task)
                task.add_done_callback(partial(self._ended, delivery.id, wake))
            if batch:
                continue
            try:
                async with asyncio.timeout(IDLE_S):
                    await wake.wait()
            except TimeoutError:
                continue

    def _ended(self, delivery_id: str, wake: asyncio.Event, task: asyncio.Task[None]) -> None:
        if len(self._tasks) == MAX_DELIVERIES:
            wake.set()
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            # its row is still `processing`, so the next start processes it again
            log.error("delivery_not_marked", delivery=delivery_id, because=str(error), exc_info=error)

    async def _handle(self, delivery: Delivery) -> None:
        """Decide about one delivery and mark it."""
        with log_fields(delivery=delivery.id):
            await self._decide(delivery)

    async def _decide(self, delivery: Delivery) -> None:
        faults = 0
        while True:
            try:
                outcome, because = await self._outcome(delivery)
                break
            except Transient as error:
                faults += 1
                if faults == MAX_FAULTS:
                    outcome = "failed"
                    because = make_reason("delivery.given_up", count=faults, error=error_reason(error))
                    break
                log.info("delivery_waits", faults=faults, because=str(error))
                await asyncio.sleep(max(error.retry_after_s or 0.0, backoff_s(faults - 1)))
        text = english(because)
        await self._mark(delivery, outcome, text)
        write = {"done": log.info, "ignored": log.debug, "failed": log.warning}[outcome]
        write("delivery_processed", kind=delivery.event, outcome=outcome, because=text)

    async def _mark(self, delivery: Delivery, outcome: DeliveryOutcome, because: str) -> None:
        for faults in range(MAX_FAULTS - 1):
            try:
                return await self._context.stores.deliveries.mark(delivery.id, outcome, because)
            except Transient:
                await asyncio.sleep(backoff_s(faults))
        return await self._context.stores.deliveries.mark(delivery.id, outcome, because)

    async def _outcome(self, delivery: Delivery) -> tuple[DeliveryOutcome, Reason]:
        try:
            event = parser.parse(delivery.event, json.loads(delivery.payload))
        except ValueError as error:
            return "failed", make_reason("delivery.unreadable", error=str(error))
        try:
            async with self._turn(event), self._slots:
                return await decide_and_act(self._context, event)
        except Unauthorized as error:
            return "failed", error_reason(error)  # the operator can correct the key; a redelivery then succeeds
        except (Stale, UserError) as error:
            return "done", make_reason("delivery.answer", why=error_reason(error))
        except Transient:
            raise
        except Exception as error:
            log.exception("delivery_bug", kind=delivery.event)
            return "failed", make_reason("delivery.fault", error=type(error).__name__)

    @asynccontextmanager
    async def _turn(self, event: Event) -> AsyncIterator[None]:
        number = getattr(getattr(event, "issue", event), "number", None)
        if number is None:
            yield
            return
        lock = self._turns.setdefault(f"{repository_key(event)}#{number}", asyncio.Lock())
        async with lock:
            yield


async def decide_and_act(context: Context, event: Event) -> tuple[DeliveryOutcome, Reason]:
    """Decide about an event and act; returns the outcome with its reason. It may be called again after a crash."""
    login = (await context.github.app_identity()).login
    policy, facts = await get_facts(context, event, login)
    decisions = issues.decide(event, policy, facts)
    results = [await dispatch(context, decision, policy) or decision.because for decision in decisions]
    ignored = all(isinstance(decision, Ignore) for decision in decisions)
    return "ignored" if ignored else "done", all_reasons(results)
