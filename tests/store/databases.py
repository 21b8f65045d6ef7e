"""A database on a real file for one test, and how SQLite would answer what a store asks of it."""

from __future__ import annotations

import sqlite3
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, TypeVar

import sqlalchemy as sa

from bot.store.database.database import Database

T = TypeVar("T")


async def run(where: Path, work: Callable[[Database], Awaitable[T]]) -> T:
    """Work on the database of that directory, which is opened anew as after a restart."""

    async def inside() -> T:
        database = Database(f"sqlite:///{where / 'mendbot.db'}")
        database.migrate()
        try:
            return await work(database)
        finally:
            database.close()

    return await inside()


async def together(where: Path, work: Callable[[Database, Database], Awaitable[T]]) -> T:
    """Work on two databases of the same file, as two processes do."""

    async def inside(one: Database) -> T:
        two = Database(f"sqlite:///{where / 'mendbot.db'}")
        try:
            return await work(one, two)
        finally:
            two.close()

    return await run(where, inside)


async def plans(where: Path, work: Callable[[Database], Awaitable[object]]) -> list[str]:
    """How SQLite answers each query on our tables that `work` makes, in one line each."""
    asked: list[tuple[str, Any]] = []

    def note(_connection: object, _cursor: object, statement: str, values: Any, _context: object, many: bool) -> None:
        if not many and statement.startswith(("SELECT", "UPDATE", "DELETE")):
            asked.append((statement, values))

    async def noted(database: Database) -> None:
        sa.event.listen(sa.Engine, "before_cursor_execute", note)
        try:
            await work(database)
        finally:
            sa.event.remove(sa.Engine, "before_cursor_execute", note)

    await run(where, noted)
    file = sqlite3.connect(where / "mendbot.db")
    found = []
    for statement, values in asked:
        rows = file.execute(f"EXPLAIN QUERY PLAN {statement}", values).fetchall()
        found.append("; ".join(row[3] for row in rows))
    file.close()
    return found
