"""The error history as JSON lines, out of one Mendbot and into another; what comes in is believed in nothing.

A line is a resolved error or a dead end; taking the same lines again changes nothing."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Sequence
from datetime import UTC, datetime
from functools import partial
from itertools import islice

import sqlalchemy as sa
from pydantic import AwareDatetime, Field, ValidationError

from bot.model import Resolution, Wire
from bot.rules.guidance import MOST_FILES, file_names
from bot.store.database import Database
from bot.store.history import entry, insert, iso, put, read_resolution
from bot.store.tables import dead_ends, error_files, error_kb

MOST_LINE = 1_000_000
_BATCH = 500
_MOST_COUNT = 1_000_000_000


class ResolvedLine(Wire):
    """One resolved error, normalised or raw; `files` are the base names under which it is found."""

    error: str = Field(min_length=1)
    resolution: Resolution
    files: tuple[str, ...] = Field((), max_length=MOST_FILES)
    use_count: int = Field(1, ge=1, le=_MOST_COUNT)
    last_used: AwareDatetime


class DeadEndLine(Wire):
    """One patch, by its hash, that did not help against one error."""

    fingerprint: str = Field(min_length=1, max_length=200)
    patch_hash: str = Field(min_length=1, max_length=200)
    tries: int = Field(1, ge=1, le=_MOST_COUNT)


class Imported(Wire):
    """What an import did; `refused` says of each bad line its number (from 1) and what is wrong with it."""

    taken: int = 0
    refused: tuple[str, ...] = ()


async def export_lines(database: Database) -> AsyncIterator[str]:
    """Every resolved error, oldest first, then every dead end; a line each, without its line break."""
    last = 0
    while batch := await database.read(partial(_resolved, after=last)):
        for kb_id, line in batch:
            last = kb_id
            yield line.model_dump_json(by_alias=True, exclude_defaults=True)
    query = sa.select(dead_ends.c.fingerprint, dead_ends.c.patch_hash, dead_ends.c.tries)
    for row in await database.read(lambda connection: connection.execute(query).mappings().all()):
        yield DeadEndLine.model_validate(dict(row)).model_dump_json(by_alias=True)


async def import_lines(database: Database, lines: Iterable[str]) -> Imported:
    """Take lines as `export_lines` gives them; of two records of one error the one used later stands.

    A line that can't be read is refused and named, the others are taken. Empty lines are passed over."""
    taken = 0
    refused: list[str] = []
    numbered = ((number, line) for number, line in enumerate(lines, start=1) if line.strip())
    while batch := list(islice(numbered, _BATCH)):
        good: list[ResolvedLine | DeadEndLine] = []
        for number, text in batch:
            line = read_line(text)
            if isinstance(line, str):
                refused.append(f"line {number}: {line}")
            else:
                good.append(line)
        await database.write(partial(_take, lines=good))
        taken += len(good)
    return Imported(taken=taken, refused=tuple(refused))


def read_line(text: str) -> ResolvedLine | DeadEndLine | str:
    """The record on a line, or a sentence on why there is none; never raises."""
    if len(text) > MOST_LINE:
        return f"is longer than {MOST_LINE:,} characters"
    kind = DeadEndLine if '"patchHash"' in text and '"resolution"' not in text else ResolvedLine
    try:
        line = kind.model_validate_json(text)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False, include_context=False)[0]
        place = ".".join(str(part) for part in first["loc"])
        return f"{place}: {first['msg']}" if place else str(first["msg"])
    if isinstance(line, ResolvedLine):
        try:
            _entry(line)
        except ValueError as error:
            return str(error)
    return line


def _entry(line: ResolvedLine) -> dict[str, object]:
    return entry(line.error, line.resolution, iso(min(line.last_used, datetime.now(UTC))))


def _resolved(connection: sa.Connection, after: int) -> list[tuple[int, ResolvedLine]]:
    text = sa.cast(error_kb.c.resolution, sa.Text).label("resolution")
    columns = (error_kb.c.id, error_kb.c.error_normalized, error_kb.c.use_count, error_kb.c.last_used, error_kb.c.ts)
    query = sa.select(*columns, text).where(error_kb.c.id > after, error_kb.c.resolution.is_not(sa.null()))
    rows = connection.execute(query.order_by(error_kb.c.id).limit(_BATCH)).all()
    files: dict[int, list[str]] = {}
    names = sa.select(error_files.c.kb_id, error_files.c.file_name)
    for name in connection.execute(names.where(error_files.c.kb_id.in_([row.id for row in rows]))):
        files.setdefault(name.kb_id, []).append(name.file_name)
    return [
        (
            row.id,
            ResolvedLine(
                error=row.error_normalized,
                resolution=read_resolution(row.resolution),
                files=tuple(files.get(row.id, ()))[:MOST_FILES],
                use_count=row.use_count,
                last_used=_when(row.last_used) or _when(row.ts) or datetime.now(UTC),
            ),
        )
        for row in rows
    ]


def _when(text: str | None) -> datetime | None:
    """A stored time; other programs write what they like."""
    try:
        when = datetime.fromisoformat(text or "")
    except ValueError:
        return None
    return when if when.tzinfo else when.replace(tzinfo=UTC)


def _take(connection: sa.Connection, lines: Sequence[ResolvedLine | DeadEndLine]) -> None:
    for line in lines:
        if isinstance(line, ResolvedLine):
            _take_resolved(connection, line)
            continue
        values = {**line.model_dump(), "ts": iso(datetime.now(UTC))}
        most = sa.case((dead_ends.c.tries > line.tries, dead_ends.c.tries), else_=line.tries)
        query = insert(connection, dead_ends).values(values)
        connection.execute(
            query.on_conflict_do_update(index_elements=["fingerprint", "patch_hash"], set_={"tries": most})
        )


def _take_resolved(connection: sa.Connection, line: ResolvedLine) -> None:
    values = _entry(line)
    same = error_kb.c.error_normalized == values["error_normalized"]
    known = connection.execute(sa.select(error_kb.c.use_count, error_kb.c.last_used).where(same)).first()
    count = max(line.use_count, known.use_count) if known else line.use_count
    if known is None or (known.last_used or "") < str(values["last_used"]):
        put(connection, values, file_names(str(values["error_normalized"]), line.files))
    connection.execute(sa.update(error_kb).where(same).values(use_count=count))
