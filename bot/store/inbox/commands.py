"""The commands in comments, stored so that each runs once and no author can exceed the hourly limit (T16)."""

from __future__ import annotations

from typing import Literal

import sqlalchemy as sa

from bot.model import Repo
from bot.store.database.database import Database
from bot.store.database.sql import insert, sound
from bot.store.database.tables import commands as table

Taken = Literal["new", "known", "over", "over_again"]

HOUR_MS = 3_600_000
_MAX_OUTCOME = 8_000
_BEGUN = "begun "


class Commands:
    """The stored commands. Those over the limit are stored, too, so that they stay refused if delivered again."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def take(
        self,
        id: str,  # noqa: A002  # as the column
        *,
        repo: Repo,
        number: int,
        author: str,
        at_ms: int,
        cap: int,
        verb: str = "",
    ) -> Taken:
        """Store a command and return whether it may run. `id` must be the same for each delivery of the command.

        `new` may run; `known` was stored earlier. `over` exceeds `cap` commands of this author in this repository
        within an hour, and needs a reply. `over_again` needs no reply: the hour has an `over` already, or this command
        was refused earlier. The hour extends in both directions, since deliveries arrive in any order."""
        row = {"id": id, "repo": repo.full_name, "number": number, "author": author, "verb": verb, "at": at_ms}
        within_hour = table.c.at.between(at_ms - HOUR_MS + 1, at_ms + HOUR_MS - 1)
        own = (table.c.repo == repo.full_name) & (table.c.author == author) & within_hour
        count_query = sa.select(table.c.answer, sa.func.count().label("commands")).where(own).group_by(table.c.answer)

        def work(connection: sa.Connection) -> Taken:
            _lock_name(connection, f"{repo.full_name}\n{author}")
            previous = connection.execute(sa.select(table.c.answer).where(table.c.id == id)).scalar()
            if previous is not None:
                return "known" if previous == "new" else "over_again"
            counts = {row.answer: row.commands for row in connection.execute(count_query)}
            answer: Taken = "new"
            if counts.get("new", 0) >= cap:
                answer = "over_again" if counts.get("over") else "over"
            query = insert(connection, table).values(**row, answer=answer).on_conflict_do_nothing()
            return "known" if connection.execute(query.returning(table.c.id)).first() is None else answer

        return await self._database.write(work)

    async def begin(self, id: str, seen: str) -> str:  # noqa: A002  # as the column
        """Store the state before a command's first effect (`seen`) and return it. If one was stored earlier, that one
        stays and is returned. Nothing is stored for an unknown or finished command; `seen` is returned."""
        own = table.c.id == id
        not_begun = own & (table.c.outcome.is_(None) | (table.c.outcome == ""))

        def work(connection: sa.Connection) -> str:
            connection.execute(sa.update(table).where(not_begun).values(outcome=_BEGUN + seen))
            stored = connection.execute(sa.select(table.c.outcome).where(own)).scalar() or ""
            return stored.removeprefix(_BEGUN) if stored.startswith(_BEGUN) else seen

        return await self._database.write(work)

    async def outcome_of(self, id: str) -> str | None:  # noqa: A002  # as the column
        """The outcome of a command; None if it is unknown or not finished."""
        outcome = await self._database.value(sa.select(table.c.outcome).where(table.c.id == id))
        return None if not outcome or outcome.startswith(_BEGUN) else outcome

    async def finish(self, id: str, outcome: str) -> None:  # noqa: A002  # as the column
        """Store the outcome of a command; does nothing for an unknown one."""
        query = sa.update(table).where(table.c.id == id).values(outcome=sound(outcome)[:_MAX_OUTCOME])
        await self._database.change(query)


def _lock_name(connection: sa.Connection, name: str) -> None:
    """Lock this name until the commit; SQLite needs no lock, since it has one writer."""
    if connection.dialect.name == "postgresql":
        connection.execute(sa.select(sa.func.pg_advisory_xact_lock(sa.func.hashtext(name))))
