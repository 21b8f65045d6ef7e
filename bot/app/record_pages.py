"""The routes of the pages that look back: the error history and the groups of issues."""

from __future__ import annotations

from starlette.routing import Route

from bot.store.database.database import Database
from bot.store.history.entries import Entries
from bot.store.history.outcomes import Outcomes
from bot.store.history.remembered_runs import RememberedRuns
from bot.store.inbox.candidates import Candidates
from bot.store.runs.runs import Runs
from bot.web.pages.groups_page import GroupsPage
from bot.web.pages.history_page import HistoryPage
from bot.web.pages.site import Site


def record_routes(site: Site, database: Database, github_url: str) -> list[Route]:
    """The routes of these pages, as a literal table."""
    history = HistoryPage(
        site=site,
        entries=Entries(database),
        outcomes=Outcomes(database),
        remembered=RememberedRuns(database),
        github_url=github_url.rstrip("/"),
    )
    groups = GroupsPage(site, Runs(database), Candidates(database), github_url.rstrip("/"))
    return [
        Route("/history", site.page(history.show), methods=["GET"]),
        Route("/groups", site.page(groups.show), methods=["GET"]),
    ]
