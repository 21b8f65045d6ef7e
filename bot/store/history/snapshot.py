"""Copies the part of the error history that a run's repository may see into a file for the run's sandbox.

A sandbox has no access to the database, and must not see other repositories' errors (threats.md, Rulings). The file has
the seed's two tables and an index of files."""

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
"""The maximal number of errors that are copied, the most recently used first."""
MAX_BYTES = 32 * 1024 * 1024
"""Copying ends after the batch with which the resolutions exceed this size."""
_MAX_EVENTS = 200
_BATCH = 500

# the seed's tables (spec E), and `error_files` as `agent.hook` reads it
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
"""A name that no repository has, for runs without a repository; it sees only what every repository may see."""
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
    """The session id under which a sandbox's tool errors are stored. It has the run's id as a prefix, since a sandbox
    can choose any session id, also another run's id."""
    return f"{run_id}:{session_id}"


async def write_snapshot(database: Database, path: Path, *, repo: str | None, session: str | None = None) -> int:
    """Write an SQLite file at `path`, atomically, with the errors that a run of `repo` (`owner/name` or None) may see.
    Returns how many resolved errors it has.

    It has the resolutions of the repository and of no repository, without patches. With `session` (a run's id), it also
    has the tool errors of that run's agents. Raises Transient if the database cannot be read, OSError or sqlite3.Error
    if the file cannot be written."""
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
    unindexed: set[int] = set()  # errors whose rows in the database's index of files are not copied
    own_repo = repo or _NO_REPOSITORY
    rows = connection.execution_options(yield_per=_BATCH).execute(_ERRORS, {"repo": repo_key(own_repo)})
    for batch in rows.partitions(_BATCH):
        visible = visible_errors(connection, batch, own_repo)
        copied = [_row(known) for known in visible]
        snapshot.executemany(
            "INSERT INTO error_kb (id, ts, error_normalized, resolution, resolved_by, tool_sequence, use_count, "
            "last_used) VALUES (:id, :used, :error, :resolution, :by, :steps, :count, :used)",
            copied,
        )
        by_id = {row["id"]: row for row in copied}
        foreign = {row.id for row in batch if row.loose_key is None and row.id in by_id}  # they are not indexed yet
        mixed = _of_several(connection, [row for row in batch if row.id in by_id], repo_key(own_repo))
        spent = {known.id for known in visible if is_spent(known.shown, known.passed)}
        unindexed |= mixed | spent
        named = (foreign | mixed) - spent
        _put_files(snapshot, ((name, kb_id) for kb_id in named for name in _own_names(by_id[kb_id])))
        count += len(copied)
        size += sum(len(row["resolution"]) for row in copied)
        if size > MAX_BYTES:
            break
    rows.close()
    _copy_files(connection, snapshot, unindexed)
    return count


def _of_several(connection: sa.Connection, rows: Sequence[Any], own_repo: str | None) -> set[int]:
    """The errors that another repository resolved, too, so that the names of its files are in their index."""
    others = sa.select(error_elsewhere.c.kb_id).where(error_elsewhere.c.repo.not_in([own_repo or "", ""]))
    elsewhere = connection.execute(others.where(error_elsewhere.c.kb_id.in_([row.id for row in rows]))).scalars()
    return {*elsewhere, *(row.id for row in rows if row.repo not in (None, own_repo))}


def _own_names(row: Mapping[str, Any]) -> tuple[str, ...]:
    """The base names of files in the error's text and in the steps of its resolution."""
    steps = (str(step) for step in json.loads(row["steps"]))
    edited = (step.removeprefix("Edit ") for step in steps if step.startswith("Edit "))
    return file_names(row["error"], edited)


def _row(known: KnownError) -> dict[str, Any]:
    """The error's row in the seed's columns, without the patch, which is large and which the hook does not show."""
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
        rows = connection.execute(_FILES.where(error_files.c.kb_id.in_(ids[start : start + _BATCH])))
        _put_files(snapshot, ((row.file_name, row.kb_id) for row in rows))


def _copy_events(connection: sa.Connection, snapshot: sqlite3.Connection, run_id: str) -> None:
    """Copy the run's tool errors, under its agents' own session ids."""
    prefix = tool_session_id(run_id, "")
    query = (
        sa.select(events.c.ts, events.c.session_id, sa.cast(events.c.data, sa.Text).label("data"))
        .where(events.c.type == "tool_error", _has_prefix(connection, prefix))
        .order_by(events.c.ts.desc())
        .limit(_MAX_EVENTS)
    )
    rows = [(row.ts, row.session_id.removeprefix(prefix), row.data) for row in connection.execute(query)]
    snapshot.executemany("INSERT INTO events (type, ts, session_id, data) VALUES ('tool_error', ?, ?, ?)", rows)


def _has_prefix(connection: sa.Connection, prefix: str) -> sa.ColumnElement[bool]:
    """The condition that a session's id has this prefix. SQLite uses its index only for a range; in Postgres a range
    would depend on the collation."""
    session = events.c.session_id
    if connection.dialect.name == "sqlite":
        return sa.and_(session >= prefix, session < prefix[:-1] + ";")  # `;` follows `:`
    return session.startswith(prefix, autoescape=True)
