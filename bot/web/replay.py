"""`POST /api/deliveries/{id}/replay`: a stored delivery is processed again, as a delivery with an id of its own.

The stored one stays as it is. A known id is never accepted twice, and effects have keys, so what was done already is
not done again."""

from __future__ import annotations

import uuid

from starlette.requests import Request
from starlette.responses import Response

from bot.store.database.database import now_ms
from bot.store.inbox.deliveries import Deliveries, Inbox
from bot.web.api import Endpoint, answer, not_found


def replay_id() -> str:
    """A new id for a replayed delivery, which shows what it is."""
    return f"replay-{uuid.uuid4()}"


def replay(deliveries: Deliveries, inbox: Inbox) -> Endpoint:
    """Stores the payload of a delivery again; answers 202 with the new id, and 404 for an unknown one."""

    async def endpoint(request: Request) -> Response:
        replayed = request.path_params["delivery"]
        stored = await store_again(deliveries, inbox, replayed)
        if stored is None:
            return not_found("delivery", "/api/deliveries")
        return answer({"delivery": stored, "status": "accepted", "replayOf": replayed}, 202)

    return endpoint


async def store_again(deliveries: Deliveries, inbox: Inbox, delivery_id: str) -> str | None:
    """Store the payload of a delivery once more, and return its new id; None for an unknown delivery."""
    found = await deliveries.get(delivery_id)
    if found is None:
        return None
    again = found.model_copy(update={"id": replay_id(), "received_at": now_ms()})
    await inbox.accept(again)
    return again.id
