"""The inbox keeps every delivery once, and the pump's side of it loses none."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from bot.errors import Transient
from bot.store.database.database import Database
from bot.store.inbox.deliveries import Deliveries, Delivery, Inbox
from tests.machine import PATIENCE_S
from tests.store.databases import plans


@asynccontextmanager
async def inbox(where: Path) -> AsyncIterator[tuple[Inbox, Deliveries, Database]]:
    database = Database(f"sqlite:///{where / 'mendbot.db'}")
    database.migrate()
    try:
        yield Inbox(database), Deliveries(database), database
    finally:
        database.close()


def delivery(guid: str, received_at: int = 1) -> Delivery:
    return Delivery(id=guid, event="issues", payload=b"{}", received_at=received_at)


async def test_a_hundred_copies_at_once_are_one_delivery(tmp_path: Path) -> None:
    async def run() -> list[bool]:
        async with inbox(tmp_path) as (box, store, _):
            answers = await asyncio.gather(*(box.accept(delivery("same")) for _ in range(100)))
            assert len(await store.list(10)) == 1
            return answers

    assert sum(await run()) == 1


async def test_a_known_delivery_stays_known_after_a_restart(tmp_path: Path) -> None:
    async def run() -> bool:
        async with inbox(tmp_path) as (box, _, _):
            return await box.accept(delivery("guid"))

    assert await run()
    assert not await run()


async def test_a_failed_delivery_may_come_again_and_a_done_one_may_not(tmp_path: Path) -> None:
    async def run() -> tuple[bool, bool]:
        async with inbox(tmp_path) as (box, store, _):
            for guid in ("failed", "done"):
                await box.accept(delivery(guid))
            await store.mark("failed", "failed", "GitHub was down")
            await store.mark("done", "done", "labelled")
            return await box.accept(delivery("failed")), await box.accept(delivery("done"))

    assert await run() == (True, False)


async def test_what_was_being_processed_when_the_process_died_waits_again(tmp_path: Path) -> None:
    async def run() -> tuple[int, int, list[str]]:
        async with inbox(tmp_path) as (box, store, _):
            for number in (2, 1):
                await box.accept(delivery(f"guid-{number}", received_at=number))
            first = len(await store.take(10))
            nothing = len(await store.take(10))
            await store.reopen()
            return first, nothing, [item.id for item in await store.take(10)]

    assert await run() == (2, 0, ["guid-1", "guid-2"])


async def test_one_bad_write_does_not_spoil_those_that_share_its_commit(tmp_path: Path) -> None:
    def fail(_connection: object) -> None:
        raise ValueError("mine alone")

    async def run() -> tuple[bool, object]:
        async with inbox(tmp_path) as (box, _, database):
            stored, failure = await asyncio.gather(
                box.accept(delivery("guid")), database.write(fail), return_exceptions=True
            )
            return stored is True, failure

    stored, failure = await run()
    assert stored
    assert isinstance(failure, ValueError)


async def test_a_locked_database_is_a_passing_fault_and_nothing_is_lost(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bot.store.database.engines.BUSY_TIMEOUT_MS", 50)

    async def run() -> bool:
        async with inbox(tmp_path) as (box, _, _):
            lock = sqlite3.connect(tmp_path / "mendbot.db", isolation_level=None)
            lock.execute("BEGIN IMMEDIATE")
            with pytest.raises(Transient, match="locked"):
                await box.accept(delivery("guid"))
            lock.execute("ROLLBACK")
            lock.close()
            return await box.accept(delivery("guid"))

    assert await run()


async def test_a_fault_of_ours_is_heard_by_everyone_who_waits(tmp_path: Path) -> None:
    async def run() -> list[object]:
        async with inbox(tmp_path) as (box, _, database):
            await database.write(lambda connection: connection.exec_driver_sql("DROP TABLE deliveries") and None)
            waiting = (box.accept(delivery(f"guid-{number}")) for number in range(3))
            return await asyncio.wait_for(asyncio.gather(*waiting, return_exceptions=True), PATIENCE_S)

    assert all(isinstance(answer, Exception) for answer in await run())


async def test_what_waits_is_found_by_an_index_of_its_own(tmp_path: Path) -> None:
    """Weeks of deliveries are kept, and the pump looks again with each that comes."""

    async def work(database: Database) -> None:
        inbox = Deliveries(database)
        await inbox.take(5)
        await inbox.reopen()

    found = await plans(tmp_path, work)
    assert [plan for plan in found if "INDEX deliveries_open" not in plan] == []
    assert len(found) == 2
