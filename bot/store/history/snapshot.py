"""A copy of the error history for one run's box: what its repository may know, in the seed's two tables alone.
A box has no way to the database, and must not learn of other repositories (threats.md, Rulings)."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Mapping, Sequence, Set
from contextlib import closing
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from bot.model import KnownError
from bot.rules.history.known_errors import file_names, is_spent
from bot.store.database.database import Database
from bot.store.database.sql import repo_key
from bot.store.database.tables import error_elsewhere, error_files, error_kb, events
from bot.store.history.resolutions import MAX_HOW
from bot.store.history.visibility import HERE, visible_errors

MAX_ERRORS = 20_000
"""The most recently used ones are copied."""
MAX_BYTES = 32 * 1024 * 1024
"""Of resolutions, past which no more are copied."""
_MAX_EVENTS = 200
_BATCH = 500

# as in the seed (spec E), and the side table as `agent.hook` reads it
_SCHEMA = """
    PRAGMA journal_mode = OFF;
    PRAGMA synchronous = OFF;
    CREATE TABLE events (id INTEGER PRIMARY KEY, v INTEGER DEFAULT 1, type TEXT, ts TEXT, session_id TEXT,
                         project TEXT, project_path TEXT, data JSON);
    CREATE TABLE error_kb (id INTEGER PRIMARY KEY, ts TEXT, error_normalized TEXT UNIQUE, error_raw TEXT,
                           resolution JSON, resolved_by TEXT, tool_sequence TEXT, use_count INTEGER DEFAULT 1,
                           last_used TEXT);
    CREATE TABLE error_files (file_name TEXT, kb_id INTEGER, PRIMARY KEY (file_name, kb_id)) WITHOUT ROWID;
    CREATE INDEX events_tool_errors ON events (session_id, ts);
"""
_NO_REPOSITORY = "/"
"""Nobody's name, so what may be told to it is what is told to everybody."""
_ERRORS = (
    sa.select(
        *(error_kb.c.id, error_kb.c.error_normalized, error_kb.c.error_raw),
        sa.cast(error_kb.c.resolution, sa.Text).label("resolution"),
        *(error_kb.c.use_count, error_kb.c.last_used, error_kb.c.shown, error_kb.c.passed, error_kb.c.repo),
        error_kb.c.loose_key,
    )
    .where(error_kb.c.resolution.is_not(sa.null()), HERE)
    .order_by(error_kb.c.last_used.desc())
    .limit(MAX_ERRORS)
)
_FILES = sa.select(error_files.c.file_name, error_files.c.kb_id)


def tool_session_id(run_id: str, session_id: str) -> str:
    """The session under which a box's tool errors are kept: a box could give any run's id as its own session's."""
    return f"{run_id}:{session_id}"


async def write_snapshot(database: Database, path: Path, *, repo: str | None, session: str | None = None) -> int:
    """Copy to a SQLite file at `path` (replaced in one step) what a run of `repo` (`owner/name`; None: of none) may
    know; gives how many resolved errors that are.

    Those are the repository's own and those of no repository, without patches, and of `session` (a run's id) the tool
    errors of its agents' sessions. Raises Transient where the database cannot be read, OSError or sqlite3.Error where
    the file cannot be written."""
    return await database.read(lambda connection: _write(connection, path, repo, session))


def _write(connection: sa.Connection, path: Path, repo: str | None, session: str | None) -> int:
    unfinished = path.with_suffix(".unfinished")
    unfinished.unlink(missing_ok=True)
    with closing(sqlite3.connect(unfinished, isolation_level=None)) as snapshot:
        snapshot.executescript(_SCHEMA)
        snapshot.execute("BEGIN")
        count = _copy_errors(connection, snapshot, repo)
        if session is not None:
            _copy_events(connection, snapshot, session)
        snapshot.execute("COMMIT")
    unfinished.replace(path)
    return count


