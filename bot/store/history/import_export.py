"""Exports the error history as JSON lines, and imports them into another Mendbot without trusting their content.

A line is a resolved error or a dead end. Importing the same lines again changes nothing."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Iterator, Sequence
from datetime import UTC, datetime
from functools import partial
from typing import Any, BinaryIO

import sqlalchemy as sa
from pydantic import AwareDatetime, Field, ValidationError

from bot.errors import Transient
from bot.model import CamelModel, Resolution
from bot.model.reasons import Reason
from bot.reports.format.redact import Redactor
from bot.reports.format.truncate import strip_control
from bot.reports.locale.reasons import user_error
from bot.rules.history.known_errors import MAX_FILES, file_names
from bot.rules.reasons import error_reason, make_reason, quoted
from bot.store.database.database import Database
from bot.store.database.sql import MAX_NAME, insert, iso, sound
from bot.store.database.tables import dead_ends, error_elsewhere, error_files, error_kb
from bot.store.history.resolutions import FIGURES, ResolvedError, masked, merge, read_resolution, resolved_error

MAX_LINE = 1_000_000
"""The maximal number of characters in a line, without its end."""
MAX_NAMED = 100
"""The maximal number of bad lines that an import lists; further ones are only counted."""
_BATCH = 100
_BATCH_CHARS = 4_000_000
_MAX_COUNT = 1_000_000_000


class ResolvedLine(CamelModel):
    """A resolved error, normalised or raw, with the figures of its repository; `files` are the base names by which it
    is found."""

    error: str = Field(min_length=1)
    resolution: Resolution
    files: tuple[str, ...] = Field((), max_length=MAX_FILES)
    use_count: int = Field(1, ge=1, le=_MAX_COUNT)
    shown: int = Field(0, ge=0, le=_MAX_COUNT)
    passed: int = Field(0, ge=0, le=_MAX_COUNT)
    last_used: AwareDatetime


class DeadEndLine(CamelModel):
    """A patch, by its hash, that did not resolve an error."""

    fingerprint: str = Field(min_length=1, max_length=200)
    patch_hash: str = Field(min_length=1, max_length=200)
    tries: int = Field(1, ge=1, le=_MAX_COUNT)


class Imported(CamelModel):
    """The result of an import. `refused` has a reason with the line number (from 1) for each of the first bad lines;
    `more_refused` counts those beyond MAX_NAMED."""

    taken: int = 0
    refused: tuple[Reason, ...] = ()
    more_refused: int = 0


Record = ResolvedLine | DeadEndLine


async def export_lines(database: Database) -> AsyncIterator[str]:
    """All resolved errors, oldest first, then all dead ends; one line each, without the line break.

    An error that several repositories resolved has a line for each repository, with that repository's figures."""
    last = 0
    while batch := await database.read(partial(_resolved, after=last)):
        for kb_id, line in batch:
            last = kb_id
            yield line.model_dump_json(by_alias=True, exclude_defaults=True)
    after = ("", "")
    while rows := await database.read(partial(_dead_ends, after=after)):
        for row in rows:
            after = (row.fingerprint, row.patch_hash)
            key = {"fingerprint": row.fingerprint[:MAX_NAME], "patch_hash": row.patch_hash[:MAX_NAME]}
            yield DeadEndLine(**key, tries=_count(row.tries)).model_dump_json(by_alias=True)


def lines_of(file: BinaryIO) -> Iterator[str]:
    """The lines of a UTF-8 file of any size, without line ends, for `import_lines`.

    A line that is too long is cut, but stays too long; invalid UTF-8 becomes lone surrogates. So both are refused."""
    max_bytes = 4 * MAX_LINE + 4  # the most bytes that a line within the limit can have, and a few more
    is_first = True
    while data := file.readline(max_bytes):
        rest = data
        while rest and not rest.endswith(b"\n") and len(rest) == max_bytes:
            rest = file.readline(max_bytes)
        text = data.decode("utf-8-sig" if is_first else "utf-8", "surrogateescape")
        is_first = False
        yield text.rstrip("\r\n")


async def import_lines(database: Database, lines: Iterable[str], redactor: Redactor | None = None) -> Imported:
    """Import the lines of `export_lines`. For two records of one error in one repository, the later is used.

    A line that cannot be read is refused and listed; empty lines are skipped. Secrets are masked, and texts that are
    too long for a row are cut. Raises Transient with the number of imported records if the database fails."""
    redactor = redactor or Redactor()
    taken = refused = 0
    reasons: list[Reason] = []
    batch: list[Record] = []
    size = 0
    for number, text in enumerate(lines, start=1):
        if not text.strip():
            continue
        line = read_line(text, redactor)
        if isinstance(line, Reason):
            refused += 1
            if refused <= MAX_NAMED:
                reasons.append(make_reason("import.line", number=number, why=line))
            continue
        batch.append(line)
        size += len(text)
        if len(batch) >= _BATCH or size >= _BATCH_CHARS:
            taken += await _import_batch(database, batch, taken)
            batch, size = [], 0
    taken += await _import_batch(database, batch, taken)
    return Imported(taken=taken, refused=tuple(reasons), more_refused=refused - len(reasons))


