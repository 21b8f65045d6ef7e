"""The commands that people gave, so that each is run once and nobody's flood becomes work (T16)."""

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
    """The record of commands. Those beyond an author's share are kept, too: delivered again, they stay refused."""

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
        """Decide once about one command of a comment, `id` being the same whenever it is delivered.

        `new` is to be run, `known` was taken before. Where `cap` commands of this author in this repository were
        taken within the hour, it is `over`, for which a reply is due, and `over_again` if one of that hour was `over`
        already; so is what was refused before. An hour reaches both ways, since deliveries come in any order."""
        row = {"id": id, "repo": repo.full_name, "number": number, "author": author, "verb": verb, "at": at_ms}
        near = table.c.at.between(at_ms - HOUR_MS + 1, at_ms + HOUR_MS - 1)
        mine = (table.c.repo == repo.full_name) & (table.c.author == author) & near
        counted = sa.select(table.c.answer, sa.func.count().label("commands")).where(mine).group_by(table.c.answer)

        def work(connection: sa.Connection) -> Taken:
            _one_by_one(connection, f"{repo.full_name}\n{author}")
            before = connection.execute(sa.select(table.c.answer).where(table.c.id == id)).scalar()
            if before is not None:
                return "known" if before == "new" else "over_again"
            counts = {row.answer: row.commands for row in connection.execute(counted)}
            answer: Taken = "new"
            if counts.get("new", 0) >= cap:
                answer = "over_again" if counts.get("over") else "over"
            query = insert(connection, table).values(**row, answer=answer).on_conflict_do_nothing()
            return "known" if connection.execute(query.returning(table.c.id)).first() is None else answer

        return await self._database.write(work)

    async def begin(self, id: str, seen: str) -> str:  # noqa: A002  # as the column
        """Note what was so before a command did anything, and give it back: the first note stands, whoever else begins.
        Of one that is not there, or that came to its end, nothing is noted."""
        own = table.c.id == id
        fresh = own & (table.c.outcome.is_(None) | (table.c.outcome == ""))

        def work(connection: sa.Connection) -> str:
            connection.execute(sa.update(table).where(fresh).values(outcome=_BEGUN + seen))
            noted = connection.execute(sa.select(table.c.outcome).where(own)).scalar() or ""
            return noted.removeprefix(_BEGUN) if noted.startswith(_BEGUN) else seen

        return await self._database.write(work)

    async def outcome_of(self, id: str) -> str | None:  # noqa: A002  # as the column
        """What became of a command; None where it is not known yet."""
        query = sa.select(table.c.outcome).where(table.c.id == id)
        found = await self._database.value(query)
        return None if not found or found.startswith(_BEGUN) else found

    async def finish(self, id: str, outcome: str) -> None:  # noqa: A002  # as the column
        """Note what became of a command, for whoever looks into it; of one that is not there, nothing."""
        query = sa.update(table).where(table.c.id == id).values(outcome=sound(outcome)[:_MAX_OUTCOME])
        await self._database.change(query)


def _one_by_one(connection: sa.Connection, name: str) -> None:
    """Until the commit, nobody else decides about that name; SQLite has one writer anyway."""
    if connection.dialect.name == "postgresql":
        connection.execute(sa.select(sa.func.pg_advisory_xact_lock(sa.func.hashtext(name))))
