"""The loop that keeps dashboard issues up to date. It looks at most every few seconds and writes only what changed."""

from __future__ import annotations

import asyncio
import time

from pydantic import ValidationError

from bot.config import Policy
from bot.errors import MendbotError, Stale, UserError
from bot.github.own_issues import IssueState
from bot.logs import get_logger
from bot.model import Repo
from bot.reports.dashboard.issue import dashboard_body, dashboard_title
from bot.rules.triage.dashboard import KEY
from bot.store.runs.reported import Published
from bot.workflows.context import Context, Loop
from bot.workflows.dashboard.boxes import TARGET
from bot.workflows.dashboard.view import dashboard_view
from bot.workflows.job_runner import persistently
from bot.workflows.repo_config import POLICY_TARGET
from bot.workflows.reporting.publisher import report_digest

DEBOUNCE_S = 10.0
"""The shortest time between two updates of one dashboard."""
IDLE_S = 30.0
AFTER_REFUSAL_S = 600.0
"""The wait after GitHub refused an update, for instance because the App was uninstalled."""

_CLOSED = "closed"
log = get_logger()


async def dashboard_loop(context: Context) -> None:
    """Keep the dashboards up to date; one that cannot be written delays no other."""
    dashboards = Dashboards(context)
    wake = context.wake[Loop.DASHBOARDS]

    async def once() -> None:
        while True:
            wake.clear()
            await dashboards.update()
            await asyncio.sleep(DEBOUNCE_S)
            try:
                async with asyncio.timeout(IDLE_S - DEBOUNCE_S):
                    await wake.wait()
            except TimeoutError:
                continue

    await persistently("dashboards", once)


class Dashboards:
    """The dashboards of all repositories whose configuration in force has `dashboard: true`."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._refused_until: dict[str, float] = {}

    async def update(self) -> None:
        """Bring every dashboard to the present state, and close those that were turned off."""
        reports = self._context.stores.reports
        known = dict(await reports.at_target(TARGET))
        for name, published in await reports.at_target(POLICY_TARGET):
            policy = _policy(published.digest)
            if policy is None or not (policy.dashboard or name in known):
                continue
            if self._refused_until.get(name, 0.0) > time.monotonic():
                continue
            try:
                await self._update_one(name, policy, known.get(name))
            except (Stale, UserError) as error:
                self._refused_until[name] = time.monotonic() + AFTER_REFUSAL_S
                log.info("dashboard_refused", repo=name, because=str(error))
            except MendbotError as error:
                log.info("dashboard_waits", repo=name, because=str(error))

    async def _update_one(self, name: str, policy: Policy, known: Published | None) -> None:
        context = self._context
        owner, _, short = name.partition("/")
        language = context.language(policy)
        body = context.mask(dashboard_body(await dashboard_view(context, _repo(owner, short)), language))
        digest = report_digest(body) if policy.dashboard else _CLOSED
        if known is not None and known.digest == digest:
            return
        repo = _repo(owner, short, await context.github.installation_of(owner, short))
        client = context.github.repository(repo)
        number = known.github_id if known is not None else await client.find_issue(KEY)
        if number is None:
            number = await client.open_issue(KEY, dashboard_title(language), body)
            await client.pin_issue(number)
        else:
            await client.edit_issue(number, KEY, body, _state(digest, known))
        await context.stores.reports.record(repo, TARGET, Published(github_id=number, digest=digest))


def _repo(owner: str, name: str, installation_id: int = 0) -> Repo:
    return Repo(owner=owner, name=name, installation_id=installation_id)


def _state(digest: str, known: Published | None) -> IssueState | None:
    """The state to give the issue: one that a person closed stays closed."""
    if digest == _CLOSED:
        return "closed"
    return "open" if known is not None and known.digest == _CLOSED else None


def _policy(text: str) -> Policy | None:
    try:
        return Policy.model_validate_json(text)
    except ValidationError:
        return None
