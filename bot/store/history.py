"""The error history: what made which error go away, found by file, by exact text or by the loose key, each by an index.

It also remembers what did not help, so that neither guidance nor a patch is tried for ever (REQ-RA-301..311)."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import Any

import sqlalchemy as sa
from pydantic import ValidationError
from sqlalchemy.dialects import postgresql, sqlite

from bot.model import KnownError, Resolution
from bot.rules.error_text import loose_key, normalize_error
from bot.rules.guidance import base_name, file_names, is_spent
from bot.store.database import Database
from bot.store.tables import dead_ends, error_files, error_kb, events

MOST_PATCH = 200_000
"""Characters of a patch that are kept; a longer one is remembered by its hash alone."""
MOST_RAW = 4_000
_BATCH = 500
_DEAD_END = ["fingerprint", "patch_hash"]

_FIELDS = {field.alias or name: name for name, field in Resolution.model_fields.items()}
_SHOWN = (
    error_kb.c.id,
    error_kb.c.error_normalized,
    sa.cast(error_kb.c.resolution, sa.Text).label("resolution"),  # as text: another program's need not be JSON
    error_kb.c.use_count,
    error_kb.c.last_used,
    error_kb.c.shown,
    error_kb.c.passed,
)
_RESOLVED = error_kb.c.resolution.is_not(sa.null())
_FILED = (
    sa.select(*_SHOWN, error_files.c.last_used.label("rank"))
    .join(error_files, error_files.c.kb_id == error_kb.c.id)
    .where(error_files.c.file_name == sa.bindparam("name"), _RESOLVED)
    .order_by(error_files.c.last_used.desc())
    .limit(sa.bindparam("most"))
)
# rows that another program wrote are no file's yet (see `adopt`): the seed's own way, over those few
_FOREIGN = (
    sa.select(*_SHOWN, error_kb.c.last_used.label("rank"))
    .where(error_kb.c.loose_key.is_(None), _RESOLVED)
    .where(error_kb.c.error_normalized.ilike(sa.bindparam("pattern"), escape="\\"))
    .order_by(error_kb.c.last_used.desc())
    .limit(sa.bindparam("most"))
)
_EXACT = sa.select(*_SHOWN).where(error_kb.c.error_normalized == sa.bindparam("text"), _RESOLVED)
_LOOSE = (
    sa.select(*_SHOWN)
    .where(error_kb.c.loose_key == sa.bindparam("key"), _RESOLVED)
    .order_by(error_kb.c.last_used.desc())
    .limit(1)
)


def iso(when: datetime) -> str:
    """A time as the history writes it: ISO 8601 in UTC to the millisecond, so that text sorts as time does."""
    return when.astimezone(UTC).isoformat(timespec="milliseconds")


def iso_now() -> str:
    return iso(datetime.now(UTC))


class History:
    """The resolutions in this database. Texts are stored as given: what is secret must be masked before."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def record(self, error: str, resolution: Resolution, *, paths: Sequence[str] = ()) -> int:
        """Remember what resolved an error (its raw text); the latest resolution of the same error stands, with a
        higher `use_count` and its full weight. It is found by the base names in its text and those of `paths`.

        Gives its id. An error without text raises ValueError."""
        values = entry(error, resolution, iso_now())
        names = file_names(values["error_normalized"], paths)
        return await self._database.write(lambda connection: put(connection, values, names))

    async def by_file(self, path: str, most: int = 2) -> tuple[KnownError, ...]:
        """The most recently used resolutions that involve a file of that base name, the whole of it (REQ-RA-301)."""
        name = base_name(path)
        if not name:
            return ()
        pattern = "%" + "".join(f"\\{sign}" if sign in "\\%_" else sign for sign in name) + "%"
        values = {"name": name, "pattern": pattern, "most": most}

        def work(connection: sa.Connection) -> list[Any]:
            return [row for query in (_FILED, _FOREIGN) for row in connection.execute(query, values).mappings()]

        rows = sorted(await self._database.read(work), key=lambda row: row["rank"] or "", reverse=True)
        return tuple(_known(row) for row in rows[:most])

    async def by_error(self, error: str) -> KnownError | None:
        """What resolved this error: the same text once normalised, else the latest that differs only in what the
        loose key masks (`exact` is false then). Takes raw and normalised text alike."""
        text = normalize_error(error)

        def work(connection: sa.Connection) -> tuple[Any, bool]:
            exact = connection.execute(_EXACT, {"text": text}).mappings().first()
            if exact or not text:
                return exact, True
            return connection.execute(_LOOSE, {"key": loose_key(text)}).mappings().first(), False

        row, is_exact = await self._database.read(work)
        return _known(row, exact=is_exact) if row else None

    async def followed(self, ids: Sequence[int], *, passed: bool) -> None:
        """Note what came of guidance: these were shown before an attempt, and the attempt's checks passed or not.

        One that passed was of use just now; one that has been shown in vain too often is no file's any more, until
        `record` proves it anew."""
        chosen = error_kb.c.id.in_(tuple(ids))
        now = iso_now()
        values = {"shown": error_kb.c.shown + 1}
        if passed:
            values |= {"passed": error_kb.c.passed + 1, "last_used": sa.literal(now)}
        counts = sa.select(error_kb.c.id, error_kb.c.shown, error_kb.c.passed).where(chosen)

        def work(connection: sa.Connection) -> None:
            connection.execute(sa.update(error_kb).where(chosen).values(values))
            spent = [row.id for row in connection.execute(counts) if is_spent(row.shown, row.passed)]
            connection.execute(sa.delete(error_files).where(error_files.c.kb_id.in_(spent)))
            if passed:
                used = sa.update(error_files).where(error_files.c.kb_id.in_(tuple(ids)))
                connection.execute(used.values(last_used=now))

        await self._database.write(work)

    async def dead_end(self, fingerprints: Sequence[str], patch_hash: str) -> None:
        """Remember that a patch did not make these errors go away."""
        rows = [{"fingerprint": one, "patch_hash": patch_hash, "ts": iso_now()} for one in dict.fromkeys(fingerprints)]

        def work(connection: sa.Connection) -> None:
            for row in rows:
                query = insert(connection, dead_ends).values(row)
                again = {"tries": dead_ends.c.tries + 1, "ts": row["ts"]}
                connection.execute(
                    query.on_conflict_do_update(index_elements=["fingerprint", "patch_hash"], set_=again)
                )

        await self._database.write(work)

    async def dead_ends(self, fingerprints: Sequence[str]) -> frozenset[str]:
        """The hashes of patches that did not help against one of these errors."""
        query = sa.select(dead_ends.c.patch_hash).where(dead_ends.c.fingerprint.in_(tuple(fingerprints)))
        return frozenset(await self._database.read(lambda connection: connection.execute(query).scalars().all()))

    async def tool_error(self, session_id: str, tool: str, error: str, *, project: str | None = None) -> None:
        """Append the event that the hook looks for before `Bash` (REQ-RA-302): normalised text, the raw one beside it.

        `session_id` is the agent's own, never a run's: a run's events have another shape."""
        data = {"tool": tool, "error": normalize_error(error), "errorRaw": error[:MOST_RAW]}
        values = {"type": "tool_error", "ts": iso_now(), "session_id": session_id, "project": project, "data": data}
        await self._database.write(lambda connection: connection.execute(sa.insert(events).values(values)) and None)

    async def adopt(self) -> int:
        """Index resolved rows that another program wrote into `error_kb`, at most 500 a call; gives how many."""
        query = (
            sa.select(error_kb.c.id, error_kb.c.error_normalized, error_kb.c.last_used, error_kb.c.ts)
            .where(error_kb.c.loose_key.is_(None), _RESOLVED)
            .limit(_BATCH)
        )

        def work(connection: sa.Connection) -> int:
            rows = connection.execute(query).all()
            for row in rows:
                key = {"loose_key": loose_key(row.error_normalized)}
                connection.execute(sa.update(error_kb).where(error_kb.c.id == row.id).values(key))
                _file(connection, row.id, file_names(row.error_normalized), row.last_used or row.ts)
            return len(rows)

        return await self._database.write(work)


