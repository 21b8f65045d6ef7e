"""What the door does not let in is listed and logged, and nobody can fill the disk or the log with it."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from bot.logs import captured_logs
from bot.store.database.database import Database
from bot.store.inbox.refused_deliveries import MAX_ROWS, RefusedDeliveries
from bot.web.rejected_requests import MAX_LINES, Rejections
from tests.machine import PATIENCE_S
from tests.web.conftest import Door, headers_for

BODY = b'{"action": "opened"}'
REFUSED = "/api/deliveries?refused=1"


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    made = Database(f"sqlite:///{tmp_path / 'mendbot.db'}")
    made.migrate()
    yield made
    made.close()


@pytest.fixture
def door(tmp_path: Path) -> Iterator[Door]:
    """One of its own: what others had refused would be listed, too."""
    with Door(tmp_path) as made:
        yield made


def test_a_wrong_signature_is_listed_with_the_remedy(door: Door) -> None:
    forged = headers_for(BODY, "guid-7", x_hub_signature_256="sha256=" + "0" * 64)
    assert door.post(BODY, forged).status == 401
    (row,) = door.get(REFUSED).json
    assert (row["delivery"], row["event"], row["status"]) == ("guid-7", "issues", "refused")
    assert "set WEBHOOK_SECRET to the App's webhook secret" in row["because"]
    assert row["received_at"] > 0
    assert door.get("/api/deliveries").json == []


def test_what_is_too_large_and_what_is_no_json_are_listed_too(door: Door) -> None:
    too_large = headers_for(BODY, "guid-1", content_length=str(26 * 1024 * 1024))
    assert door.post(BODY, too_large).status == 413
    assert door.post(b"[]", headers_for(b"[]", "guid-2")).status == 400
    assert [row["delivery"] for row in door.get(REFUSED).json] == ["guid-2", "guid-1"]


def test_what_cannot_be_stored_is_listed(door: Door) -> None:
    with sqlite3.connect(door.home / "mendbot.db") as database:
        database.execute("DROP TABLE deliveries")
    assert door.post(BODY, headers_for(BODY, "guid-3")).status == 503
    (row,) = door.get(REFUSED).json
    assert row["delivery"] == "guid-3" and "could not be stored" in row["because"]


def test_names_that_github_would_not_send_are_not_kept(door: Door) -> None:
    strange = headers_for(BODY, "x" * 500, x_github_event="<script>", x_hub_signature_256=None)
    assert door.post(BODY, strange).status == 401
    (row,) = door.get(REFUSED).json
    assert (row["delivery"], row["event"]) == ("", "")


def test_the_list_takes_the_token_and_pages_and_refuses_other_words(door: Door) -> None:
    for number in range(3):
        door.post(BODY, headers_for(BODY, f"guid-{number}", x_hub_signature_256=None))
    assert door.get(REFUSED, Authorization=None).status == 401
    assert [row["delivery"] for row in door.get(f"{REFUSED}&limit=1&offset=1").json] == ["guid-1"]
    answer = door.get("/api/deliveries?refused=yes")
    assert answer.status == 422 and answer.json["problems"][0]["field"] == "refused"


async def test_the_newest_are_kept_and_no_more_than_that(database: Database) -> None:
    async def work() -> list[str]:
        rejections = Rejections(RefusedDeliveries(database), write_s=0.0)
        for number in range(2 * MAX_ROWS):
            rejections.add(401, f"guid-{number}", "issues", "x" * 10_000)
            if number % 50 == 0:
                await asyncio.sleep(0)
        writing = rejections._writing
        assert writing is not None
        await writing
        return [row.delivery for row in await RefusedDeliveries(database).list()]

    kept = await work()
    assert kept == [f"guid-{number}" for number in reversed(range(MAX_ROWS, 2 * MAX_ROWS))]


async def test_each_refused_delivery_has_a_line_with_its_id(database: Database) -> None:
    with captured_logs() as lines:
        rejections = Rejections(RefusedDeliveries(database), write_s=3600.0)
        for number in range(3):
            rejections.add(401 + number, f"guid-{number}", "issues", "unsigned")
    seen = [(line["status"], line["delivery"], line["kind"]) for line in lines if line["event"] == "delivery_refused"]
    assert seen == [(401, "guid-0", "issues"), (402, "guid-1", "issues"), (403, "guid-2", "issues")]


async def test_a_flood_is_twenty_lines_then_one_with_the_count_and_one_write(database: Database) -> None:
    async def work() -> int:
        rejections = Rejections(RefusedDeliveries(database), log_s=0.2, write_s=3600.0)
        for number in range(1000):
            rejections.add(401, f"guid-{number}", "issues", "set WEBHOOK_SECRET to the App's webhook secret")
        async with asyncio.timeout(PATIENCE_S):
            while len(said) < MAX_LINES + 1:  # noqa: ASYNC110  # a line of the log rings no bell
                await asyncio.sleep(0.01)
        assert len(await rejections.list(1000, 0)) == MAX_ROWS
        return len(await RefusedDeliveries(database).list())

    with captured_logs() as said:
        written = await work()
    assert written <= MAX_ROWS
    assert [line.get("count", 1) for line in said] == [1] * MAX_LINES + [1000 - MAX_LINES]
    assert [line["event"] for line in said] == ["delivery_refused"] * MAX_LINES + ["deliveries_refused"]
    assert all("WEBHOOK_SECRET" in line["because"] for line in said)
