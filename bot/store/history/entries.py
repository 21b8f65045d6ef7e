"""The entries of the error history for the page `/history`: each resolution of an error, the latest use first."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa

from bot.model import KnownError
from bot.rules.history.known_errors import base_name, file_names, is_spent
from bot.store.database.database import Database
from bot.store.database.sql import sound, visible_in
from bot.store.database.tables import error_elsewhere, error_files, error_kb
from bot.store.history.resolutions import read_resolution

_EDIT = "Edit "
_USED = sa.func.coalesce(error_kb.c.last_used, error_kb.c.ts)
_RESOLVED = error_kb.c.resolution.is_not(sa.null())
_FIGURES = ("use_count", "shown", "passed")


@dataclass(frozen=True, slots=True)
class EntryFilter:
    """The entries that a page shows. Empty texts select all.

    `visible` are the repositories (`OWNER/NAME`) whose entries the viewer may see. None stands for all, and for entries
    without a repository too."""

    repo: str = ""
    file: str = ""
    text: str = ""
    visible: Collection[str] | None = None


@dataclass(frozen=True, slots=True)
class Entry:
    """A resolution of an error in one repository (lower case). `repo` is empty for an error without a repository."""

    repo: str
    known: KnownError

    @property
    def files(self) -> tuple[str, ...]:
        """The base names of the files in the error and of those that the resolution edited."""
        steps = self.known.resolution.tool_sequence
        edited = (step.removeprefix(_EDIT) for step in steps if step.startswith(_EDIT))
        return file_names(self.known.error, edited)

    @property
    def is_spent(self) -> bool:
        """Whether so many attempts that got it failed that it is no longer offered for a file."""
        return is_spent(self.known.shown, self.known.passed)


@dataclass(frozen=True, slots=True)
class EntryPage:
    """Some of the entries, and how many there are."""

    entries: tuple[Entry, ...]
    count: int


class Entries:
    """The resolutions in this database, by repository."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def page(self, wanted: EntryFilter, limit: int, offset: int = 0) -> EntryPage:
        """The entries of that filter after the first `offset`, the latest use first."""
        matching = sa.union_all(_in_row(wanted), _elsewhere(wanted)).subquery()
        order = (matching.c.used.desc().nulls_last(), matching.c.id.desc(), matching.c.repo)
        total = sa.func.count().over().label("total")
        query = sa.select(matching.c.id, matching.c.repo, total).order_by(*order).limit(limit).offset(offset)

        def work(connection: sa.Connection) -> EntryPage:
            keys = connection.execute(query).all()
            rows = _rows(connection, [key.id for key in keys])
            entries = tuple(_entry(rows[key.id, key.repo or ""]) for key in keys)
            if keys or not offset:
                return EntryPage(entries, keys[0].total if keys else 0)
            return EntryPage((), connection.execute(sa.select(sa.func.count()).select_from(matching)).scalar() or 0)

        return await self._database.read(work)

    async def repositories(self, visible: Collection[str] | None = None) -> tuple[str, ...]:
        """The repositories (lower case) that have entries, sorted."""
        here = sa.select(error_kb.c.repo).where(_RESOLVED, *visible_in(error_kb.c.repo, "", visible))
        elsewhere = sa.select(error_elsewhere.c.repo).where(*visible_in(error_elsewhere.c.repo, "", visible))
        names = sa.union(here, elsewhere)
        return tuple(sorted(name for name in await self._database.column(names) if name))

    async def files(self, limit: int) -> tuple[tuple[str, int], ...]:
        """The base names with the most resolved errors of all repositories, and how many each has."""
        count = sa.func.count().label("errors")
        query = sa.select(error_files.c.file_name, count).group_by(error_files.c.file_name)
        rows = await self._database.all(query.order_by(count.desc(), error_files.c.file_name).limit(limit))
        return tuple((row.file_name, row.errors) for row in rows)


def _in_row(wanted: EntryFilter) -> sa.Select[Any]:
    """The matching resolutions in `error_kb`."""
    query = sa.select(error_kb.c.id, error_kb.c.repo, error_kb.c.last_used.label("used")).where(_RESOLVED)
    return query.where(*_conditions(wanted, error_kb.c.repo))


def _elsewhere(wanted: EntryFilter) -> sa.Select[Any]:
    """The matching resolutions in `error_elsewhere`."""
    own = error_elsewhere
    query = sa.select(own.c.kb_id.label("id"), own.c.repo, own.c.last_used.label("used"))
    return query.join(error_kb, error_kb.c.id == own.c.kb_id).where(*_conditions(wanted, own.c.repo))


def _conditions(wanted: EntryFilter, repo: sa.Column[Any]) -> list[sa.ColumnElement[bool]]:
    conditions = visible_in(repo, wanted.repo, wanted.visible)
    if wanted.text:
        conditions.append(error_kb.c.error_normalized.icontains(sound(wanted.text), autoescape=True))
    if wanted.file:
        ids = sa.select(error_files.c.kb_id).where(error_files.c.file_name == sound(base_name(wanted.file)))
        conditions.append(error_kb.c.id.in_(ids))
    return conditions


def _rows(connection: sa.Connection, ids: Sequence[int]) -> dict[tuple[int, str], Any]:
    """The resolutions of these errors, by error and repository."""
    text = error_kb.c.error_normalized.label("error")
    # other programs' resolutions need not be JSON, so they are read as text
    here = sa.select(
        *(
            error_kb.c.id,
            sa.func.coalesce(error_kb.c.repo, "").label("repo"),
            text,
            error_kb.c.error_raw.label("raw"),
            _USED.label("used"),
        ),
        sa.cast(error_kb.c.resolution, sa.Text).label("resolution"),
        *(error_kb.c[name] for name in _FIGURES),
    ).where(error_kb.c.id.in_(ids))
    own = error_elsewhere
    # the printed text in `error_kb` is another repository's
    elsewhere = (
        sa.select(
            *(error_kb.c.id, own.c.repo, text, sa.literal("").label("raw"), own.c.last_used.label("used")),
            sa.cast(own.c.resolution, sa.Text).label("resolution"),
            *(own.c[name] for name in _FIGURES),
        )
        .join(error_kb, error_kb.c.id == own.c.kb_id)
        .where(own.c.kb_id.in_(ids))
    )
    return {(row.id, row.repo): row for query in (elsewhere, here) for row in connection.execute(query)}


def _entry(row: Any) -> Entry:
    known = KnownError(
        id=row.id,
        error=row.error,
        raw=row.raw or "",
        resolution=read_resolution(row.resolution),
        use_count=row.use_count,
        last_used=row.used,
        shown=row.shown,
        passed=row.passed,
    )
    return Entry(row.repo, known)
