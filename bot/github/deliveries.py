"""The App's webhook deliveries that failed, and asking for them again: GitHub never redelivers by itself and keeps
them three days ("Handling failed webhook deliveries")."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from bot.github.answers import Form, read
from bot.github.api import Api

_DELIVERIES = "/app/hook/deliveries{?per_page}"
_ATTEMPTS = "/app/hook/deliveries/{id}/attempts"


class _Delivery(Form):
    id: int
    guid: str
    delivered_at: datetime
    status: str
    event: str = ""
    action: str | None = None


@dataclass(frozen=True, slots=True)
class FailedDelivery:
    """One delivery of which no attempt succeeded; `id` is its latest attempt's, `guid` the same for all attempts."""

    id: int
    guid: str
    event: str
    action: str | None
    delivered_at: datetime


async def failed_deliveries(api: Api, since: datetime) -> tuple[FailedDelivery, ...]:
    """What failed and was never delivered since then (an aware time), oldest first."""
    delivered: set[str] = set()
    failed: dict[str, _Delivery] = {}
    async for item in api.pages(_DELIVERIES, {"per_page": 100}):
        delivery = read(_Delivery, item)
        if delivery.delivered_at < since:
            break  # the newest come first
        if delivery.status == "OK":
            delivered.add(delivery.guid)
        else:
            failed.setdefault(delivery.guid, delivery)
    return tuple(
        FailedDelivery(d.id, d.guid, d.event, d.action, d.delivered_at)
        for d in sorted(failed.values(), key=lambda d: (d.delivered_at, d.id))
        if d.guid not in delivered
    )


async def redeliver(api: Api, delivery_id: int) -> None:
    """Asks GitHub to deliver it again; a second request does no harm, for the GUID stays the same."""
    await api.call("POST", _ATTEMPTS, {"id": delivery_id}, repeatable=True)
