"""The database, with one writer thread that commits in groups, and readers that never wait for it.

All writes that are queued during a commit share the next commit. So many deliveries share the cost of one durable
commit (`synchronous=FULL`; see performance.md, *webhook acknowledgement*)."""

from __future__ import annotations

import asyncio
import queue
import threading
import time
from collections.abc import AsyncIterator, Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import asynccontextmanager, nullcontext
from pathlib import Path
from typing import Any, TypeVar

import sqlalchemy as sa

from bot.errors import ConfigError, Transient
from bot.reports.locale.reasons import user_error
from bot.rules.reasons import make_reason
from bot.store.database.checkpoints import Checkpointer
from bot.store.database.engines import BUSY_TIMEOUT_MS, READERS, AsyncReader, engines, parse_url, unusable
from bot.store.database.postgres import lock_for_migration, lock_for_worker
from bot.store.database.private_file import create_private

T = TypeVar("T")
Work = Callable[[sa.Connection], Any]
Query = sa.Select[Any] | sa.CompoundSelect[Any] | sa.TextClause

CLAIM_S = 15.0
"""How long a new worker waits for one that is ending."""
_CLAIM_PAUSE_S = 0.2
RUSH_S = 0.05
GIVE_WAY_S = 1.0
_GROUP = 512
_MIGRATIONS = Path(__file__).parents[1] / "migrations"


def now_ms() -> int:
    """The wall-clock time as epoch milliseconds, which is how times are stored."""
    return int(time.time() * 1000)


def _revisions() -> list[str]:
    """The schema's revisions, oldest first, from the names of the migrations' files (`vREVISION_TOPIC.py`)."""
    return sorted(path.name[1:5] for path in (_MIGRATIONS / "versions").glob("v[0-9]*.py"))


def newest_revision() -> str:
    """The revision that `migrate` upgrades a schema to."""
    return _revisions()[-1]


def revision_of(connection: sa.Connection) -> str:
    """The schema's revision; empty for a database that was never migrated."""
    if not sa.inspect(connection).has_table("alembic_version"):
        return ""
    return connection.scalar(sa.text("SELECT version_num FROM alembic_version")) or ""


def _is_current(connection: sa.Connection) -> bool:
    """Whether the schema has the newest revision. Raises ConfigError if it cannot be upgraded to it."""
    revision, known = revision_of(connection), _revisions()
    if revision > known[-1]:
        raise user_error(make_reason("database.newer"), ConfigError)
    if revision and revision not in known:
        raise user_error(make_reason("database.older", revision=revision), ConfigError)
    return revision == known[-1]


def _upgrade(connection: sa.Connection) -> None:
    # imported here, since alembic takes 10 MB of memory, which most processes never need
    from alembic import command
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(_MIGRATIONS))
    config.attributes["connection"] = connection
    command.upgrade(config, "head")


def _cause(error: sa.exc.SQLAlchemyError) -> str:
    """The driver's message, without the statement that SQLAlchemy adds."""
    return str(getattr(error, "orig", error))


class _Undone(Exception):
    """Rolls back the transaction of a group with a single work, which failed."""


class Rush:
    """The state of many deliveries arriving at once. Background work waits for its end, so that acknowledgements stay
    fast: Python runs one thread at a time. Any thread may use it."""

    def __init__(self) -> None:
        self._until = 0.0

    def extend(self) -> None:
        """Let the rush last RUSH_S from now on."""
        self._until = time.monotonic() + RUSH_S

    async def wait_for_end(self) -> None:
        """Return when the rush has ended, but after GIVE_WAY_S at the latest."""
        latest = time.monotonic() + GIVE_WAY_S
        while (wait_s := min(self._until, latest) - time.monotonic()) > 0:  # noqa: ASYNC110  # time itself is awaited
            await asyncio.sleep(wait_s)


