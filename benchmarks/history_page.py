"""*History page*: how fast the page at `/history` comes with many resolved errors, over HTTP and with the sign-in.
It is loaded whole, with a filter for a repository, and with one for a text, which reads all errors."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial
from statistics import median

import sqlalchemy as sa

from benchmarks.history_rows import error, file_name
from benchmarks.page_server import page_times_ms
from benchmarks.result import Result, Row, percentile
from bot.store.database.tables import error_files, error_kb

LOADS = {"whole": "/history", "of one repository": "/history?repo=octo/repo-3", "with a text": "/history?text=TS2345"}
_PATCH = "--- a/src/index.ts\n+++ b/src/index.ts\n" + "-const total = 1\n+const total = 2\n" * 20
_REPOS = 20
_DAY = datetime(2026, 11, 23, 12, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Size:
    """How many resolved errors are stored, and how often the page is loaded."""

    entries: int = 10_000
    requests: int = 50


def measure(size: Size) -> Result:
    """Load the page with each of the filters."""
    rows = []
    for name, path in LOADS.items():
        times, _ = page_times_ms(partial(fill, size.entries), path, b"error TS2", size.requests)
        what = f"history {name}, {size.entries} entries"
        rows += [
            Row(f"{what}, p50", median(times), "ms"),
            Row(f"{what}, p95", percentile(times, 0.95), "ms", "at most", 100.0),
        ]
    return Result("history-page", size.requests, tuple(rows))


def fill(count: int, connection: sa.Connection) -> None:
    """Store resolved errors of twenty repositories, each with a patch and its file."""
    found, files = [], []
    for number in range(1, count + 1):
        used = (_DAY - timedelta(minutes=number)).isoformat(timespec="milliseconds")
        repo, text = f"octo/repo-{number % _REPOS}", error(number)
        resolution: dict[str, object] = {
            "resolvedBy": "mendbot",
            "tool": "fixers",
            "toolSequence": ["Edit"],
            "repo": repo,
        }
        resolution |= {"patch": _PATCH, "runId": f"run-{number}", "attempt": 1, "proof": "proven", "commit": "a" * 40}
        row = {"id": number, "ts": used, "error_normalized": text, "resolution": resolution, "resolved_by": "mendbot"}
        found.append({**row, "last_used": used, "loose_key": text, "repo": repo})
        files.append({"kb_id": number, "file_name": file_name(number), "last_used": used})
    connection.execute(sa.insert(error_kb), found)
    connection.execute(sa.insert(error_files), files)
