"""What all stores share beside the tables: the forms in which values are stored, and the dialect's INSERT."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import sqlalchemy as sa

from bot.model import Repo

if TYPE_CHECKING:
    from sqlalchemy.dialects import postgresql, sqlite

MAX_NAME = 200
"""Characters of a login, a tool, a repository: of whatever is no prose."""
_UNSTORABLE = re.compile("[\0\ud800-\udfff]")


def iso(when: datetime) -> str:
    """ISO 8601 in UTC to the millisecond, so that text sorts as time does."""
    return when.astimezone(UTC).isoformat(timespec="milliseconds")


def iso_now() -> str:
    return iso(datetime.now(UTC))


def sound(text: str) -> str:
    """The text with U+FFFD for what no database takes: lone surrogates, and the NUL that Postgres refuses."""
    return _UNSTORABLE.sub("\ufffd", text)


def repo_key(repo: str | None) -> str | None:
    """What distinguishes repositories: OWNER/NAME in lower case, as GitHub ignores case; None for none."""
    return sound(repo)[:MAX_NAME].lower() if repo else None


def insert(connection: sa.Connection, table: sa.Table) -> sqlite.Insert | postgresql.Insert:
    """An INSERT with the dialect's clauses for a conflict."""
    # imported here, as each of them is large and a process needs one
    if connection.dialect.name == "sqlite":
        from sqlalchemy.dialects.sqlite import insert as sqlite_insert

        return sqlite_insert(table)
    from sqlalchemy.dialects.postgresql import insert as postgresql_insert

    return postgresql_insert(table)


def insert_new(connection: sa.Connection, table: sa.Table, row: Mapping[str, object]) -> None:
    """Insert the row; one with its key that is there already stays as it is."""
    connection.execute(insert(connection, table).values(row).on_conflict_do_nothing())


def upsert(connection: sa.Connection, table: sa.Table, key: Mapping[str, object], values: Mapping[str, object]) -> None:
    """Insert the row `key` with these values, or give them to the one that is there."""
    query = insert(connection, table).values({**key, **values})
    connection.execute(query.on_conflict_do_update(index_elements=list(key), set_=dict(values)))


def of_thread(table: sa.Table, repo: Repo, number: int) -> sa.ColumnElement[bool]:
    """The rows of an issue or a pull request."""
    return (table.c.repo == repo.full_name) & (table.c.number == number)
