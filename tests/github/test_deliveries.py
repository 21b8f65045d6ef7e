from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from bot.errors import Transient

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
        "redelivery": False,
    }


async def test_attempts_are_listed_to_the_last_page_newest_first_and_can_be_asked_for_again(world: Any) -> None:
    world.per_page = 2
    world.deliveries = [
        *(attempt(1000 - n, f"guid-{n}", "OK" if n % 3 else "timed out", n / 100) for n in range(700)),
        attempt(4, "d", "timed out", 80),
    ]
    github = world.github(spacing_s=1.0)

    async def go() -> list[int]:
        walk, found = github.deliveries(NOW - timedelta(days=3)), []
        while not walk.over:
            found += await walk.page()
        assert walk.newest == NOW
        assert [one.guid for one in found] == [f"guid-{n}" for n in range(700)]
        lost = [one.id for one in found if not one.succeeded]
        for delivery_id in lost[:2]:
            await github.redeliver(delivery_id)
        return lost

    assert await go() == [1000 - n for n in range(0, 700, 3)]
    assert world.lines("POST") == [f"POST /app/hook/deliveries/{n}/attempts" for n in (1000, 997)]
    assert not world.tokens


async def test_a_walk_that_github_did_not_answer_goes_on_where_it_was(world: Any) -> None:
    world.per_page = 2
    world.deliveries = [attempt(100 - n, f"guid-{n}", "timed out", n / 100) for n in range(6)]
    github = world.github()

    walk = github.deliveries(NOW - timedelta(days=3))
    found = [*await walk.page(), *await walk.page()]
    world.fail("GET /app/hook/deliveries", 502, times=3)
    with pytest.raises(Transient):
        await walk.page()
    found += await walk.page()
    assert walk.over
    assert [one.guid for one in found] == [f"guid-{n}" for n in range(6)]
    assert len(world.lines("GET /app/hook/deliveries")) == 3 + 3


async def test_a_link_to_the_same_page_ends_the_walk(world: Any) -> None:
    own = '<https://api.github.com/app/hook/deliveries?cursor=1>; rel="next"'
    world.fail("GET /app/hook/deliveries", 200, [attempt(1, "a", "OK", 1)], times=9, link=own)

    walk, pages = world.github().deliveries(NOW - timedelta(days=3)), 0
    while not walk.over:
        await walk.page()
        pages += 1
    assert pages == 2
