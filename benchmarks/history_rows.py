"""A bot's database with as many resolved errors as wanted: one file that everybody stumbles over, many that few do.
Rows are written past `store.history.history`, which is meant for one error at a time, in the shape that it gives
them."""

from __future__ import annotations

import json
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from bot.store.database.database import Database

HOT, RARE, MISSING, SESSION = "index.ts", "rare.ts", "nowhere.ts", "session-7"
RARE_ID = 2
_HOT_EVERY = 100
_NAMES = 50_000
_RESOLUTION = json.dumps(
    {"resolvedBy": "mendbot", "tool": "fixers", "toolSequence": ["Read", "Edit", "Bash"], "diffHash": "0" * 64}
)


def error(number: int) -> str:
    """The normalised text of that row."""
    return f"<PATH>/{file_name(number)}(<POS>): error TS{2000 + number % 700}: Property 'p{number}' does not exist"


def file_name(number: int) -> str:
    if number == RARE_ID:
        return RARE
    return HOT if number % _HOT_EVERY == 0 else f"module{number * 7919 % _NAMES}.ts"


@contextmanager
def filled(rows: int) -> Iterator[Path]:
    """The home of a bot that knows so many errors, gone afterwards."""
    with tempfile.TemporaryDirectory(prefix="mendbot-bench-") as where:
        home = Path(where)
        database = Database(f"sqlite:///{home / 'mendbot.db'}")
        database.migrate()
        database.close()
        _fill(home / "mendbot.db", rows)
        yield home


def _fill(path: Path, rows: int) -> None:
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("PRAGMA synchronous=OFF")
    connection.execute("PRAGMA cache_size=-200000")
    connection.execute("BEGIN")
    connection.executemany(
        "INSERT INTO error_kb (id, ts, error_normalized, resolution, resolved_by, last_used, loose_key) "
        f"VALUES (?1, ?3, ?2, '{_RESOLUTION}', 'mendbot', ?3, ?4)",
        ((n, error(n), _time(n), f"{error(n).partition(' Property')[0]} <STR>") for n in range(1, rows + 1)),
    )
    connection.executemany(
        "INSERT INTO error_files (kb_id, file_name, last_used) VALUES (?, ?, ?)",
        ((n, file_name(n), _time(n)) for n in range(1, rows + 1)),
    )
    connection.executemany(
        "INSERT INTO events (type, ts, session_id, data) VALUES ('tool_error', ?, ?, ?)",
        ((_time(n), f"session-{n % 100}", _data(n)) for n in range(1, rows // 10 + 1)),
    )
    connection.execute("COMMIT")
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    connection.close()


def _time(number: int) -> str:
    return f"2026-{number % 12 + 1:02}-{number % 28 + 1:02}T{number % 24:02}:00:00.{number % 1000:03}+00:00"


def _data(number: int) -> str:
    return json.dumps({"tool": "Bash", "error": error(number)})
