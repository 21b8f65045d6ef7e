"""Deliveries to store for the pump."""

from __future__ import annotations

import asyncio
import json
from typing import Any

from bot.store.database.database import now_ms
from bot.store.inbox.deliveries import Delivery, DeliveryRow, Inbox
from bot.workflows.deliveries.process_deliveries import DeliveryProcessor
from tests.machine import PATIENCE_S
from tests.workflows.conftest import NAME, Harness

NOON = "2026-11-21T12:00:00Z"


async def deliver(at: Harness, *sent: tuple[str, bytes | str]) -> list[DeliveryRow]:
    """Store these, let the pump do them, and return their rows, in the order given."""
    inbox = Inbox(at.database)
    first = len(await at.context.stores.deliveries.list(1000))
    ids = [f"guid-{first + number}" for number in range(len(sent))]
    at_once = now_ms()
    for number, (event, payload) in enumerate(sent):
        body = payload if isinstance(payload, bytes) else payload.encode()
        await inbox.accept(Delivery(id=ids[number], event=event, payload=body, received_at=at_once + number))
    loop = asyncio.create_task(DeliveryProcessor(at.context).run())
    try:
        async with asyncio.timeout(PATIENCE_S):
            while True:
                rows = {row.delivery: row for row in await at.context.stores.deliveries.list(1000)}
                if all(rows[one].status not in ("accepted", "processing") for one in ids):
                    return [rows[one] for one in ids]
                await asyncio.sleep(0.02)
    finally:
        loop.cancel()


def event(at: Harness, action: str, number: int, **more: Any) -> tuple[str, str]:
    """An issues event made by hand, for what the stand-in's people cannot do in that order."""
    view = at.github.world.issue(NAME, number)
    body = {
        "action": action,
        "issue": {
            "number": number, "title": view.title, "body": view.body, "state": view.state,
            "labels": [{"name": label} for label in view.labels], "user": {"login": "ada"},
            "updated_at": more.pop("when", NOON),
        },
        "label": {"name": "auto-fix"},
        "repository": {"full_name": NAME},
        "sender": {"login": "ada", "type": "User"},
        "installation": {"id": at.repo.installation_id},
    }  # fmt: skip
    return "issues", json.dumps({**body, **more})
