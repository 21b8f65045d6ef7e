from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta
from typing import Any

NOW = datetime(2026, 8, 1, 12, tzinfo=UTC)


def attempt(number: int, guid: str, status: str, hours_ago: float) -> dict[str, Any]:
    at = NOW - timedelta(hours=hours_ago)
    return {
        "id": number,
        "guid": guid,
        "delivered_at": at.strftime("%Y-%m-%dT%H:%M:%SZ"),
        "status": status,
        "status_code": 200 if status == "OK" else 502,
        "event": "issues",
        "action": "labeled",
    }


def test_only_what_never_arrived_is_listed_oldest_first_and_can_be_asked_for_again(world: Any) -> None:
    world.per_page = 2
    world.deliveries = [
        attempt(9, "a", "OK", 1),
        attempt(8, "b", "Service Unavailable", 2),
        attempt(7, "a", "timed out", 3),
        attempt(6, "c", "failed to connect to host", 4),
        attempt(5, "b", "timed out", 5),
        attempt(4, "d", "timed out", 80),
    ]
    github = world.github(spacing_s=1.0)

    async def go() -> None:
        failed = await github.failed_deliveries(NOW - timedelta(days=3))
        assert [(f.id, f.guid) for f in failed] == [(6, "c"), (8, "b")]
        for delivery in failed:
            await github.redeliver(delivery.id)

    asyncio.run(go())
    assert world.lines("POST") == [f"POST /app/hook/deliveries/{n}/attempts" for n in (6, 8)]
    assert not world.tokens
