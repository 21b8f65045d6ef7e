"""The last report that was published at each target, so that nothing is published twice and comments are found by id.

It also releases runs whose reports were held while the App had no access."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import sqlalchemy as sa

from bot.model import Model, Repo
from bot.store.database.database import Database
from bot.store.database.tables import pull_runs, run_issues, runs
from bot.store.database.tables import reports as table
from bot.store.runs.rows import HELD


class Published(Model):
    """The last report that was published at a target (`comment:7`, `check:sha:lint`, `labels:7`): its id on GitHub and
    a digest of its content."""

    github_id: int | None
    digest: str


class Reports:
    """The published reports of this database, by repository and target."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def published(self, repo: Repo, target: str) -> Published | None:
        """The last report at a target; None if there is none."""
        query = sa.select(table.c.github_id, table.c.digest).where(
            table.c.repo == repo.full_name, table.c.target == target
        )
        row = await self._database.read(lambda connection: connection.execute(query).mappings().first())
        return Published.model_validate(dict(row)) if row else None

    async def at_target(self, target: str) -> tuple[tuple[str, Published], ...]:
        """The last report at that target of every repository (`owner/name`) that has one."""
        query = sa.select(table.c.repo, table.c.github_id, table.c.digest).where(table.c.target == target)
        rows = await self._database.all(query.order_by(table.c.repo))
        return tuple((row.repo, Published(github_id=row.github_id, digest=row.digest)) for row in rows)

    async def record(self, repo: Repo, target: str, published: Published) -> None:
        """Store the last report at a target."""

        def work(connection: sa.Connection) -> None:
            where = (table.c.repo == repo.full_name) & (table.c.target == target)
            values = published.model_dump()
            if connection.execute(sa.update(table).where(where).values(values)).rowcount == 0:
                connection.execute(sa.insert(table).values(repo=repo.full_name, target=target, **values))

        await self._database.write(work)

    async def release(self, installation_id: int, repos: Sequence[str] | None, number: int | None = None) -> int:
        """Publish reports that were held (`hold_reports`) again: of these repositories' runs and checks (None: the
        installation's), or of one thread there. Returns how many runs and checks these are.

        They get this `installation_id`, which changes when the App is installed again."""
        names = None if repos is None else {name.casefold() for name in repos}

        def work(connection: sa.Connection) -> int:
            released = 0
            run_ids = sa.select(run_issues.c.run_id).where(run_issues.c.issue == number)
            for rows, of_thread in ((runs, runs.c.id.in_(run_ids)), (pull_runs, pull_runs.c.number == number)):
                # a local session, whose place is a path, has no reports on GitHub
                held = (rows.c.reported == HELD) & ~rows.c.repo.startswith("/")
                query = sa.select(rows.c.id, rows.c.repo, rows.c.spec).where(held)
                for row in connection.execute(query if number is None else query.where(of_thread)).all():
                    repo = row.spec["repo"]
                    if repo["installation_id"] == installation_id if names is None else row.repo.casefold() in names:
                        spec = {**row.spec, "repo": {**repo, "installation_id": installation_id}}
                        _release(connection, rows, row.id, spec)
                        released += 1
            return released

        return await self._database.write(work)


def _release(connection: sa.Connection, rows: sa.Table, run_id: str, spec: dict[str, Any]) -> None:
    values: dict[str, Any] = {"reported": 0, "spec": spec}
    if rows is runs:
        values["installation_id"] = spec["repo"]["installation_id"]
    connection.execute(sa.update(rows).where(rows.c.id == run_id).values(values))
