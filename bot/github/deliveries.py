"""The App's webhook deliveries: listed, and delivered again on request.

GitHub never redelivers by itself and stores deliveries for three days ("Handling failed webhook deliveries")."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from bot.github.answers import parse_model
from bot.github.api import Api
from bot.model.github_json import GitHubModel

_DELIVERIES = "/app/hook/deliveries{?per_page}"
_ATTEMPTS = "/app/hook/deliveries/{id}/attempts"


class _Delivery(GitHubModel):
    id: int
    guid: str
    delivered_at: datetime
    status: str
    redelivery: bool = False


@dataclass(frozen=True, slots=True)
class Attempt:
    """One attempt to deliver a webhook.

    `guid` is the same for all attempts of a delivery; all but the first are `again`. `succeeded`: we accepted it."""

    id: int
    guid: str
    at: datetime
    succeeded: bool
    again: bool


class DeliveryLog:
    """The attempts since an aware time, the newest first, read page by page until `over`."""

    def __init__(self, api: Api, since: datetime) -> None:
        self._api = api
        self._since = since
        self._next: str | None = None
        self.over = False
        self.newest: datetime | None = None
        """When the newest was delivered, by GitHub's clock; None before the first page and if there is none."""

    async def page(self) -> tuple[Attempt, ...]:
        """The next page. After an error it may be called again and continues at the same page."""
        items, following = await self._api.page(_DELIVERIES, {"per_page": 100}, self._next)
        deliveries = [parse_model(_Delivery, item) for item in items]
        attempts = tuple(
            Attempt(delivery.id, delivery.guid, delivery.delivered_at, delivery.status == "OK", delivery.redelivery)
            for delivery in deliveries
            if delivery.delivered_at >= self._since
        )
        if self.newest is None and attempts:
            self.newest = attempts[0].at
        # a link that leads to its own page would never end
        self.over = following is None or following == self._next or len(attempts) < len(items)
        self._next = following
        return attempts


async def redeliver(api: Api, delivery_id: int) -> None:
    """Asks GitHub to deliver it again; a second request does no harm, as the GUID stays the same."""
    await api.call("POST", _ATTEMPTS, {"id": delivery_id}, repeatable=True)