class Database:
    """The store's connections. `write` and `read` may be awaited from any event loop; call `close` at the end.

    Raises Transient, with nothing written, for a full disk and for a locked or unreachable database. Raises ConfigError
    for a URL of another kind of database."""

    def __init__(self, url: str) -> None:
        parsed = parse_url(url)
        self.url = url
        self.sqlite = parsed.get_backend_name() == "sqlite"
        if self.sqlite:
            Path(parsed.database or "").parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        self._writer, self._reader = engines(parsed)
        self._checkpointer = Checkpointer(Path(parsed.database or "")) if self.sqlite else None
        self.rush = Rush()
        self._jobs: queue.SimpleQueue[tuple[Work, Future[Any]] | None] = queue.SimpleQueue()
        self._readers = ThreadPoolExecutor(READERS, thread_name_prefix="store-read")
        self._async_readers: dict[asyncio.AbstractEventLoop, AsyncReader] = {}
        self._claim: sa.Connection | None = None
        self._thread = threading.Thread(target=self._serve, name="store-write", daemon=True)
        self._thread.start()

    def migrate(self) -> None:
        """Upgrade the schema to the newest revision; safe to repeat. Raises ConfigError for an unusable database."""
        try:
            if self.sqlite and self._writer.url.database:
                create_private(Path(self._writer.url.database))
            with self._writer.connect() as connection:
                with connection.begin():
                    current = _is_current(connection)
                if not current and self.sqlite:
                    _upgrade(connection)
                elif not current:
                    with connection.begin():
                        lock_for_migration(connection)
                        if not _is_current(connection):  # no other process has upgraded it meanwhile
                            _upgrade(connection)
        except (sa.exc.DBAPIError, OSError) as error:
            raise user_error(unusable(self._writer.url, error), ConfigError) from error

    def claim_work(self, wait_s: float = CLAIM_S) -> None:
        """Let this process alone work on the deliveries and jobs of the database, until it ends. SQLite needs no claim,
        as one server locks its home.

        Waits so long for another process that is ending. Raises ConfigError if it goes on; safe to repeat."""
        if self.sqlite or self._claim is not None:
            return
        latest = time.monotonic() + wait_s
        connection = self._writer.connect()
        while not lock_for_worker(connection):
            if time.monotonic() >= latest:
                connection.close()
                raise user_error(make_reason("database.claimed"), ConfigError)
            time.sleep(_CLAIM_PAUSE_S)
        self._claim = connection

    async def write(self, work: Callable[[sa.Connection], T]) -> T:
        """Run `work` in a transaction of the writer; returns its result once the commit is durable."""
        future: Future[T] = Future()
        self._jobs.put((work, future))
        return await asyncio.wrap_future(future)

    async def read(self, work: Callable[[sa.Connection], T]) -> T:
        """Run `work` on a snapshot and return its result. Its changes, if any, are discarded."""
        reader = self._async_readers.get(asyncio.get_running_loop())
        try:
            if reader is not None:
                return await reader.read(work)
            return await asyncio.wrap_future(self._readers.submit(self._read, work))
        except (sa.exc.OperationalError, sa.exc.TimeoutError) as error:
            raise user_error(make_reason("database.unreadable", error=_cause(error)), Transient) from error

    def _read(self, work: Callable[[sa.Connection], T]) -> T:
        with self._reader.connect() as connection:
            return work(connection)

    @asynccontextmanager
    async def async_reads(self) -> AsyncIterator[None]:
        """Within this context, `read` on the running event loop uses separate connections, and so never waits for reads
        of other loops (docs/decisions/0108-async-reads.md)."""
        loop, reader = asyncio.get_running_loop(), AsyncReader(parse_url(self.url))
        self._async_readers[loop] = reader
        try:
            yield
        finally:
            del self._async_readers[loop]
            await reader.close()

    async def all(self, query: Query) -> Sequence[sa.Row[Any]]:
        """All rows of a query."""
        return await self.read(lambda connection: connection.execute(query).all())

    async def first(self, query: Query) -> sa.Row[Any] | None:
        """The first row of a query; None if it has no row."""
        return await self.read(lambda connection: connection.execute(query).first())

    async def column(self, query: Query) -> Sequence[Any]:
        """The first column of all rows."""
        return await self.read(lambda connection: connection.execute(query).scalars().all())

    async def value(self, query: Query) -> Any | None:
        """The first column of the first row; None if there is no row."""
        return await self.read(lambda connection: connection.execute(query).scalar())

    async def change(self, statement: sa.UpdateBase, values: Sequence[dict[str, Any]] | None = None) -> int:
        """Run one INSERT, UPDATE or DELETE in a transaction; returns how many rows it affected."""
        return await self.write(lambda connection: connection.execute(statement, values).rowcount)

    async def problem(self) -> str | None:
        """None if the database answers, else the message of its error (for the readiness endpoint)."""
        try:
            await self.first(sa.text("SELECT 1"))
        except Transient as error:
            return str(error)
        return None

    def close(self) -> None:
        """Commit the queued writes, then close all connections."""
        self._jobs.put(None)
        self._thread.join(timeout=BUSY_TIMEOUT_MS / 1000 + 5)
        self._readers.shutdown(wait=True)
        if self._checkpointer is not None:
            self._checkpointer.close()
        if self._claim is not None:
            self._claim.invalidate()  # closed, not given back to the pool: the lock ends with it
            self._claim.close()
        self._writer.dispose()
        self._reader.dispose()

    def _serve(self) -> None:
        while True:
            first = self._jobs.get()
            if first is None:
                return
            group, ended = [first], False
            while len(group) < _GROUP:
                try:
                    item = self._jobs.get_nowait()
                except queue.Empty:
                    break
                if item is None:
                    ended = True
                    break
                group.append(item)
            self._commit(group)
            if ended:
                return

    def _commit(self, group: list[tuple[Work, Future[Any]]]) -> None:
        results: list[tuple[Future[Any], Any, BaseException | None]] = []
        alone = len(group) == 1  # then the transaction itself is the savepoint
        try:
            with self._writer.begin() as connection:
                for work, future in group:
                    if not future.set_running_or_notify_cancel():
                        continue
                    try:
                        with nullcontext() if alone else connection.begin_nested():
                            results.append((future, work(connection), None))
                    except sa.exc.OperationalError:
                        raise
                    except Exception as error:  # passed to the caller; only this work is rolled back
                        results.append((future, None, error))
                        if alone:
                            raise _Undone from error
        except _Undone:
            pass
        except sa.exc.SQLAlchemyError as error:
            failure = user_error(make_reason("database.unwritable", error=_cause(error)), Transient)
            failure.__cause__ = error
            for _work, future in group:
                if not future.done() and not future.cancelled():
                    future.set_exception(failure)
            return
        if self._checkpointer is not None:
            self._checkpointer.committed()
        for future, value, problem in results:
            if problem is None:
                future.set_result(value)
            else:
                future.set_exception(problem)
