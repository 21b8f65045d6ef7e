"""The App's webhook deliveries, and asking for them again: GitHub never redelivers by itself and keeps them three days
("Handling failed webhook deliveries")."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from bot.github.answers import Form, validate_form
from bot.github.api import Api

_DELIVERIES = "/app/hook/deliveries{?per_page}"
_ATTEMPTS = "/app/hook/deliveries/{id}/attempts"


class _Delivery(Form):
    id: int
    guid: str
    delivered_at: datetime
    status: str
    redelivery: bool = False


@dataclass(frozen=True, slots=True)
class Attempt:
    """One attempt to deliver a webhook. `guid` is the same for all attempts of a delivery, of which all but the first
    are `again`; `succeeded` where the server took it."""

    id: int
    guid: str
    at: datetime
    succeeded: bool
    again: bool


class DeliveryLog:
    """A walk through the attempts since a moment (an aware time), the newest first, page by page to the last one."""

    def __init__(self, api: Api, since: datetime) -> None:
        self._api = api
        self._since = since
        self._next: str | None = None
        self.over = False
        self.newest: datetime | None = None
        """When the newest was delivered, by GitHub's clock; None before the first page and where there is none."""

    async def page(self) -> tuple[Attempt, ...]:
        """The next page. Where this raises, it may be called again: the walk goes on where it was."""
        items, following = await self._api.page(_DELIVERIES, {"per_page": 100}, self._next)
        attempts = [validate_form(_Delivery, item) for item in items]
        found = tuple(
            Attempt(one.id, one.guid, one.delivered_at, one.status == "OK", one.redelivery)
            for one in attempts
            if one.delivered_at >= self._since
        )
        if self.newest is None and found:
            self.newest = found[0].at
        # a link that leads to its own page would never end
        self.over = following is None or following == self._next or len(found) < len(items)
        self._next = following
        return found


async def redeliver(api: Api, delivery_id: int) -> None:
    """Asks GitHub to deliver it again; a second request does no harm, for the GUID stays the same."""
    await api.call("POST", _ATTEMPTS, {"id": delivery_id}, repeatable=True)
