"""Reads of the web's event loop have connections of their own: they wait for no writer and for no other loop."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import sqlalchemy as sa

from bot.errors import ConfigError, Transient
from bot.store.database.database import Database
from bot.store.database.engines import READERS, parse_url
from tests.machine import PATIENCE_S

ONE = sa.text("SELECT 1")
DELIVERIES = sa.text("SELECT count(*) FROM deliveries")
STORED = sa.text("INSERT INTO deliveries (id, event, status, received_at, payload) VALUES ('a', 'push', 'done', 1, '')")
AT_ONCE = 3 * READERS


@pytest.fixture(params=["sqlite", "postgresql"])
def database(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Database]:
    is_sqlite = request.param == "sqlite"
    url = f"sqlite:///{tmp_path / 'mendbot.db'}" if is_sqlite else request.getfixturevalue("postgres_url")
    database = Database(url)
    database.migrate()
    yield database
    database.close()


@contextmanager
def held_back() -> Iterator[tuple[threading.Event, threading.Event]]:
    """Whether somebody waits, and what lets him go on; he is let go in any case."""
    reached, go_on = threading.Event(), threading.Event()
    try:
        yield reached, go_on
    finally:
        go_on.set()


async def count(database: Database) -> int:
    async with asyncio.timeout(PATIENCE_S):
        return await database.read(lambda connection: connection.scalar(DELIVERIES) or 0)


async def test_a_read_answers_while_a_writer_holds_its_transaction(database: Database) -> None:
    with held_back() as (reached, go_on):

        def write(connection: sa.Connection) -> None:
            connection.execute(STORED)
            reached.set()
            go_on.wait(PATIENCE_S)

        async with database.async_reads():
            writing = asyncio.create_task(database.write(write))
            assert await asyncio.to_thread(reached.wait, PATIENCE_S)
            found = await asyncio.gather(*(count(database) for _ in range(AT_ONCE)))
            assert (set(found), writing.done()) == ({0}, False)
            go_on.set()
            await writing
            assert await count(database) == 1


async def test_it_answers_while_the_reads_of_another_loop_take_every_thread(database: Database) -> None:
    async def others(reached: threading.Barrier, go_on: threading.Event) -> None:
        def read(connection: sa.Connection) -> None:
            connection.execute(ONE)
            reached.wait(PATIENCE_S)
            go_on.wait(PATIENCE_S)

        await asyncio.gather(*(database.read(read) for _ in range(READERS)))

    async def work() -> None:
        with held_back() as (_, go_on):
            reached = threading.Barrier(READERS + 1)
            thread = threading.Thread(target=lambda: asyncio.run(others(reached, go_on)))
            thread.start()
            await asyncio.to_thread(reached.wait, PATIENCE_S)
            async with database.async_reads():
                assert await count(database) == 0
            go_on.set()
            await asyncio.to_thread(thread.join)

    await work()


async def test_a_read_whose_caller_goes_away_ends_properly(database: Database) -> None:
    ended: list[int] = []
    before = asyncio.all_tasks()

    def read(connection: sa.Connection) -> None:
        connection.execute(ONE)
        ended.append(connection.scalar(DELIVERIES))

    async with database.async_reads():
        for delay in (0.0, 0.001) * READERS:
            cut = asyncio.create_task(database.read(read))
            await asyncio.sleep(delay)
            cut.cancel()
            await asyncio.wait([cut])
            assert cut.cancelled() or delay
        assert await asyncio.gather(*(count(database) for _ in range(AT_ONCE))) == [0] * AT_ONCE
    # nothing goes on behind the end: a thread that is still at work would find its loop closed
    assert asyncio.all_tasks() == before
    assert ended == [0] * (2 * READERS)


async def test_what_a_read_writes_is_lost_and_what_it_raises_is_raised(database: Database) -> None:
    async with database.async_reads():
        await database.read(lambda connection: connection.execute(STORED) and None)
        assert await count(database) == 0
        with pytest.raises(ZeroDivisionError):
            await database.read(lambda _: 1 // 0)
    assert await count(database) == 0  # by a thread again


async def test_a_database_that_cannot_be_read_is_transient(tmp_path: Path) -> None:
    database = Database(f"sqlite:///{tmp_path / 'there' / 'mendbot.db'}")
    (tmp_path / "there").rmdir()
    try:
        async with database.async_reads():
            with pytest.raises(Transient, match="cannot be read: unable to open database file"):
                await count(database)
    finally:
        database.close()


@pytest.mark.parametrize("url", ["", "mysql://h/n", "postgresql//h", "http://u:secret@h"])
def test_another_url_is_refused_without_its_password(url: str) -> None:
    with pytest.raises(ConfigError, match="MENDBOT_DATABASE_URL must be like") as refused:
        parse_url(url)
    assert "secret" not in str(refused.value)
