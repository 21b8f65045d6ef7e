"""The routes of the pages that look back: what the error history knows."""

from __future__ import annotations

from starlette.routing import Route

from bot.store.database.database import Database
from bot.store.history.entries import Entries
from bot.store.history.outcomes import Outcomes
from bot.store.history.remembered_runs import RememberedRuns
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
    return [Route("/history", site.page(history.show), methods=["GET"])]
