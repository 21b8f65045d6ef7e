"""From stored deliveries to decisions: parse, fetch the facts that matter, decide, act, and write down the because.

It runs behind the acknowledgement and never slows it; what fails in passing is taken up again, a few times."""

from __future__ import annotations

import asyncio
import json
from datetime import datetime

import structlog

from bot.config import Policy
from bot.errors import Stale, Transient, UserError
from bot.model import Issue, Repo
from bot.rules import events as parser
from bot.rules import triage
from bot.rules.events import Event, IssueClosed, IssueLabeled, IssueUnlabeled
from bot.rules.triage import CancelRun, Candidate, Decision, Facts, Ignore, StopInstallation
from bot.store import candidates as candidate_store
from bot.store.database import now_ms
from bot.store.deliveries import Delivery, Outcome
from bot.workflows.context import Context
from bot.workflows.gather import settle_job
from bot.workflows.policies import policy_of

BATCH = 64
IDLE_S = 5.0
MAX_TRIES = 5

log = structlog.get_logger()


async def pump_loop(context: Context) -> None:
    """Take up waiting deliveries as they come; looks on its own too, for rows another process stored."""
    wake = context.wake["pump"]
    while True:
        wake.clear()
        batch = await context.stores.deliveries.take(BATCH)
        if batch:
            await asyncio.gather(*(handle(context, delivery) for delivery in batch))
            continue
        try:
            async with asyncio.timeout(IDLE_S):
                await wake.wait()
        except TimeoutError:
            continue


async def handle(context: Context, delivery: Delivery) -> None:
    """Decide about one delivery and mark it; never raises."""
    deliveries = context.stores.deliveries
    try:
        outcome, because = await _decide_and_act(context, delivery)
    except Transient as error:
        if await deliveries.again(delivery.id) < MAX_TRIES:
            asyncio.get_running_loop().call_later(error.retry_after_s or IDLE_S, context.wake["pump"].set)
            return
        outcome, because = "failed", f"given up after {MAX_TRIES} tries: {error}"
    except (Stale, UserError) as error:
        outcome, because = "done", f"GitHub's answer: {error}"
    except ValueError as error:
        outcome, because = "failed", f"the payload cannot be read: {error}"
    except Exception as error:
        log.exception("pump_bug", delivery=delivery.id, event=delivery.event)
        outcome, because = "failed", f"a fault of Mendbot ({type(error).__name__}); the log has the rest"
    await deliveries.mark(delivery.id, outcome, because)


async def _decide_and_act(context: Context, delivery: Delivery) -> tuple[Outcome, str]:
    event = parser.parse(delivery.event, json.loads(delivery.payload))
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
    if isinstance(event, IssueLabeled | IssueUnlabeled | IssueClosed) and event.sender != login:
        return (await policy_of(context, event.repo))[0] if event.repo.installation_id else Policy()
    return Policy()


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
            quiet_s = policy.quiet_seconds if policy.quiet_seconds is not None else context.settings.quiet_seconds
            await context.stores.candidates.add(
                candidate_store.Candidate(
                    repo=decision.repo,
                    issue=decision.issue_number,
                    labeled_by=decision.because,
                    at=now_ms(),
                    quiet_ms=int(quiet_s * 1000),
                    since=decision.at,
                )
            )
            context.wake["gather"].set()
        case CancelRun():
            await context.stores.candidates.drop(decision.repo, decision.issue_number)
            found = await context.stores.runs.open_run(decision.repo, decision.issue_number)
            if found:
                await cancel(context, found[0], decision.because)
        case StopInstallation():
            await _stop_installation(context, decision)
        case Ignore():
            return


async def cancel(context: Context, run_id: str, because: str) -> None:
    """Ask a run to stop, interrupt what is being done for it, and have its last word said once."""
    row = await context.stores.runs.get(run_id)
    if row is None or not await context.stores.runs.request_cancel(run_id, because):
        return
    context.control.signal(run_id)
    await context.enqueue(settle_job(run_id, row.spec.repo))
    context.wake["report"].set()


async def _stop_installation(context: Context, decision: StopInstallation) -> None:
    for row in await context.stores.runs.unfinished():
        repo = row.spec.repo
        named = decision.repositories is None or repo.full_name in decision.repositories
        if repo.installation_id == decision.installation_id and named:
            await cancel(context, row.id, decision.because)
