"""The benchmarks of the hook and of lookups run end to end on a small history; each checks what it was answered."""

from __future__ import annotations

import math

from benchmarks import history_rows, hook, lookup
from bot.store.database.database import Database
from bot.store.history.history import History


def test_the_hook_is_measured_with_each_kind_of_request() -> None:
    result = hook.measure(hook.Size(rows=200, rounds=1, node=False))
    assert all(math.isfinite(row.value) and row.value > 0 for row in result.rows)
    assert sum(row.goal is not None for row in result.rows) == 4


def test_lookups_are_measured_beside_both_references() -> None:
    result = lookup.measure(lookup.Size(rows=200, rounds=1, queries=2))
    assert all(math.isfinite(row.value) and row.value > 0 for row in result.rows)
    assert sum("LIKE" in row.what for row in result.rows) == 3


async def test_the_rows_are_what_the_history_would_have_written() -> None:
    with history_rows.filled(200) as home:
        database = Database(f"sqlite:///{home / 'mendbot.db'}")
        try:
            history = History(database)
            (found,) = await history.by_file(history_rows.RARE)
            again = await history.by_error(history_rows.error(history_rows.RARE_ID))
            assert found == again
            assert await history.adopt() == 0
        finally:
            database.close()
