"""What a repository is told of resolved errors, and what came of it: its own resolutions and nobody's, with their own
figures, and never what another, private one did or how often."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import sqlalchemy as sa

from bot.model import KnownError
from bot.rules.history.known_errors import SPENT
from bot.store.database.sql import iso_now, repo_key
from bot.store.database.tables import error_elsewhere, error_files, error_kb
from bot.store.history.resolutions import place_of, read_resolution

_MINE: sa.BindParameter[str] = sa.bindparam("repo")
_TOLD = error_elsewhere.c.repo.in_([_MINE, sa.literal("")])


def still_counts(table: sa.Table) -> sa.ColumnElement[bool]:
    """Whether a row is not spent, as `rules.history.known_errors` says it."""
    return table.c.passed + 1 > SPENT * (table.c.shown + 1)


IN_ROW = sa.or_(error_kb.c.repo.is_(None), error_kb.c.repo == _MINE)
HERE = sa.or_(IN_ROW, sa.exists().where(error_elsewhere.c.kb_id == error_kb.c.id, _TOLD))
"""Errors of which the repository `repo` (a parameter, `repo_key`) may be told something."""
COUNTS_HERE = sa.or_(
    sa.and_(IN_ROW, still_counts(error_kb)),
    sa.and_(
        error_kb.c.repo != _MINE,
        sa.exists().where(error_elsewhere.c.kb_id == error_kb.c.id, _TOLD, still_counts(error_elsewhere)),
    ),
)
"""The same, of what is not spent there."""


def visible_errors(
    connection: sa.Connection, rows: Sequence[Any], repo: str | None, *, exact: bool = True
) -> list[KnownError]:
    """The known errors of rows of `error_kb`, in their order; with a repository, what it may be told of them: the
    latest resolution that is its own or nobody's. Rows that hold none are left out."""
    key = repo_key(repo)
    if key is None:
        return [_known(row, row, exact, raw=row.error_raw) for row in rows]
    own = _beside(connection, [row.id for row in rows if row.repo not in (None, key)], key)
    visible = []
    for row in rows:
        source = row if row.repo in (None, key) else own.get(row.id)
        if source is None:
            continue
        # how it was printed names the directories of whoever printed it
        known = _known(row, source, exact, raw=row.error_raw if row.repo == key else None)
        # a row of another program's has its repository in its text alone
        if repo_key(known.resolution.repo) in (None, key):
            visible.append(known)
    return visible


def follow(connection: sa.Connection, known_errors: Iterable[KnownError], *, passed: bool) -> None:
    """Count for each of these that it was shown, and whether the attempt passed, where what was told stands now; an
    error that is spent wherever it stands is no file's any more."""
    sources = {(known.id, repo_key(known.resolution.repo)) for known in known_errors}
    ids = {kb_id for kb_id, _ in sources}
    columns = (error_kb.c.id, error_kb.c.repo, error_kb.c.loose_key)
    query = sa.select(*columns).where(error_kb.c.id.in_(ids)).order_by(error_kb.c.id).with_for_update()
    rows = {row.id: row for row in connection.execute(query)}
    now = iso_now()
    for kb_id, key in sorted(sources, key=str):
        row = rows.get(kb_id)
        if row is None:
            continue
        # a row of another program's has its repository in its text alone
        table, same = place_of(kb_id, row.repo, row.repo if row.loose_key is None else key)
        values: dict[str, Any] = {"shown": table.c.shown + 1}
        if passed:
            values |= {"passed": table.c.passed + 1}
            # beside a row the times say which resolution is the latest, so that one stays as it is
            values |= {"last_used": now} if table is error_kb else {}
        connection.execute(sa.update(table).where(*same).values(values))
    _refile(connection, list(rows), now if passed else None)


def _refile(connection: sa.Connection, ids: Sequence[int], used: str | None) -> None:
    """Let go of the files of what is spent everywhere; the others' are as used at that time, if at any."""
    counting = sa.union(
        sa.select(error_kb.c.id).where(error_kb.c.id.in_(ids), still_counts(error_kb)),
        sa.select(error_elsewhere.c.kb_id).where(error_elsewhere.c.kb_id.in_(ids), still_counts(error_elsewhere)),
    )
    alive = set(connection.execute(counting).scalars())
    connection.execute(sa.delete(error_files).where(error_files.c.kb_id.in_([one for one in ids if one not in alive])))
    if used is not None:
        connection.execute(sa.update(error_files).where(error_files.c.kb_id.in_(ids)).values(last_used=used))


def _beside(connection: sa.Connection, ids: Sequence[int], key: str) -> dict[int, Any]:
    """The latest of that repository's and nobody's resolutions beside each of these rows."""
    if not ids:
        return {}
    table = error_elsewhere
    text = sa.cast(table.c.resolution, sa.Text).label("resolution")
    query = sa.select(table.c.kb_id, text, table.c.last_used, table.c.use_count, table.c.shown, table.c.passed)
    query = query.where(table.c.kb_id.in_(ids), table.c.repo.in_((key, ""))).order_by(table.c.last_used)
    return {row.kb_id: row for row in connection.execute(query)}


def _known(row: Any, source: Any, exact: bool, *, raw: str | None) -> KnownError:
    """The error of a row of `error_kb` with the resolution of `source`, that row or one beside it."""
    return KnownError(
        id=row.id,
        error=row.error_normalized,
        raw=raw or "",
        resolution=read_resolution(source.resolution),
        use_count=source.use_count,
        last_used=source.last_used or "",
        shown=source.shown,
        passed=source.passed,
        exact=exact,
    )
