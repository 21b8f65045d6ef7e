"""On Postgres too the store keeps what it is given, waits for nothing without end, and is migrated once."""

from __future__ import annotations

import socket
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

import pytest
import sqlalchemy as sa

from bot.errors import ConfigError, Transient
from bot.store.database import postgres as limits
from bot.store.database.database import Database, newest_revision, now_ms
from bot.store.inbox.deliveries import Deliveries, Delivery, Inbox
from bot.store.runs.runs import Runs
from tests.store.old_rows import put, whole_run

T = TypeVar("T")


@pytest.fixture
def url(postgres_url: str) -> str:
    return postgres_url


async def on(url: str, work: Callable[[Database], Awaitable[T]]) -> T:
    async def inside() -> T:
        database = Database(url)
        try:
            return await work(database)
        finally:
            database.close()

    return await inside()


def migrated(url: str) -> str | None:
    database = Database(url)
    try:
        database.migrate()
    except ConfigError as error:
        return str(error)
    finally:
        database.close()
    return None


async def test_of_many_that_start_at_once_one_migrates(url: str) -> None:
    with ThreadPoolExecutor(6) as pool:
        assert list(pool.map(migrated, [url] * 6)) == [None] * 6

    async def work(database: Database) -> list[str]:
        query = sa.text("SELECT version_num FROM alembic_version")
        return await database.read(lambda connection: list(connection.scalars(query)))

    assert await on(url, work) == [newest_revision()]


async def test_the_store_works_and_finds_by_its_indexes(url: str) -> None:
    assert migrated(url) is None

    async def work(database: Database) -> tuple[bool, bool, int, tuple[str, ...], set[str]]:
        inbox, delivery = Inbox(database), Delivery(id="a", event="ping", payload=b"{}", received_at=now_ms())
        first, second = await inbox.accept(delivery), await inbox.accept(delivery)
        taken = await Deliveries(database).take(5)
        await put(database, runs=[whole_run("told", 2), whole_run("untold", 1, told=False)])
        query = sa.text("SELECT indexname FROM pg_indexes WHERE tablename IN ('runs', 'deliveries')")
        indexes = await database.read(lambda connection: set(connection.scalars(query)))
        return first, second, len(taken), await Runs(database).unreported(), indexes

    first, second, taken, untold, indexes = await on(url, work)
    assert (first, second, taken, untold) == (True, False, 1, ("untold",))
    assert {"runs_untold", "deliveries_open"} <= indexes


async def test_every_wait_has_a_limit_which_the_url_may_set_otherwise(url: str) -> None:
    async def limit(database: Database) -> list[str]:
        names = ("statement_timeout", "lock_timeout", "idle_in_transaction_session_timeout")
        return [
            str(await database.read(lambda connection, name=name: connection.scalar(sa.text(f"SHOW {name}"))))  # type: ignore[misc]
            for name in names
        ]

    assert await on(url, limit) == ["30s", "10s", "1min"]
    assert await on(f"{url}?options=-c%20statement_timeout%3D7s", limit) == ["7s", "10s", "1min"]
    query = limits.bounded(sa.make_url(f"{url}?keepalives_idle=5")).query
    assert (query["keepalives_idle"], query["tcp_user_timeout"], query["connect_timeout"]) == ("5", "60000", "10")


async def test_a_statement_and_a_lock_that_take_too_long_are_given_up_and_tried_again_later(url: str) -> None:
    async def slow(database: Database) -> None:
        await database.write(lambda connection: connection.execute(sa.text("SELECT pg_sleep(3600)")) and None)

    with pytest.raises(Transient, match="statement timeout"):
        await on(f"{url}?options=-c%20statement_timeout%3D200ms", slow)
    assert migrated(url) is None
    holder = sa.create_engine(url.replace("://", "+psycopg://"))
    with holder.begin() as connection:
        connection.exec_driver_sql("LOCK TABLE runs")

        async def wait(database: Database) -> None:
            await put(database, runs=[whole_run("one", 1)])

        with pytest.raises(Transient, match="lock timeout"):
            await on(f"{url}?options=-c%20lock_timeout%3D200ms", wait)
    holder.dispose()


async def test_a_server_that_takes_the_connection_and_says_nothing_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(limits._LIBPQ, "connect_timeout", "2")
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"postgresql://me@127.0.0.1:{silent.getsockname()[1]}/x"
        problem = await on(url, lambda database: database.problem())
    assert problem is not None and "timeout" in problem


def test_one_process_works_on_a_database_and_the_next_one_after_it(url: str) -> None:
    first, second = Database(url), Database(url)
    try:
        first.claim_work()
        first.claim_work()
        with pytest.raises(ConfigError, match="--role receiver"):
            second.claim_work(wait_s=0)
        first.close()
        second.claim_work()
    finally:
        second.close()
