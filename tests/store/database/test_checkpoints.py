"""The log is moved into the database behind the commits' back, and whole."""

from __future__ import annotations

import sqlite3
import time
from pathlib import Path

import pytest
import sqlalchemy as sa

from bot.store.database import checkpoints
from bot.store.database.checkpoints import Checkpointer
from bot.store.database.database import Database, newest_revision
from tests.machine import PATIENCE_S

ROWS = 400


def until(holds: object, patience_s: float = PATIENCE_S) -> None:
    assert callable(holds)
    limit = time.monotonic() + patience_s
    while not holds():
        assert time.monotonic() < limit, "it did not come to pass"
        time.sleep(0.02)


async def test_the_log_is_empty_when_the_database_has_been_quiet(tmp_path: Path) -> None:
    database = Database(f"sqlite:///{tmp_path / 'mendbot.db'}")
    try:
        database.migrate()

        def fill(connection: sa.Connection) -> None:
            connection.exec_driver_sql("CREATE TABLE big (data BLOB)")
            for _ in range(ROWS):
                connection.exec_driver_sql("INSERT INTO big VALUES (zeroblob(20000))")

        await database.write(fill)
        log_file = tmp_path / "mendbot.db-wal"
        assert log_file.stat().st_size > ROWS * 20_000  # the commit itself did not move it
        until(lambda: log_file.stat().st_size == 0)
        alone = sqlite3.connect(f"file:{tmp_path / 'mendbot.db'}?immutable=1", uri=True)
        assert alone.execute("SELECT count(*) FROM big").fetchone() == (ROWS,)
        alone.close()
    finally:
        database.close()


def test_a_reader_of_an_old_snapshot_only_delays_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checkpoints, "_AGAIN_S", 0.1)
    path = tmp_path / "plain.db"
    writer = sqlite3.connect(path, isolation_level=None)
    for pragma in ("journal_mode=WAL", "wal_autocheckpoint=0"):
        writer.execute(f"PRAGMA {pragma}")
    writer.execute("CREATE TABLE t (n)")
    reader = sqlite3.connect(path, isolation_level=None)
    reader.execute("BEGIN")
    assert reader.execute("SELECT count(*) FROM t").fetchone() == (0,)
    mover = Checkpointer(path)
    log_file = tmp_path / "plain.db-wal"
    try:
        writer.execute("INSERT INTO t VALUES (1)")
        mover.committed()
        time.sleep(checkpoints.QUIET_S + 0.5)
        assert log_file.stat().st_size > 0
        reader.execute("COMMIT")
        until(lambda: log_file.stat().st_size == 0)
    finally:
        mover.close()
        reader.close()
        writer.close()


def test_a_schema_that_is_current_is_recognised_without_the_migration_tool() -> None:
    from alembic.config import Config
    from alembic.script import ScriptDirectory

    config = Config()
    config.set_main_option("script_location", str(Path(checkpoints.__file__).parents[1] / "migrations"))
    assert ScriptDirectory.from_config(config).get_current_head() == newest_revision()