def _copy_errors(connection: sa.Connection, snapshot: sqlite3.Connection, repo: str | None) -> int:
    count = size = 0
    apart: set[int] = set()
    mine = repo or _NO_REPOSITORY
    rows = connection.execution_options(yield_per=_BATCH).execute(_ERRORS, {"repo": repo_key(mine)})
    for batch in rows.partitions(_BATCH):
        found = visible_errors(connection, batch, mine)
        copied = [_row(known) for known in found]
        snapshot.executemany(
            "INSERT INTO error_kb (id, ts, error_normalized, resolution, resolved_by, tool_sequence, use_count, "
            "last_used) VALUES (:id, :used, :error, :resolution, :by, :steps, :count, :used)",
            copied,
        )
        known = {row["id"]: row for row in copied}
        foreign = {row.id for row in batch if row.loose_key is None and row.id in known}  # these are no file's yet
        mixed = _of_several(connection, [row for row in batch if row.id in known], repo_key(mine))
        spent = {one.id for one in found if is_spent(one.shown, one.passed)}
        apart |= mixed | spent
        filed = (foreign | mixed) - spent
        _put_files(snapshot, ((name, kb_id) for kb_id in filed for name in _own_names(known[kb_id])))
        count += len(copied)
        size += sum(len(row["resolution"]) for row in copied)
        if size > MAX_BYTES:
            break
    rows.close()
    _copy_files(connection, snapshot, apart)
    return count


def _of_several(connection: sa.Connection, rows: Sequence[Any], mine: str | None) -> set[int]:
    """The errors of which another repository has a part: the names of its files are in their index, too."""
    others = sa.select(error_elsewhere.c.kb_id).where(error_elsewhere.c.repo.not_in([mine or "", ""]))
    found = connection.execute(others.where(error_elsewhere.c.kb_id.in_([row.id for row in rows]))).scalars()
    return {*found, *(row.id for row in rows if row.repo not in (None, mine))}


def _own_names(row: Mapping[str, Any]) -> tuple[str, ...]:
    """The files that an error's own text and its own resolution name."""
    steps = (str(step) for step in json.loads(row["steps"]))
    edited = (step.removeprefix("Edit ") for step in steps if step.startswith("Edit "))
    return file_names(row["error"], edited)


def _row(known: KnownError) -> dict[str, Any]:
    """Its row in the seed's columns; the hook does not show a patch, which would be most of it."""
    resolution = known.resolution.model_copy(update={"patch": None, "how": known.resolution.how[:MAX_HOW]})
    return {
        "id": known.id,
        "error": known.error,
        "resolution": resolution.model_dump_json(by_alias=True, exclude_defaults=True),
        "by": resolution.resolved_by or None,
        "steps": json.dumps(resolution.tool_sequence, ensure_ascii=False),
        "count": known.use_count,
        "used": known.last_used,
    }


def _put_files(snapshot: sqlite3.Connection, pairs: Iterable[tuple[str, int]]) -> None:
    snapshot.executemany("INSERT OR IGNORE INTO error_files (file_name, kb_id) VALUES (?, ?)", pairs)


def _copy_files(connection: sa.Connection, snapshot: sqlite3.Connection, but: Set[int]) -> None:
    ids = [kb_id for (kb_id,) in snapshot.execute("SELECT id FROM error_kb ORDER BY id") if kb_id not in but]
    for start in range(0, len(ids), _BATCH):
        found = connection.execute(_FILES.where(error_files.c.kb_id.in_(ids[start : start + _BATCH])))
        _put_files(snapshot, ((row.file_name, row.kb_id) for row in found))


def _copy_events(connection: sa.Connection, snapshot: sqlite3.Connection, run_id: str) -> None:
    """The run's tool errors under the sessions that its agents know."""
    prefix = tool_session_id(run_id, "")
    query = (
        sa.select(events.c.ts, events.c.session_id, sa.cast(events.c.data, sa.Text).label("data"))
        .where(events.c.type == "tool_error", _begins(connection, prefix))
        .order_by(events.c.ts.desc())
        .limit(_MAX_EVENTS)
    )
    rows = [(row.ts, row.session_id.removeprefix(prefix), row.data) for row in connection.execute(query)]
    snapshot.executemany("INSERT INTO events (type, ts, session_id, data) VALUES ('tool_error', ?, ?, ?)", rows)


def _begins(connection: sa.Connection, prefix: str) -> sa.ColumnElement[bool]:
    """Whether a session's name begins so; SQLite's index serves a range alone, and Postgres may order otherwise."""
    session = events.c.session_id
    if connection.dialect.name == "sqlite":
        return sa.and_(session >= prefix, session < prefix[:-1] + ";")  # `;` follows `:`
    return session.startswith(prefix, autoescape=True)
