"""The migrations make the tables of `store.database.tables`; a schema that they cannot start from is refused and
stays."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest
import sqlalchemy as sa
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext

from bot.errors import ConfigError
from bot.store.database.database import Database
from bot.store.database.tables import metadata


@pytest.fixture(params=["sqlite", "postgresql"])
def url(tmp_path: Path, request: pytest.FixtureRequest) -> str:
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'mendbot.db'}"
    return str(request.getfixturevalue("postgres_url"))


def migrate(url: str) -> None:
    database = Database(url)
    try:
        database.migrate()
    finally:
        database.close()


def test_the_migrations_make_the_tables_as_they_are_declared(url: str) -> None:
    migrate(url)
    migrate(url)
    engine = sa.create_engine(url.replace("postgresql://", "postgresql+psycopg://"))
    with engine.connect() as connection:
        assert compare_metadata(MigrationContext.configure(connection), metadata) == []
    engine.dispose()


@pytest.mark.parametrize(
    ("revision", "said"),
    [
        ("0001", r"before its first release \(schema 0001\): .* `mendbot history export`, .* `mendbot history import`"),
        ("0008", r"before its first release \(schema 0008\)"),
        ("0042", "newer version of Mendbot: update this one"),
    ],
)
def test_a_schema_that_no_migration_starts_from_is_refused_and_kept(tmp_path: Path, revision: str, said: str) -> None:
    path = tmp_path / "mendbot.db"
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE alembic_version (version_num TEXT)")
        connection.execute("INSERT INTO alembic_version VALUES (?)", [revision])
    with pytest.raises(ConfigError, match=said):
        migrate(f"sqlite:///{path}")
    assert connection.execute("SELECT name FROM sqlite_master").fetchall() == [("alembic_version",)]
    assert connection.execute("SELECT version_num FROM alembic_version").fetchall() == [(revision,)]
    connection.close()
