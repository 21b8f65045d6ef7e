"""Helpers of all stores: the forms in which values are stored, and INSERT statements for both databases."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import sqlalchemy as sa

from bot.model import Repo

if TYPE_CHECKING:
    from sqlalchemy.dialects import postgresql, sqlite

MAX_NAME = 200
"""The maximal length of a stored name, such as a login, a tool or a repository."""
_UNSTORABLE = re.compile("[\0\ud800-\udfff]")


def iso(when: datetime) -> str:
    """The time as ISO 8601 in UTC with milliseconds, so that the texts sort by time."""
    return when.astimezone(UTC).isoformat(timespec="milliseconds")


def iso_now() -> str:
    """The present time in the form of `iso`."""
    return iso(datetime.now(UTC))


def sound(text: str) -> str:
    """The text with U+FFFD in place of characters that a database refuses: lone surrogates, and NUL in Postgres."""
    return _UNSTORABLE.sub("\ufffd", text)


def repo_key(repo: str | None) -> str | None:
    """The key of a repository: OWNER/NAME in lower case, since GitHub ignores case. None if there is no repository."""
    return sound(repo)[:MAX_NAME].lower() if repo else None


def visible_in(
    column: sa.ColumnElement[str] | sa.Column[str], repo: str, visible: Collection[str] | None
) -> list[sa.ColumnElement[bool]]:
    """The conditions for the rows of one repository, or of all if it is empty, which a viewer may see.

    `visible` are the repositories that the viewer can read, None stands for all; case is ignored."""
    key = sa.func.lower(column)
    conditions = [key == repo_key(repo)] if repo else []
    return conditions if visible is None else [*conditions, key.in_([repo_key(name) for name in visible])]


def insert(connection: sa.Connection, table: sa.Table) -> sqlite.Insert | postgresql.Insert:
    """An INSERT of the connection's dialect, which supports ON CONFLICT clauses."""
    # imported here, since each module is large and a process needs only one of them
    if connection.dialect.name == "sqlite":
        from sqlalchemy.dialects.sqlite import insert as sqlite_insert

        return sqlite_insert(table)
    from sqlalchemy.dialects.postgresql import insert as postgresql_insert

    return postgresql_insert(table)


def insert_new(connection: sa.Connection, table: sa.Table, row: Mapping[str, object]) -> None:
    """Insert the row. An existing row with the same key is not changed."""
    connection.execute(insert(connection, table).values(row).on_conflict_do_nothing())


def upsert(connection: sa.Connection, table: sa.Table, key: Mapping[str, object], values: Mapping[str, object]) -> None:
    """Insert a row with this key and these values, or update the values of the existing row with this key."""
    query = insert(connection, table).values({**key, **values})
    connection.execute(query.on_conflict_do_update(index_elements=list(key), set_=dict(values)))


def of_thread(table: sa.Table, repo: Repo, number: int) -> sa.ColumnElement[bool]:
    """The condition for the rows of an issue or a pull request."""
    return (table.c.repo == repo.full_name) & (table.c.number == number)
