"""The routes of the pages, with what each of them shows."""

from __future__ import annotations

from starlette.routing import Route

from bot.store.database.database import Database
from bot.store.runs.overview import Overview
from bot.web.pages import sign_in
from bot.web.pages.dashboard import Health, all_runs, dashboard
from bot.web.pages.site import Site
from bot.web.pages.static_files import PREFIX


def page_routes(site: Site, database: Database, health: Health) -> list[Route]:
    """The routes of all pages, as a literal table."""
    overview = Overview(database)
    return [
        Route(f"{PREFIX}/{{name}}", site.static.serve, methods=["GET"]),
        *sign_in.routes(site),
        Route("/", site.page(dashboard(site, overview, health)), methods=["GET"]),
        Route("/runs", site.page(all_runs(site, overview)), methods=["GET"]),
    ]
