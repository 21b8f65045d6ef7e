"""From stored deliveries to decisions: parse, fetch the facts that matter, decide, act, and write down the because.

It runs behind the acknowledgement and never slows it; what fails in passing waits and is tried again, for an hour."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from datetime import datetime
from functools import partial
from weakref import WeakValueDictionary

import structlog

from bot.config import Policy
from bot.errors import Stale, Transient, UserError
from bot.github.answers import Unauthorized
from bot.model import Issue, Repo
from bot.rules import events as parser
from bot.rules import triage
from bot.rules.events import Event, IssueClosed, IssueLabeled, IssueUnlabeled, repository_key
from bot.rules.triage import CancelRun, Candidate, Decision, Facts, Ignore, StopInstallation
from bot.store import candidates as candidate_store
from bot.store.database import now_ms
from bot.store.deliveries import Delivery, Outcome
from bot.store.runs import RunRow
from bot.workflows.context import Context
from bot.workflows.finish import settle_job
from bot.workflows.policies import policy_of
from bot.workflows.runner import MAX_FAULTS, backoff_s, persistently

BATCH = 64
IDLE_S = 5.0
IN_HAND = 512
"""Deliveries taken up at once, most of which may be waiting for GitHub to recover."""

AT_ONCE = 16
"""Of these, the ones that are asking GitHub something (it allows 100 requests at once)."""

log = structlog.get_logger()


async def pump_loop(context: Context) -> None:
    """Take up waiting deliveries as they come; looks on its own too, for rows another process stored."""
    await persistently("pump", Pump(context).run)


class Pump:
    """The deliveries in hand. Those about one issue are handled in the order in which they came; no other waits for
    them, and none waits while another is held up by GitHub."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._tasks: set[asyncio.Task[None]] = set()
        self._slots = asyncio.Semaphore(AT_ONCE)
        self._turns: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    async def run(self) -> None:
        wake = self._context.wake["pump"]
        while True:
            wake.clear()
            room = min(BATCH, IN_HAND - len(self._tasks))
            batch = await self._context.stores.deliveries.take(room) if room > 0 else ()
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
        if len(self._tasks) == IN_HAND:
            wake.set()
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            # its row says `processing`, which the next start takes up again
            log.error("delivery_not_marked", delivery=delivery_id, because=str(error))

    async def _handle(self, delivery: Delivery) -> None:
        """Decide about one delivery and mark it."""
        faults = 0
        while True:
            try:
                outcome, because = await self._decided(delivery)
                break
            except Transient as error:
                faults += 1
                if faults == MAX_FAULTS:
                    outcome, because = "failed", f"given up after {faults} tries: {error}"
                    break
                log.info("delivery_waits", delivery=delivery.id, faults=faults, because=str(error))
                await asyncio.sleep(max(error.retry_after_s or 0.0, backoff_s(faults - 1)))
        await self._mark(delivery, outcome, because)

    async def _mark(self, delivery: Delivery, outcome: Outcome, because: str) -> None:
        for faults in range(MAX_FAULTS - 1):
            try:
                return await self._context.stores.deliveries.mark(delivery.id, outcome, because)
            except Transient:
                await asyncio.sleep(backoff_s(faults))
        return await self._context.stores.deliveries.mark(delivery.id, outcome, because)

    async def _decided(self, delivery: Delivery) -> tuple[Outcome, str]:
        try:
            event = parser.parse(delivery.event, json.loads(delivery.payload))
        except ValueError as error:
            return "failed", f"the payload cannot be read: {error}"
        try:
            async with self._turn(event), self._slots:
                return await decide_and_act(self._context, event)
        except Unauthorized as error:
            return "failed", str(error)  # the operator can mend it; a redelivery is then done
        except (Stale, UserError) as error:
            return "done", f"GitHub's answer: {error}"
        except Transient:
            raise
        except Exception as error:
            log.exception("pump_bug", delivery=delivery.id, event=delivery.event)
            return "failed", f"a fault of Mendbot ({type(error).__name__}); the log has the rest"

    @asynccontextmanager
    async def _turn(self, event: Event) -> AsyncIterator[None]:
        number = getattr(getattr(event, "issue", None), "number", None)
        if number is None:
            yield
            return
        lock = self._turns.setdefault(f"{repository_key(event)}#{number}", asyncio.Lock())
        async with lock:
            yield


