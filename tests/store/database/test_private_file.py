"""The database is its own user's alone, whatever the directory that it lies in allows."""

from __future__ import annotations

from pathlib import Path

import sqlalchemy as sa

from bot.store.database.database import Database


async def test_a_new_database_is_readable_to_its_own_user_alone(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    database = Database(f"sqlite:///{tmp_path / 'mendbot.db'}")
    try:
        database.migrate()
        await database.write(lambda connection: connection.execute(sa.text("PRAGMA user_version")))
        modes = {path.name: path.stat().st_mode & 0o777 for path in tmp_path.iterdir()}
    finally:
        database.close()
    assert modes and set(modes.values()) == {0o600}, modes
