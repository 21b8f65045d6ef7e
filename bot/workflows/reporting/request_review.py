"""A fix that is ready reaches the inbox of whoever asked for it: GitHub notifies of a request for review, and of no
comment that is edited."""

from __future__ import annotations

from bot.errors import Stale, UserError
from bot.github.answers import Unauthorized
from bot.logs import get_logger
from bot.model import RunView
from bot.store.runs.reported import Published
from bot.store.runs.runs import RunRow
from bot.workflows.context import Context
from bot.workflows.reporting.publisher import report_digest

_MOST = 15
"""People of one group who are asked; GitHub takes 15 reviewers of a pull request."""

log = get_logger()


async def ask_review(context: Context, row: RunRow, view: RunView) -> None:
    """Ask for the review of the run's pull request once, of everybody who put a label or gave the command. What GitHub
    refuses (they opened it, are no collaborators any more, are bots) is no failure of the run."""
    people = (await context.stores.runs.asked_by(row.id))[:_MOST]
    if view.pull is None or not people:
        return
    repo, reports = row.spec.on_github, context.stores.reports
    client = context.github.repository(repo)
    for login in people:
        target, now = f"review:{view.pull.number}:{login.lower()}", report_digest(row.id)
        published = await reports.published(repo, target)
        if published is not None and published.digest == now:
            continue
        try:
            await client.request_review(view.pull.number, login)
        except Unauthorized:
            raise  # nothing can be said until the key is right
        except (Stale, UserError) as error:
            log.info("no_review", repo=repo.full_name, pull=view.pull.number, login=login, because=str(error))
        await reports.record(repo, target, Published(github_id=None, digest=now))
