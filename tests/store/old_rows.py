"""Rows of any age, written at once, and how many rows each commit changed since."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from bot.store.database.database import Database
from bot.store.database.tables import metadata

DAY = 24 * 3600 * 1000
NOW = 400 * DAY
REPO = "Octo/pocket"


def ago(days: float) -> int:
    return NOW - int(days * DAY)


def iso(days: float) -> str:
    return datetime.fromtimestamp(ago(days) / 1000, UTC).isoformat()


async def put(database: Database, **rows: list[dict[str, Any]]) -> None:
    """Rows by table, written at once; what is left out is empty, and `NOT NULL` gets something."""

    def work(connection: sa.Connection) -> None:
        for name, values in rows.items():
            table = metadata.tables[name]
            filler = {column.name: _anything(column) for column in table.columns if _wanted(column)}
            connection.execute(sa.insert(table), [{**filler, **row} for row in values])

    await database.write(work)


def _wanted(column: sa.Column[Any]) -> bool:
    return not column.nullable and column.server_default is None and column.autoincrement is not True


def _anything(column: sa.Column[Any]) -> Any:
    kinds: dict[type, Any] = {sa.LargeBinary: b"{}", sa.JSON: {}, sa.Text: "x"}
    return next((value for kind, value in kinds.items() if isinstance(column.type, kind)), 0)


def ids(where: Path, query: str) -> list[Any]:
    database = sqlite3.connect(where / "mendbot.db")
    rows = database.execute(query).fetchall()
    database.close()
    return sorted(row[0] if len(row) == 1 else row for row in rows)


@contextmanager
def commits() -> Iterator[list[int]]:
    """How many rows each commit has changed."""
    sizes: list[int] = []
    before: dict[int, int] = {}

    def note(connection: sa.Connection) -> None:
        driver = connection.connection.dbapi_connection
        total = driver.total_changes  # type: ignore[union-attr]
        sizes.append(total - before.get(id(driver), 0))
        before[id(driver)] = total

    sa.event.listen(sa.Engine, "commit", note)
    try:
        yield sizes
    finally:
        sa.event.remove(sa.Engine, "commit", note)


def whole_run(name: str, days: float, *, status: str = "success", told: bool = True, **more: Any) -> dict[str, Any]:
    ended = None if status in ("queued", "running") else ago(days)
    row = {"id": name, "repo": REPO, "status": status, "created_at": ago(days + 0.1), "ended_at": ended}
    return {**row, "version": 7, "reported": 7 if told else 6, **more}


def left_by(names: list[str], events: int = 3) -> dict[str, list[dict[str, Any]]]:
    """What runs leave: events, of which one is the error history's, and an artifact."""
    mine = [{"session_id": name, "type": "x", "ts": "t", "key": f"k{n}"} for name in names for n in range(events)]
    agents = [{"session_id": f"{name}:agent", "type": "tool_error", "ts": "t", "key": None} for name in names]
    odd = [{"session_id": name, "type": "tool_error", "ts": "t", "key": None} for name in names]
    return {
        "events": [*mine, *agents, *odd],
        "artifacts": [{"id": f"{name}.review", "session_id": name} for name in names],
    }


def on_threads(name: str, *numbers: int) -> list[dict[str, Any]]:
    return [{"repo": REPO, "issue": number, "run_id": name} for number in numbers]
