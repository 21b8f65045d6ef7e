"""The approved heads of pull requests, and the heads that GitHub has reported.

An approval is for one commit, so the next push needs another (T11)."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import sqlalchemy as sa

from bot.model import Repo
from bot.store.database.database import Database
from bot.store.database.sql import insert_new, of_thread, upsert
from bot.store.database.tables import pull_approvals, pull_heads


class Approvals:
    """Approvals and heads, by pull request."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def approve(self, repo: Repo, number: int, head_sha: str, by: str, at_ms: int) -> None:
        """Store that this person approved this head, unless it is approved already."""
        row = {"repo": repo.full_name, "number": number, "head_sha": head_sha, "approved_by": by, "at": at_ms}
        await self._database.write(lambda connection: insert_new(connection, pull_approvals, row))

    async def approved(self, repo: Repo, number: int, head_sha: str) -> str | None:
        """The login of the person who approved exactly this head; None if it is not approved."""
        where = of_thread(pull_approvals, repo, number) & (pull_approvals.c.head_sha == head_sha)
        query = sa.select(pull_approvals.c.approved_by).where(where)
        return await self._database.value(query)

    async def saw_head(self, repo: Repo, number: int, head_sha: str, at: datetime | None) -> None:
        """Store a head and its time by GitHub's clock (None if unknown).

        The newest head keeps its first time if it is seen again. An older head that returns is the newest again, with
        the new time. A late event, with a time before that of a stored head, does not change the newest head."""
        key = {"repo": repo.full_name, "number": number, "head_sha": head_sha}
        moment = None if at is None else at.astimezone(UTC)
        query = sa.select(pull_heads).where(of_thread(pull_heads, repo, number)).order_by(pull_heads.c.place.desc())

        def work(connection: sa.Connection) -> None:
            rows = connection.execute(query.with_for_update()).all()
            own = next((row for row in rows if row.head_sha == head_sha), None)
            values: dict[str, Any] = {"at": moment.isoformat() if moment else None}
            if own is not None and own == rows[0]:
                if own.at is None and moment is not None:
                    connection.execute(sa.update(pull_heads).filter_by(**key).values(values))
                return
            late = _is_late(rows, head_sha, moment)
            if own is None or not late:
                values["place"] = 0 if late else (rows[0].place if rows else 0) + 1
                upsert(connection, pull_heads, key, values)

        await self._database.write(work)

    async def head_known(self, repo: Repo, number: int) -> tuple[str, datetime | None] | None:
        """The newest head and its time (None if unknown); None if no head is stored."""
        query = sa.select(pull_heads.c.head_sha, pull_heads.c.at).where(of_thread(pull_heads, repo, number))
        row = await self._database.first(query.order_by(pull_heads.c.place.desc()).limit(1))
        return None if row is None else (row.head_sha, _moment(row.at))

    async def heads(self, repo: Repo, number: int) -> int:
        """How many heads of a pull request are stored."""
        query = sa.select(sa.func.count()).select_from(pull_heads).where(of_thread(pull_heads, repo, number))
        return await self._database.value(query) or 0

    async def all_heads(self, repo: Repo, number: int) -> tuple[str, ...]:
        """All stored heads of a pull request, oldest first."""
        query = sa.select(pull_heads.c.head_sha).where(of_thread(pull_heads, repo, number)).order_by(pull_heads.c.place)
        return tuple(await self._database.column(query))

    async def pulls_of(self, repo: Repo, head_sha: str) -> tuple[int, ...]:
        """The pull requests that had this head, lowest number first. GitHub's API lists none for a fork's commit."""
        query = sa.select(pull_heads.c.number).where(pull_heads.c.repo == repo.full_name)
        query = query.where(pull_heads.c.head_sha == head_sha).order_by(pull_heads.c.number)
        return tuple(await self._database.column(query))


def _is_late(rows: Sequence[Any], head_sha: str, at: datetime | None) -> bool:
    """Whether a stored head has a later time, or this same head has this same time. Deliveries arrive in any order, and
    repeatedly."""
    if at is None:
        return False
    known = [(row.head_sha, seen_at) for row in rows if (seen_at := _moment(row.at)) is not None]
    return any(seen_at > at or (sha == head_sha and seen_at == at) for sha, seen_at in known)


def _moment(text: str | None) -> datetime | None:
    return None if text is None else datetime.fromisoformat(text)
