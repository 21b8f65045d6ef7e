"""What GitHub was last told, by target, so that nothing is said twice and a comment is found by its id."""

from __future__ import annotations

import sqlalchemy as sa

from bot.model import Noun, Repo
from bot.store.database import Database
from bot.store.tables import reports as table


class Told(Noun):
    """The last thing said at a target (`comment:7`, `check:sha:lint`, `labels:7`): its id on GitHub and a digest."""

    github_id: int | None
    digest: str


class Reports:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def told(self, repo: Repo, target: str) -> Told | None:
        query = sa.select(table.c.github_id, table.c.digest).where(
            table.c.repo == repo.full_name, table.c.target == target
        )
        row = await self._database.read(lambda connection: connection.execute(query).mappings().first())
        return Told.model_validate(dict(row)) if row else None

    async def tell(self, repo: Repo, target: str, told: Told) -> None:
        def work(connection: sa.Connection) -> None:
            where = (table.c.repo == repo.full_name) & (table.c.target == target)
            values = told.model_dump()
            if connection.execute(sa.update(table).where(where).values(values)).rowcount == 0:
                connection.execute(sa.insert(table).values(repo=repo.full_name, target=target, **values))

        await self._database.write(work)
