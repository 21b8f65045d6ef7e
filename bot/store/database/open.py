"""A command's way to the database beside a server that may be running on it: nothing is made or brought up by reading,
and whatever is wrong with the file is a sentence (issue 3, *Bad input*)."""

from __future__ import annotations

import sqlite3
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing
from pathlib import Path
from urllib.parse import quote

import sqlalchemy as sa

from bot.config import Settings
from bot.errors import ConfigError, MendbotError, Transient, UserError
from bot.store.database.database import Database, newest_revision, revision_of
from bot.store.database.engines import APPLICATION_ID

FILE = "mendbot.db"
"""The store's name in the home."""
_MAGIC = b"SQLite format 3\0"
_ID_AT = slice(68, 72)  # sqlite.org/fileformat.html, 1.3.13


def database_url(settings: Settings) -> str:
    """Where the store is: the operator's database, or a file in the home."""
    return settings.database_url or f"sqlite:///{settings.home / FILE}"


def application_id(path: Path) -> int | None:
    """Which program an SQLite file belongs to, APPLICATION_ID for Mendbot; None for what is no such file or a new one.

    The file stays as it is. Raises OSError where it is there and cannot be read."""
    try:
        with path.open("rb") as file:
            header = file.read(100)
    except FileNotFoundError:
        return None
    if not header.startswith(_MAGIC):
        return None
    log = path.with_name(f"{path.name}-wal")
    if not int.from_bytes(header[_ID_AT]) and log.exists() and log.stat().st_size:
        # of a server that was killed before it moved its first page there
        with closing(sqlite3.connect(f"file:{quote(str(path))}?mode=ro", uri=True)) as connection:
            return int(connection.execute("PRAGMA application_id").fetchone()[0])
    return int.from_bytes(header[_ID_AT])


@asynccontextmanager
async def reading(url: str) -> AsyncIterator[Database | None]:
    """The database at that URL, closed at the end; None where there is none, which makes none.

    An older one of ours is brought up to this version. Another process's lock is waited for as long as `Database`
    waits. Raises ConfigError or UserError for a URL that can't be used here, MendbotError for a database that can't:
    locked, corrupt, unreachable, not Mendbot's, newer, older than the first release."""
    if _is_missing(url):
        yield None
        return
    async with _opened(url) as database:
        yield database if await _is_ready(database, writes=False) else None


@asynccontextmanager
async def writing(url: str) -> AsyncIterator[Database]:
    """As `reading`, but a database that isn't there is made."""
    async with _opened(url) as database:
        await _is_ready(database, writes=True)
        yield database


@asynccontextmanager
async def _opened(url: str) -> AsyncIterator[Database]:
    database = _connected(url)
    try:
        yield database
    except Transient as error:  # a driver may say it in several lines
        raise Transient(" ".join(str(error).split())) from error
    except sa.exc.DBAPIError as error:
        said = str(error.orig).splitlines()[0]
        where = sa.make_url(url).database if database.sqlite else "MENDBOT_DATABASE_URL"
        raise MendbotError(
            f"{where}: the database cannot be used: {said}; put a backup in its place, or move it away to begin anew"
        ) from error
    finally:
        database.close()


def _is_missing(url: str) -> bool:
    try:
        parsed = sa.make_url(url)
    except sa.exc.ArgumentError:  # `Database` says it better
        return False
    if parsed.get_backend_name() != "sqlite":
        return False
    try:
        return not parsed.database or not Path(parsed.database).exists() or not Path(parsed.database).stat().st_size
    except OSError as error:
        raise MendbotError(f"{parsed.database}: the database cannot be used: {error.strerror}") from error


def _connected(url: str) -> Database:
    try:
        return Database(url)
    except ModuleNotFoundError as error:
        raise UserError(f"this database wants a driver that is not installed ({error.name}): pip install "
                        "'mendbot[postgres]', or unset MENDBOT_DATABASE_URL for SQLite") from error  # fmt: skip
    except OSError as error:
        raise MendbotError(f"{error.filename}: no database can be made there: {error.strerror}") from error


async def _is_ready(database: Database, *, writes: bool) -> bool:
    """Bring the schema up where needed; False where there is nothing to read. Raises MendbotError."""
    tables, revision = await database.read(_state)
    if revision == newest_revision():
        return True
    if not revision and "error_kb" in tables:
        raise MendbotError(
            "the database has an error_kb of another program, which only `mendbot hook pre-tool` reads: "
            "give Mendbot a database of its own by MENDBOT_HOME"
        )
    if not revision and not writes:
        return False
    if not revision and tables and database.sqlite and application_id(_file(database.url)) != APPLICATION_ID:
        raise MendbotError(
            f"{_file(database.url)} is another program's database: give Mendbot one of its own by MENDBOT_HOME"
        )
    try:
        database.migrate()
    except ConfigError as error:  # not the setting's fault, but the file's or the server's
        raise MendbotError(str(error)) from error
    return True


def _file(url: str) -> Path:
    return Path(sa.make_url(url).database or "")


def _state(connection: sa.Connection) -> tuple[frozenset[str], str]:
    return frozenset(sa.inspect(connection).get_table_names()), revision_of(connection)