async def _import_batch(database: Database, batch: Sequence[Record], before: int) -> int:
    """Store these records and return how many they are; `before` is how many were imported earlier."""
    if not batch:
        return 0
    try:
        await database.write(partial(_store, lines=tuple(batch)))
    except Transient as error:
        raise user_error(make_reason("import.stopped", why=error_reason(error), count=before), Transient) from error
    return len(batch)


def read_line(text: str, redactor: Redactor | None = None) -> Record | Reason:
    """The record of a line, masked, or the reason why the line is refused; never raises."""
    if len(text) > MAX_LINE:
        return make_reason("import.too_long", limit=f"{MAX_LINE:,}")
    if sound(text) != text:
        return make_reason("import.not_text")
    kind = DeadEndLine if '"patchHash"' in text and '"resolution"' not in text else ResolvedLine
    try:
        line = kind.model_validate_json(text)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False, include_context=False)[0]
        place = ".".join(str(part) for part in first["loc"])
        return quoted(f"{place}: {first['msg']}" if place else first["msg"])
    line = _masked(line, redactor or Redactor())
    if isinstance(line, ResolvedLine):
        try:
            _resolved_error(line)
        except ValueError:
            return make_reason("import.no_error")
    return line


def _resolved_error(line: ResolvedLine) -> ResolvedError:
    return resolved_error(line.error, line.resolution, iso(min(line.last_used, datetime.now(UTC))))


def _masked(line: Record, redactor: Redactor) -> Record:
    if isinstance(line, DeadEndLine):
        return line.model_copy(update={"fingerprint": redactor.mask(line.fingerprint)})
    changed = {
        "error": redactor.mask(strip_control(line.error)),
        "resolution": masked(line.resolution, redactor),
        "files": tuple(redactor.mask(strip_control(name)) for name in line.files),
    }
    return line.model_copy(update=changed)


def _dead_ends(connection: sa.Connection, after: tuple[str, str]) -> Sequence[Any]:
    key = sa.tuple_(dead_ends.c.fingerprint, dead_ends.c.patch_hash)
    query = sa.select(dead_ends.c.fingerprint, dead_ends.c.patch_hash, dead_ends.c.tries).where(key > sa.tuple_(*after))
    return connection.execute(query.order_by(*key).limit(_BATCH)).all()


def _resolved(connection: sa.Connection, after: int) -> list[tuple[int, ResolvedLine]]:
    text = sa.cast(error_kb.c.resolution, sa.Text).label("resolution")
    columns = (error_kb.c.id, error_kb.c.error_normalized, error_kb.c.last_used, error_kb.c.ts)
    query = sa.select(*columns, text, *(error_kb.c[name] for name in FIGURES))
    query = query.where(error_kb.c.id > after, error_kb.c.resolution.is_not(sa.null()))
    rows = connection.execute(query.order_by(error_kb.c.id).limit(_BATCH)).all()
    ids = [row.id for row in rows]
    files: dict[int, list[str]] = {}
    names = sa.select(error_files.c.kb_id, error_files.c.file_name)
    for name in connection.execute(names.where(error_files.c.kb_id.in_(ids))):
        files.setdefault(name.kb_id, []).append(name.file_name)
    earlier: dict[int, list[Any]] = {}
    text = sa.cast(error_elsewhere.c.resolution, sa.Text).label("resolution")
    elsewhere = sa.select(error_elsewhere.c.kb_id, text, error_elsewhere.c.last_used)
    elsewhere = elsewhere.add_columns(*(error_elsewhere.c[name] for name in FIGURES))
    elsewhere = elsewhere.where(error_elsewhere.c.kb_id.in_(ids))
    for row in connection.execute(elsewhere.order_by(error_elsewhere.c.last_used, error_elsewhere.c.repo)):
        earlier.setdefault(row.kb_id, []).append(row)
    return [
        (
            row.id,
            ResolvedLine(
                error=row.error_normalized or "?",
                resolution=read_resolution(source.resolution),
                files=tuple(files.get(row.id, ()))[:MAX_FILES],
                use_count=_count(source.use_count),
                shown=_count(source.shown, minimum=0),
                passed=_count(source.passed, minimum=0),
                last_used=_read_time(source.last_used) or _read_time(row.ts) or datetime.now(UTC),
            ),
        )
        for row in rows
        for source in (*earlier.get(row.id, ()), row)
    ]


def _count(stored: int, minimum: int = 1) -> int:
    return min(max(stored, minimum), _MAX_COUNT)


def _read_time(text: str | None) -> datetime | None:
    """A stored time; None if it is missing or if another program stored something else."""
    try:
        when = datetime.fromisoformat(text or "")
    except ValueError:
        return None
    return when if when.tzinfo else when.replace(tzinfo=UTC)


def _store(connection: sa.Connection, lines: Sequence[Record]) -> None:
    for line in lines:
        if isinstance(line, ResolvedLine):
            error = _resolved_error(line)
            figures = {name: getattr(line, name) for name in FIGURES}
            merge(connection, error, file_names(error.text, line.files), figures)
            continue
        values = {**line.model_dump(), "ts": iso(datetime.now(UTC))}
        tries = sa.case((dead_ends.c.tries > line.tries, dead_ends.c.tries), else_=line.tries)
        query = insert(connection, dead_ends).values(values)
        connection.execute(
            query.on_conflict_do_update(index_elements=["fingerprint", "patch_hash"], set_={"tries": tries})
        )
