"""The page at `/deliveries`: which webhooks came, what was decided and why, also of refused ones; and *replay*."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from starlette.responses import Response
from starlette.routing import Route

from bot.store.inbox.deliveries import Deliveries, DeliveryRow, Inbox
from bot.web.api import number
from bot.web.pages.site import Forbidden, NotFound, Site, Visit, redirect
from bot.web.replay import store_again

PAGE = 50
MAX_OFFSET = 100_000


@dataclass(frozen=True, slots=True)
class DeliveryPages:
    """Lists the deliveries to the operator: their payloads are of all repositories."""

    site: Site
    stored: Deliveries
    inbox: Inbox
    refused: Callable[[int, int], Awaitable[Sequence[DeliveryRow]]]

    def routes(self) -> list[Route]:
        site = self.site
        return [
            Route("/deliveries", site.page(self.show), methods=["GET"]),
            Route("/deliveries/{delivery}/replay", site.action(self.replay), methods=["POST"]),
        ]

    async def show(self, visit: Visit) -> Response:
        _require_operator(visit)
        query = visit.request.query_params
        offset = number(visit.request, "offset", 0, most=MAX_OFFSET)
        is_refused = query.get("refused", "0") == "1"
        is_brief = query.get("ignored", "1") == "0"
        if is_refused:
            rows = await self.refused(PAGE + 1, offset)
        else:
            rows = await self.stored.list(PAGE + 1, offset, with_ignored=not is_brief)
        values = {
            "rows": rows[:PAGE],
            "refused": is_refused,
            "brief": is_brief,
            "replayed": query.get("replayed", ""),
            "newer": max(0, offset - PAGE) if offset else None,
            "older": offset + PAGE if len(rows) > PAGE and offset + PAGE <= MAX_OFFSET else None,
        }
        return self.site.render(visit.request, "deliveries.html", visit.viewer, **values)

    async def replay(self, visit: Visit) -> Response:
        _require_operator(visit)
        stored = await store_again(self.stored, self.inbox, visit.request.path_params["delivery"])
        if stored is None:
            raise NotFound
        return redirect(f"/deliveries?replayed={stored}")


def _require_operator(visit: Visit) -> None:
    if not visit.viewer.is_operator:
        raise Forbidden
