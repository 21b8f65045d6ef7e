"""Which resolved errors a repository may see, and the counts of their use.

A repository sees its own resolutions and those without a repository, each with its own figures. It never sees another
repository's resolutions or figures, since that one may be private."""

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
_VISIBLE_ELSEWHERE = error_elsewhere.c.repo.in_([_MINE, sa.literal("")])


def still_counts(table: sa.Table) -> sa.ColumnElement[bool]:
    """The condition that a row is not spent; the same rule as `is_spent` in `rules.history.known_errors`."""
    return table.c.passed + 1 > SPENT * (table.c.shown + 1)


IN_ROW = sa.or_(error_kb.c.repo.is_(None), error_kb.c.repo == _MINE)
HERE = sa.or_(IN_ROW, sa.exists().where(error_elsewhere.c.kb_id == error_kb.c.id, _VISIBLE_ELSEWHERE))
"""The condition for errors that the repository `repo` (a parameter, `repo_key`) may see."""
COUNTS_HERE = sa.or_(
    sa.and_(IN_ROW, still_counts(error_kb)),
    sa.and_(
        error_kb.c.repo != _MINE,
        sa.exists().where(error_elsewhere.c.kb_id == error_kb.c.id, _VISIBLE_ELSEWHERE, still_counts(error_elsewhere)),
    ),
)
"""As HERE, for errors with a visible resolution that is not spent."""


def visible_errors(
    connection: sa.Connection, rows: Sequence[Any], repo: str | None, *, exact: bool = True
) -> list[KnownError]:
    """The known errors of these rows of `error_kb`, in their order.

    With a repository, each has its latest resolution that the repository may see; rows without one are omitted."""
    key = repo_key(repo)
    if key is None:
        return [_known(row, row, exact, raw=row.error_raw) for row in rows]
    elsewhere = _elsewhere(connection, [row.id for row in rows if row.repo not in (None, key)], key)
    visible = []
    for row in rows:
        source = row if row.repo in (None, key) else elsewhere.get(row.id)
        if source is None:
            continue
        # another repository's printed text is not shown, since it may name its directories
        known = _known(row, source, exact, raw=row.error_raw if row.repo == key else None)
        # a row of another program has its repository in the resolution's text only
        if repo_key(known.resolution.repo) in (None, key):
            visible.append(known)
    return visible


def follow(connection: sa.Connection, known_errors: Iterable[KnownError], *, passed: bool) -> None:
    """Count for each of these resolutions that it was shown, and whether the attempt passed, in its present row.

    If all resolutions of an error are spent, the error is no longer found by file."""
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
        # a row of another program has its repository in the resolution's text only
        table, same = place_of(kb_id, row.repo, row.repo if row.loose_key is None else key)
        values: dict[str, Any] = {"shown": table.c.shown + 1}
        if passed:
            values |= {"passed": table.c.passed + 1}
            # in `error_elsewhere` the time also decides which resolution is the latest, so it does not change
            values |= {"last_used": now} if table is error_kb else {}
        connection.execute(sa.update(table).where(*same).values(values))
    _update_files(connection, list(rows), now if passed else None)


def _update_files(connection: sa.Connection, ids: Sequence[int], used: str | None) -> None:
    """Delete the files of errors whose resolutions are all spent; set the last use of the others' files, if given."""
    counting = sa.union(
        sa.select(error_kb.c.id).where(error_kb.c.id.in_(ids), still_counts(error_kb)),
        sa.select(error_elsewhere.c.kb_id).where(error_elsewhere.c.kb_id.in_(ids), still_counts(error_elsewhere)),
    )
    spent = set(ids).difference(connection.execute(counting).scalars())
    connection.execute(sa.delete(error_files).where(error_files.c.kb_id.in_(spent)))
    if used is not None:
        connection.execute(sa.update(error_files).where(error_files.c.kb_id.in_(ids)).values(last_used=used))


def _elsewhere(connection: sa.Connection, ids: Sequence[int], key: str) -> dict[int, Any]:
    """For each of these errors, the latest row of `error_elsewhere` that belongs to that repository or to none."""
    if not ids:
        return {}
    table = error_elsewhere
    text = sa.cast(table.c.resolution, sa.Text).label("resolution")
    query = sa.select(table.c.kb_id, text, table.c.last_used, table.c.use_count, table.c.shown, table.c.passed)
    query = query.where(table.c.kb_id.in_(ids), table.c.repo.in_((key, ""))).order_by(table.c.last_used)
    return {row.kb_id: row for row in connection.execute(query)}


def _known(row: Any, source: Any, exact: bool, *, raw: str | None) -> KnownError:
    """The error of a row of `error_kb` with the resolution of `source`: the same row, or one of `error_elsewhere`."""
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
