"""What runs behind the acknowledgements shares its writes and gives way to a rush, for a while."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path
from typing import Literal

import pytest

from bot.store.database import database as databases
from bot.store.database.database import Database, Rush
from bot.store.inbox.deliveries import RUSH, Deliveries, Delivery, Inbox
from tests.machine import PATIENCE_S


def delivery(number: int) -> Delivery:
    return Delivery(id=f"guid-{number}", event="issues", payload=b"{}", received_at=number)


async def test_marks_that_overlap_are_all_written(tmp_path: Path) -> None:
    async def run() -> dict[str, tuple[str, str]]:
        database = Database(f"sqlite:///{tmp_path / 'mendbot.db'}")
        database.migrate()
        box, store = Inbox(database), Deliveries(database)
        await asyncio.gather(*(box.accept(delivery(number)) for number in range(40)))

        async def mark(number: int) -> None:
            await asyncio.sleep(number % 5 / 1000)  # so that some come while others are being written
            outcome: Literal["done", "ignored"] = "done" if number % 2 else "ignored"
            await store.mark(f"guid-{number}", outcome, f"because {number}")
            assert {row.delivery: row for row in await store.list(100)}[f"guid-{number}"].status == outcome

        await asyncio.gather(*(mark(number) for number in range(40)))
        found = {row.delivery: (row.status, row.because) for row in await store.list(100)}
        database.close()
        return found

    found = await run()
    assert found == {f"guid-{n}": ("done" if n % 2 else "ignored", f"because {n}") for n in range(40)}


async def stored_together(path: Path, count: int) -> Deliveries:
    database = Database(f"sqlite:///{path}")
    database.migrate()
    box = Inbox(database)
    await asyncio.gather(*(box.accept(delivery(number)) for number in range(count)))
    return Deliveries(database)


async def test_what_waits_is_taken_at_once_where_there_is_no_rush(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(databases, "RUSH_S", 600)  # so long a rush would be seen as a hang, on the slowest machine
    monkeypatch.setattr(databases, "GIVE_WAY_S", 600)

    store = await stored_together(tmp_path / "mendbot.db", RUSH - 1)
    assert len(await asyncio.wait_for(store.take(100), PATIENCE_S)) == RUSH - 1


async def test_what_waits_is_taken_when_a_rush_is_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(databases, "RUSH_S", 0.5)

    began = time.monotonic()
    store = await stored_together(tmp_path / "mendbot.db", RUSH)
    assert len(await store.take(100)) == RUSH
    assert time.monotonic() - began >= 0.5


async def test_a_rush_that_never_ends_holds_nothing_up_forever(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(databases, "RUSH_S", 600)
    monkeypatch.setattr(databases, "GIVE_WAY_S", 0.2)
    rush, began = Rush(), time.monotonic()
    rush.extend()
    await asyncio.wait_for(rush.wait_for_end(), PATIENCE_S)
    assert time.monotonic() - began >= 0.2
