"""*Error lookup by file*: the hook's own SQL on a large history, for a file of many errors, of one, of none.
Beside it the two ways of searching text without a side table: the seed's LIKE and a trigram index."""

from __future__ import annotations

import json
import sqlite3
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from benchmarks.history_rows import HOT, MISSING, RARE, RARE_ID, error, filled
from benchmarks.result import Result, Row
from bot.agent import hook

FILES: Mapping[str, str] = {"hot": HOT, "rare": RARE, "missing": MISSING}
_TRIGRAM = """
SELECT k.error_normalized, k.resolution FROM trigrams t JOIN error_kb k ON k.id = t.rowid
WHERE t.error_normalized LIKE ? AND k.resolution IS NOT NULL ORDER BY k.last_used DESC LIMIT 2
"""
_COLD = """
import json, sqlite3, sys, time
queries = json.loads(sys.argv[2])
began = time.perf_counter()
connection = sqlite3.connect("file:" + sys.argv[1] + "?mode=ro", uri=True)
for query in queries:
    connection.execute(query, sys.argv[3:]).fetchall()
print((time.perf_counter() - began) * 1000)
"""


@dataclass(frozen=True, slots=True)
class Size:
    """`queries` of ours a round; the references, being slow, are asked once a round. `trigram` builds that index."""

    rows: int = 1_000_000
    rounds: int = 5
    queries: int = 500
    trigram: bool = True


def measure(size: Size) -> Result:
    """Time each query alone, in one process whose page cache is warm, and the first one of a fresh process."""
    times: dict[str, list[float]] = {}
    with filled(size.rows) as home:
        path = home / "mendbot.db"
        megabytes = path.stat().st_size / 1e6
        connection = sqlite3.connect(path, isolation_level=None)
        trigram = size.trigram and _index_trigrams(connection)
        for _ in range(size.rounds):
            for what, name in FILES.items():
                values = (name, f"%{name}%")
                expected = {"hot": 2, "rare": 1, "missing": 0}[what]
                ours = [_timed(connection, hook.BY_FILE[0], values, expected) for _ in range(size.queries)]
                times.setdefault(what, []).append(median(ours))
                times.setdefault(f"like {what}", []).append(_timed(connection, hook.BY_FILE[-1], values, expected))
                if trigram:
                    times.setdefault(f"trigram {what}", []).append(
                        _timed(connection, (_TRIGRAM,), (values[1],), expected)
                    )
                times.setdefault("cold", []).append(_cold(path, values))
            exact = [_timed(connection, (hook.BY_TEXT,), (error(RARE_ID),), 1) for _ in range(size.queries)]
            times.setdefault("exact", []).append(median(exact))
        connection.close()
    return _result(size, times, megabytes)


def _timed(connection: sqlite3.Connection, queries: Sequence[str], values: tuple[str, ...], expected: int) -> float:
    """Milliseconds to the last row; a wrong number of rows is no measurement."""
    began = time.perf_counter()
    rows = [row for query in queries for row in connection.execute(query, values)]
    took = (time.perf_counter() - began) * 1000
    if len(rows) != expected:
        raise RuntimeError(f"{values[0]} gave {len(rows)} rows instead of {expected}")
    return took


def _cold(path: Path, values: tuple[str, str]) -> float:
    argv = (sys.executable, "-I", "-S", "-c", _COLD, str(path), json.dumps(hook.BY_FILE[0]), *values)
    return float(subprocess.run(argv, capture_output=True, check=True).stdout)


def _index_trigrams(connection: sqlite3.Connection) -> bool:
    """Whether this SQLite has FTS5 with trigrams (3.34)."""
    try:
        connection.execute(
            "CREATE VIRTUAL TABLE trigrams USING fts5"
            "(error_normalized, content='error_kb', content_rowid='id', tokenize='trigram')"
        )
    except sqlite3.OperationalError:
        return False
    connection.execute("INSERT INTO trigrams (trigrams) VALUES ('rebuild')")
    return True


def _result(size: Size, times: dict[str, list[float]], megabytes: float) -> Result:
    rows = [Row(f"{what} file, p50", median(times[what]), "ms", "at most", 0.02) for what in FILES]
    rows.append(Row("exact text, p50", median(times["exact"]), "ms", "at most", 0.02))
    rows.append(Row("first answer of a cold process", median(times["cold"]), "ms", "at most", 50.0))
    for reference, name in (("like", "LIKE scan"), ("trigram", "FTS5 trigram")):
        rows += [
            Row(f"{name}, {what} file", median(times[key]), "ms")
            for what in FILES
            if (key := f"{reference} {what}") in times
        ]
    notes = (f"{size.rows:,} resolved errors, {megabytes:,.0f} MB with all indexes; the page cache is warm.",)
    return Result("error lookup by file", size.rounds, tuple(rows), notes)
