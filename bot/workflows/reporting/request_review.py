"""Requests a review of a fix from the people who asked for it: GitHub notifies them of that, but not of an edited
comment."""

from __future__ import annotations

from bot.errors import Stale, UserError
from bot.github.answers import Unauthorized
from bot.logs import get_logger
from bot.model import RunView
from bot.store.runs.reported import Published
from bot.store.runs.runs import RunRow
from bot.workflows.context import Context
from bot.workflows.reporting.publisher import report_digest

_MAX_REVIEWERS = 15
"""People of one group who are asked; GitHub allows 15 reviewers of a pull request."""

log = get_logger()


async def ask_review(context: Context, row: RunRow, view: RunView) -> None:
    """Request a review of the run's pull request once from everybody who added the label or gave the command. A refusal
    (they opened it, are no collaborators any more, are bots) does not fail the run."""
    people = (await context.stores.runs.asked_by(row.id))[:_MAX_REVIEWERS]
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
            raise  # nothing can be published until the key is corrected
        except (Stale, UserError) as error:
            log.info("no_review", repo=repo.full_name, pull=view.pull.number, login=login, because=str(error))
        await reports.record(repo, target, Published(github_id=None, digest=now))
