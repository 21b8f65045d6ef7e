"""Opens the database for a command, while a server may be using it. Reading never creates a database.

Every problem with the file is raised as an error with a reason (issue 3, *Bad input*)."""

from __future__ import annotations

import sqlite3
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing
from pathlib import Path
from urllib.parse import quote

import sqlalchemy as sa

from bot.config import Settings
from bot.errors import ConfigError, MendbotError, Transient
from bot.reports.locale.reasons import user_error
from bot.rules.reasons import error_reason, make_reason
from bot.store.database.database import Database, newest_revision, revision_of
from bot.store.database.engines import APPLICATION_ID, unusable

FILE = "mendbot.db"
"""The name of the database file in the home directory."""
_MAGIC = b"SQLite format 3\0"
_ID_AT = slice(68, 72)  # sqlite.org/fileformat.html, 1.3.13


def database_url(settings: Settings) -> str:
    """The URL of the database: the operator's setting, or else a file in the home directory."""
    return settings.database_url or f"sqlite:///{settings.home / FILE}"


def application_id(path: Path) -> int | None:
    """The application id of an SQLite file, APPLICATION_ID for Mendbot; None if the file is missing or no SQLite file.

    The file is not changed. Raises OSError if it exists but cannot be read."""
    try:
        with path.open("rb") as file:
            header = file.read(100)
    except FileNotFoundError:
        return None
    if not header.startswith(_MAGIC):
        return None
    log = path.with_name(f"{path.name}-wal")
    if not int.from_bytes(header[_ID_AT]) and log.exists() and log.stat().st_size:
        # the server was killed before its first checkpoint, so the id is still in the log
        with closing(sqlite3.connect(f"file:{quote(str(path))}?mode=ro", uri=True)) as connection:
            return int(connection.execute("PRAGMA application_id").fetchone()[0])
    return int.from_bytes(header[_ID_AT])


@asynccontextmanager
async def reading(url: str) -> AsyncIterator[Database | None]:
    """The database at that URL, closed at the end. None if there is no database; none is created.

    An older schema of Mendbot's is upgraded. Locks of other processes are waited for as long as `Database` does.
    Raises ConfigError or UserError for a URL that cannot be used here. Raises MendbotError for an unusable database:
    locked, corrupt, unreachable, not Mendbot's, newer, or older than the first release."""
    if _is_missing(url):
        yield None
        return
    async with _opened(url) as database:
        yield database if await _is_ready(database, writes=False) else None


@asynccontextmanager
async def writing(url: str) -> AsyncIterator[Database]:
    """As `reading`, but a missing database is created."""
    async with _opened(url) as database:
        await _is_ready(database, writes=True)
        yield database


@asynccontextmanager
async def _opened(url: str) -> AsyncIterator[Database]:
    database = _connected(url)
    try:
        yield database
    except Transient as error:  # a driver's message may have several lines
        reason = error_reason(error).map_text(lambda text: " ".join(text.split()))
        raise user_error(reason, Transient) from error
    except sa.exc.DBAPIError as error:
        raise user_error(unusable(sa.make_url(url), error, "database.broken"), MendbotError) from error
    finally:
        database.close()


def _is_missing(url: str) -> bool:
    try:
        parsed = sa.make_url(url)
    except sa.exc.ArgumentError:  # `Database` raises a better error
        return False
    if parsed.get_backend_name() != "sqlite":
        return False
    try:
        return not parsed.database or not Path(parsed.database).exists() or not Path(parsed.database).stat().st_size
    except OSError as error:
        raise user_error(unusable(parsed, error), MendbotError) from error


def _connected(url: str) -> Database:
    try:
        return Database(url)
    except ModuleNotFoundError as error:
        raise user_error(make_reason("database.no_driver", name=error.name or "")) from error
    except OSError as error:
        reason = make_reason("database.not_made", where=str(error.filename), error=error.strerror or "")
        raise user_error(reason, MendbotError) from error


async def _is_ready(database: Database, *, writes: bool) -> bool:
    """Upgrade the schema if needed; returns False if there is nothing to read. Raises MendbotError."""
    tables, revision = await database.read(_state)
    if revision == newest_revision():
        return True
    if not revision and "error_kb" in tables:
        raise user_error(make_reason("database.foreign_history"), MendbotError)
    if not revision and not writes:
        return False
    if not revision and tables and database.sqlite and application_id(_file(database.url)) != APPLICATION_ID:
        raise user_error(make_reason("database.foreign", where=str(_file(database.url))), MendbotError)
    try:
        database.migrate()
    except ConfigError as error:  # the setting is right; the file or the database server has the problem
        raise user_error(error_reason(error), MendbotError) from error
    return True


def _file(url: str) -> Path:
    return Path(sa.make_url(url).database or "")


def _state(connection: sa.Connection) -> tuple[frozenset[str], str]:
    return frozenset(sa.inspect(connection).get_table_names()), revision_of(connection)