async def decide_and_act(context: Context, event: Event) -> tuple[Outcome, str]:
    """What came of an event, and why; whatever it did before a crash it may do again."""
    login = (await context.github.app_identity()).login
    policy = await _policy(context, event, login)
    facts = await _facts(context, event, policy, login)
    decisions = triage.decide(event, policy, facts)
    for decision in decisions:
        await _act(context, decision, policy)
    ignored = all(isinstance(decision, Ignore) for decision in decisions)
    return "ignored" if ignored else "done", "; ".join(decision.because for decision in decisions)


async def _policy(context: Context, event: Event, login: str) -> Policy:
    """The repository's policy where the decision depends on it; our own doings never do."""
    if not isinstance(event, IssueLabeled | IssueUnlabeled | IssueClosed) or event.sender == login:
        return Policy()
    if event.repo.installation_id == 0:
        return Policy()
    if isinstance(event, IssueClosed) and not (await _open(context, event.repo, event.issue.number))[0]:
        return Policy()  # most closings are none of our business, and worth no request
    return (await policy_of(context, event.repo))[0]


async def _facts(context: Context, event: Event, policy: Policy, login: str) -> Facts:
    if not isinstance(event, IssueLabeled | IssueUnlabeled | IssueClosed):
        return Facts(app_login=login)
    needs = triage.needs(event, policy, login)
    client = context.github.repository(event.repo)
    permission: str | None = None
    issue: Issue | None = None
    if needs.permission:
        permission = await client.permission(event.sender)
    if needs.issue:
        issue = await client.issue(event.issue.number)
    is_open, since = await _open(context, event.repo, event.issue.number) if needs.open_run else (False, None)
    return Facts(app_login=login, sender_permission=permission, issue=issue, open_run=is_open, open_since=since)


async def _open(context: Context, repo: Repo, issue: int) -> tuple[bool, datetime | None]:
    found = await context.stores.runs.open_run(repo, issue)
    return (True, found[1]) if found else await context.stores.candidates.waiting(repo, issue)


async def _act(context: Context, decision: Decision, policy: Policy) -> None:
    match decision:
        case Candidate():
            await _wait_quietly(context, policy, decision)
        case CancelRun():
            await _stop_issue(context, decision, policy)
        case StopInstallation():
            await _stop_installation(context, decision)
        case Ignore():
            return


async def _wait_quietly(context: Context, policy: Policy, candidate: Candidate) -> None:
    await context.stores.candidates.add(
        candidate_store.Candidate(
            repo=candidate.repo,
            issue=candidate.issue_number,
            labeled_by=candidate.because,
            at=now_ms(),
            quiet_ms=_quiet_ms(context, policy),
            since=candidate.at,
        )
    )
    context.wake["gather"].set()


async def _stop_issue(context: Context, decision: CancelRun, policy: Policy) -> None:
    """Stop the run that holds an issue; the group's other issues are still wanted and wait for a run of their own."""
    await context.stores.candidates.drop(decision.repo, decision.issue_number)
    found = await context.stores.runs.open_run(decision.repo, decision.issue_number)
    row = await context.stores.runs.get(found[0]) if found is not None else None
    if row is None:
        return
    others = [issue.number for issue in row.spec.issues if issue.number != decision.issue_number]
    await cancel(context, row, decision.because, released=others, quiet_ms=_quiet_ms(context, policy))
    context.wake["gather"].set()


def _quiet_ms(context: Context, policy: Policy) -> int:
    quiet_s = policy.quiet_seconds if policy.quiet_seconds is not None else context.settings.quiet_seconds
    return int(quiet_s * 1000)


async def cancel(
    context: Context, row: RunRow, because: str, *, released: Sequence[int] = (), quiet_ms: int = 0
) -> None:
    """Ask a run to stop, interrupt what is being done for it, and have its last word said once."""
    if not await context.stores.runs.request_cancel(row.id, because, released=released, quiet_ms=quiet_ms):
        return
    context.control.signal(row.id)
    await context.enqueue(settle_job(row.id, row.spec))
    context.wake["report"].set()


async def _stop_installation(context: Context, decision: StopInstallation) -> None:
    """Stop what runs and waits there, without a further word to GitHub: the App may no longer speak."""

    def meant(repo: Repo) -> bool:
        named = decision.repositories is None or repo.full_name in decision.repositories
        return named and repo.installation_id == decision.installation_id

    for burst in await context.stores.candidates.bursts():
        for number in burst.issues if meant(burst.repo) else ():
            await context.stores.candidates.drop(burst.repo, number)
    for row in await context.stores.runs.unfinished():
        if row.spec.repo is not None and meant(row.spec.repo):
            await context.stores.runs.silence(row.id)
            await cancel(context, row, decision.because)
