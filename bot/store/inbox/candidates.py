"""Issues that were labelled and wait for their burst's quiet period to end (spec F, last line)."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

import sqlalchemy as sa

from bot.model import Model, Repo
from bot.store.database.database import Database, now_ms
from bot.store.database.tables import candidates as table

CAP_FACTOR = 10
"""A burst that never falls quiet is grouped after this many quiet periods all the same."""


class QueuedIssue(Model):
    """An issue that waits; times are epoch milliseconds."""

    repo: Repo
    issue: int
    at: int
    quiet_ms: int
    since: datetime | None = None
    """When GitHub says the label was put; an older unlabelling that arrives later does not count."""
    asked_by: str | None = None
    """The login of whoever put the label or gave the command."""


class Burst(Model):
    """The candidates of one repository, and when they may be grouped (epoch milliseconds)."""

    repo: Repo
    issues: tuple[int, ...]
    due_at: int


class Candidates:
    """Adding the same issue again only moves its burst's quiet period."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def add(self, candidate: QueuedIssue) -> None:
        def work(connection: sa.Connection) -> None:
            values = {
                "installation_id": candidate.repo.installation_id,
                "last_at": candidate.at,
                "quiet_ms": candidate.quiet_ms,
                "since": candidate.since.isoformat() if candidate.since else None,
                "asked_by": candidate.asked_by,
            }
            if (
                connection.execute(sa.update(table).where(_is(candidate.repo, candidate.issue)).values(values)).rowcount
                == 0
            ):
                key = {"repo": candidate.repo.full_name, "issue": candidate.issue, "first_at": candidate.at}
                connection.execute(sa.insert(table).values({**key, **values}))

        await self._database.write(work)

    async def drop(self, repo: Repo, issue: int) -> bool:
        """Forget a candidate; True if there was one."""
        query = sa.delete(table).where(_is(repo, issue))
        return await self._database.change(query) > 0

    async def postpone(self, repo: Repo, issues: Sequence[int], wait_ms: int) -> None:
        """Make a burst due `wait_ms` from now, after a fault that may pass."""
        now = now_ms()
        burst = (table.c.repo == repo.full_name) & table.c.issue.in_(issues)
        query = sa.update(table).where(burst).values(first_at=now, last_at=now, quiet_ms=wait_ms)
        await self._database.change(query)

    async def waiting(self, repo: Repo, issue: int) -> tuple[bool, datetime | None]:
        """Whether an issue waits, and since when."""
        query = sa.select(table.c.since).where(_is(repo, issue))
        row = await self._database.first(query)
        return row is not None, datetime.fromisoformat(row.since) if row and row.since else None

    async def bursts(self) -> tuple[Burst, ...]:
        """Every repository's waiting issues."""
        query = sa.select(
            table.c.repo,
            sa.func.max(table.c.installation_id).label("installation_id"),
            sa.func.max(table.c.last_at).label("last_at"),
            sa.func.min(table.c.first_at).label("first_at"),
            sa.func.max(table.c.quiet_ms).label("quiet_ms"),
        ).group_by(table.c.repo)

        def work(connection: sa.Connection) -> tuple[Burst, ...]:
            found = []
            for row in connection.execute(query).all():
                members = sa.select(table.c.issue).where(table.c.repo == row.repo).order_by(table.c.issue)
                owner, _, name = row.repo.partition("/")
                due = min(row.last_at + row.quiet_ms, row.first_at + CAP_FACTOR * row.quiet_ms)
                repo = Repo(owner=owner, name=name, installation_id=row.installation_id)
                found.append(Burst(repo=repo, issues=tuple(connection.execute(members).scalars()), due_at=due))
            return tuple(found)

        return await self._database.read(work)


def _is(repo: Repo, issue: int) -> sa.ColumnElement[bool]:
    return (table.c.repo == repo.full_name) & (table.c.issue == issue)
