"""The page at `/`."""

from __future__ import annotations

from starlette.responses import Response

from bot.web.pages.site import PageEndpoint, Site, Visit


def dashboard(site: Site) -> PageEndpoint:
    """The first page after signing in."""

    async def show(visit: Visit) -> Response:
        return site.render(visit.request, "dashboard.html", visit.viewer)

    return show