def insert(connection: sa.Connection, table: sa.Table) -> Any:
    """An INSERT that can say what to do on a conflict, which is the dialect's."""
    return (sqlite.insert if connection.dialect.name == "sqlite" else postgresql.insert)(table)


def entry(error: str, resolution: Resolution, used: str) -> dict[str, Any]:
    """The row of a resolved error; raises ValueError where the error has no text."""
    text = normalize_error(error)
    if not text:
        raise ValueError("the error has no text: give the message that the check or the tool printed")
    if resolution.patch is not None and len(resolution.patch) > MOST_PATCH:
        resolution = resolution.model_copy(update={"patch": None})
    return {
        "ts": used,
        "error_normalized": text,
        "error_raw": error[:MOST_RAW],
        "resolution": resolution.model_dump(mode="json", by_alias=True, exclude_defaults=True),
        "resolved_by": resolution.resolved_by or None,
        "tool_sequence": list(resolution.tool_sequence),
        "last_used": used,
        "loose_key": loose_key(text),
    }


def put(connection: sa.Connection, values: dict[str, Any], names: Iterable[str]) -> int:
    """Insert a row of `entry`, or let it take the place of the same error's, and index it; gives its id."""
    again: dict[str, Any] = {name: value for name, value in values.items() if name not in ("ts", "error_normalized")}
    again |= {"use_count": error_kb.c.use_count + 1, "shown": 0, "passed": 0}
    query = insert(connection, error_kb).values(values)
    query = query.on_conflict_do_update(index_elements=["error_normalized"], set_=again).returning(error_kb.c.id)
    kb_id = int(connection.execute(query).scalar_one())
    _file(connection, kb_id, names, values["last_used"])
    return kb_id


def _file(connection: sa.Connection, kb_id: int, names: Iterable[str], used: str) -> None:
    connection.execute(sa.update(error_files).where(error_files.c.kb_id == kb_id).values(last_used=used))
    for name in names:
        query = insert(connection, error_files).values(kb_id=kb_id, file_name=name, last_used=used)
        connection.execute(query.on_conflict_do_nothing())


def _known(row: Any, *, exact: bool = True) -> KnownError:
    return KnownError(
        id=row["id"],
        error=row["error_normalized"],
        resolution=read_resolution(row["resolution"]),
        use_count=row["use_count"],
        last_used=row["last_used"] or "",
        shown=row["shown"],
        passed=row["passed"],
        exact=exact,
    )


def read_resolution(raw: str) -> Resolution:
    """A stored resolution; whatever is no JSON object of that shape is told as it is, in `how`."""
    try:
        data = json.loads(raw)
    except (ValueError, RecursionError):
        return Resolution(how=raw)
    if not isinstance(data, dict):
        return Resolution(how=data if isinstance(data, str) else raw)
    try:
        return Resolution.model_validate({key: value for key, value in data.items() if key in _FIELDS})
    except ValidationError:
        return Resolution(how=raw)
