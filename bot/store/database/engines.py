"""SQLAlchemy engines for the store's URL: the settings of a connection, and the beginning of a transaction."""

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

APPLICATION_ID = 0x4D454E44  # "MEND": identifies an SQLite file as Mendbot's
BUSY_TIMEOUT_MS = 5000
READERS = 4
_POSTGRES_CONNECTIONS = 5


def parse_url(url: str) -> sa.URL:
    """The URL of an SQLite or Postgres database; raises ConfigError for any other text."""
    try:
        parsed = sa.make_url(url)
    except sa.exc.ArgumentError:  # its message is not shown, since it may quote the password
        parsed = None
    if parsed is None or parsed.get_backend_name() not in ("sqlite", "postgresql"):
        raise user_error(make_reason("database.url"), ConfigError)
    return parsed


def unusable(url: sa.URL, error: sa.exc.DBAPIError | OSError, kind: str = "database.unusable") -> Reason:
    """The reason why the database at that URL cannot be used, without the URL's password."""
    where = url.database if url.get_backend_name() == "sqlite" else "MENDBOT_DATABASE_URL"
    message = error.strerror if isinstance(error, OSError) else str(error.orig).splitlines()[0]
    return make_reason(kind, where=where or "", error=message or "")


def engines(url: sa.URL) -> tuple[sa.Engine, sa.Engine]:
    """The engine for writes and the engine for reads; on Postgres one engine does both."""
    if url.get_backend_name() != "sqlite":
        # pool_pre_ping finds connections that the server has closed before they are used
        engine = sa.create_engine(bounded(url), pool_size=_POSTGRES_CONNECTIONS, pool_pre_ping=True)
        return engine, engine
    writer = sa.create_engine(url, poolclass=sa.QueuePool, pool_size=1, max_overflow=0)
    reader = sa.create_engine(url, poolclass=sa.QueuePool, pool_size=READERS, max_overflow=0)
    # these two pragmas write, which a reader must not: the file may be another program's, or locked by another process
    _set_up_sqlite(writer, "BEGIN IMMEDIATE", f"application_id={APPLICATION_ID}", "journal_mode=WAL")
    _set_up_sqlite(reader, "BEGIN")
    return writer, reader


class AsyncReader:
    """Reads for one event loop, on separate connections. Call `close` on that loop at the end."""

    def __init__(self, url: sa.URL) -> None:
        # imported here, since only a server needs it
        from sqlalchemy.ext.asyncio import create_async_engine

        if url.get_backend_name() == "sqlite":
            aiosqlite = url.set(drivername="sqlite+aiosqlite")
            self._engine = create_async_engine(aiosqlite, pool_size=READERS, max_overflow=0)
            _set_up_sqlite(self._engine.sync_engine, "BEGIN")
        else:
            self._engine = create_async_engine(bounded(url), pool_size=_POSTGRES_CONNECTIONS, pool_pre_ping=True)
        self._reads: set[asyncio.Task[Any]] = set()

    async def read(self, work: Callable[[sa.Connection], T]) -> T:
        """Run `work` on a snapshot and return its result. A caller that is cancelled returns at once, but the read runs
        to its end: its connection would be lost otherwise."""
        task = asyncio.create_task(self._read(work))
        self._reads.add(task)
        task.add_done_callback(self._reads.discard)
        return await asyncio.shield(task)

    async def _read(self, work: Callable[[sa.Connection], T]) -> T:
        async with self._engine.connect() as connection:
            return await connection.run_sync(work)

    async def close(self) -> None:
        """Wait for the running reads, then close the connections."""
        if self._reads:
            await asyncio.wait(self._reads)
        await self._engine.dispose()


def _set_up_sqlite(engine: sa.Engine, begin: str, *pragmas: str) -> None:
    @sa.event.listens_for(engine, "connect")
    def _on_connect(connection: Any, _record: object) -> None:
        connection.isolation_level = None  # disables pysqlite's own BEGIN, which is deferred; see _on_begin
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
