"""SQLAlchemy's engines for the store's URL: how a connection of ours is set up, and how a transaction begins."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any, TypeVar

import sqlalchemy as sa

from bot.errors import ConfigError
from bot.model.reasons import Reason
from bot.reports.locale.reasons import user_error
from bot.rules.reasons import make_reason
from bot.store.database.postgres import bounded

T = TypeVar("T")

APPLICATION_ID = 0x4D454E44  # "MEND": marks our file among all SQLite databases
BUSY_TIMEOUT_MS = 5000
READERS = 4
_POSTGRES_CONNECTIONS = 5


def parse_url(url: str) -> sa.URL:
    """The URL of an SQLite or Postgres database; raises ConfigError for any other text."""
    try:
        parsed = sa.make_url(url)
    except sa.exc.ArgumentError:  # its own words may quote the password
        parsed = None
    if parsed is None or parsed.get_backend_name() not in ("sqlite", "postgresql"):
        raise user_error(make_reason("database.url"), ConfigError)
    return parsed


def unusable(url: sa.URL, error: sa.exc.DBAPIError | OSError, kind: str = "database.unusable") -> Reason:
    """Why the database at that URL cannot be used. The password in it is not named."""
    where = url.database if url.get_backend_name() == "sqlite" else "MENDBOT_DATABASE_URL"
    message = error.strerror if isinstance(error, OSError) else str(error.orig).splitlines()[0]
    return make_reason(kind, where=where or "", error=message or "")


def engines(url: sa.URL) -> tuple[sa.Engine, sa.Engine]:
    """One engine that writes and one that reads; on Postgres they are the same."""
    if url.get_backend_name() != "sqlite":
        # a connection that the server has closed meanwhile is found out before it is used
        engine = sa.create_engine(bounded(url), pool_size=_POSTGRES_CONNECTIONS, pool_pre_ping=True)
        return engine, engine
    writer = sa.create_engine(url, poolclass=sa.QueuePool, pool_size=1, max_overflow=0)
    reader = sa.create_engine(url, poolclass=sa.QueuePool, pool_size=READERS, max_overflow=0)
    # a reader must write nothing, not even this: the file may be another program's, or locked by another process
    _set_up_sqlite(writer, "BEGIN IMMEDIATE", f"application_id={APPLICATION_ID}", "journal_mode=WAL")
    _set_up_sqlite(reader, "BEGIN")
    return writer, reader


class AsyncReader:
    """Reads for one event loop, on connections of its own. Call `close` on that loop at the end."""

    def __init__(self, url: sa.URL) -> None:
        # imported here, as only a server reads this way
        from sqlalchemy.ext.asyncio import create_async_engine

        if url.get_backend_name() == "sqlite":
            aiosqlite = url.set(drivername="sqlite+aiosqlite")
            self._engine = create_async_engine(aiosqlite, pool_size=READERS, max_overflow=0)
            _set_up_sqlite(self._engine.sync_engine, "BEGIN")
        else:
            self._engine = create_async_engine(bounded(url), pool_size=_POSTGRES_CONNECTIONS, pool_pre_ping=True)
        self._reads: set[asyncio.Task[Any]] = set()

    async def read(self, work: Callable[[sa.Connection], T]) -> T:
        """Run `work` on a snapshot. Who is cancelled does not wait for its end; the read itself is short and ends
        properly, as a connection that is cut off in the middle would be lost."""
        task = asyncio.create_task(self._read(work))
        self._reads.add(task)
        task.add_done_callback(self._reads.discard)
        return await asyncio.shield(task)

    async def _read(self, work: Callable[[sa.Connection], T]) -> T:
        async with self._engine.connect() as connection:
            return await connection.run_sync(work)

    async def close(self) -> None:
        """Let the reads under way end, then close the connections."""
        if self._reads:
            await asyncio.wait(self._reads)
        await self._engine.dispose()


def _set_up_sqlite(engine: sa.Engine, begin: str, *pragmas: str) -> None:
    @sa.event.listens_for(engine, "connect")
    def _on_connect(connection: Any, _record: object) -> None:
        connection.isolation_level = None  # BEGIN is ours: pysqlite's own is deferred
        cursor = connection.cursor()
        for pragma in (
            f"busy_timeout={BUSY_TIMEOUT_MS}",
            "synchronous=FULL",
            "wal_autocheckpoint=0",  # see checkpoints.py
            "foreign_keys=ON",
            *pragmas,
        ):
            cursor.execute(f"PRAGMA {pragma}")
        cursor.close()

    @sa.event.listens_for(engine, "begin")
    def _on_begin(connection: sa.Connection) -> None:
        connection.exec_driver_sql(begin)
