"""What goes into a database is what it takes, and what is there already stays or changes as asked."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import pytest
import sqlalchemy as sa

from bot.model import Repo
from bot.store.database.database import Database
from bot.store.database.sql import insert_new, iso, of_thread, repo_key, sound, upsert
from bot.store.database.tables import paused_threads as table


def test_texts_and_times_are_stored_in_one_form() -> None:
    assert sound("a\0b\ud800c") == "a\ufffdb\ufffdc"
    assert (repo_key("Octo/Pocket"), repo_key(""), repo_key(None)) == ("octo/pocket", None, None)
    seoul = timezone(timedelta(hours=9))
    assert iso(datetime(2026, 11, 22, 1, 2, 3, 4567, seoul)) == "2026-11-21T16:02:03.004+00:00"
    assert iso(datetime(2026, 1, 1, tzinfo=UTC)) == "2026-01-01T00:00:00.000+00:00"


@pytest.mark.parametrize("again", [False, True])
def test_a_row_that_is_there_stays_or_takes_the_new_values(tmp_path: Path, again: bool) -> None:
    database = Database(f"sqlite:///{tmp_path / 'mendbot.db'}")
    database.migrate()
    key = {"repo": "octo/pocket", "number": 7}
    repo = Repo(owner="octo", name="pocket", installation_id=1)

    async def work() -> None:
        for name in ("ada", "bob"):
            row = {"paused_by": name, "at": 1}
            if again:
                await database.write(lambda connection, row=row: upsert(connection, table, key, row))
            else:
                await database.write(lambda connection, row=row: insert_new(connection, table, {**key, **row}))
        query = sa.select(table.c.paused_by)
        assert await database.column(query.where(of_thread(table, repo, 7))) == ["bob" if again else "ada"]
        assert await database.value(query.where(of_thread(table, repo, 8))) is None
        assert await database.change(sa.delete(table)) == 1

    try:
        asyncio.run(work())
    finally:
        database.close()
