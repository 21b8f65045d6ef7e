"""Labelled issues that wait for the end of the quiet period of their burst (spec F, last line)."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

import sqlalchemy as sa

from bot.model import Model, Repo
from bot.store.database.database import Database, now_ms
from bot.store.database.tables import candidates as table

CAP_FACTOR = 10
"""A burst is grouped after this many quiet periods at the latest, even if issues are still added."""


class QueuedIssue(Model):
    """An issue that waits; times are epoch milliseconds."""

    repo: Repo
    issue: int
    at: int
    quiet_ms: int
    since: datetime | None = None
    """The time at which the label was added, by GitHub's clock; removals before it are ignored if they arrive late."""
    asked_by: str | None = None
    """The login of the person who added the label or commented the command."""


class Burst(Model):
    """The candidates of one repository, and the time at which they may be grouped (epoch milliseconds)."""

    repo: Repo
    issues: tuple[int, ...]
    due_at: int


class Candidates:
    """The candidates for groups, by repository and issue."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def add(self, candidate: QueuedIssue) -> None:
        """Store a candidate, or update it if it is already stored; the quiet period of its burst starts again."""

        def work(connection: sa.Connection) -> None:
            values = {
                "installation_id": candidate.repo.installation_id,
                "last_at": candidate.at,
                "quiet_ms": candidate.quiet_ms,
                "since": candidate.since.isoformat() if candidate.since else None,
                "asked_by": candidate.asked_by,
            }
            update = sa.update(table).where(_is(candidate.repo, candidate.issue)).values(values)
            if connection.execute(update).rowcount == 0:
                key = {"repo": candidate.repo.full_name, "issue": candidate.issue, "first_at": candidate.at}
                connection.execute(sa.insert(table).values({**key, **values}))

        await self._database.write(work)

    async def drop(self, repo: Repo, issue: int) -> bool:
        """Delete a candidate; returns whether there was one."""
        query = sa.delete(table).where(_is(repo, issue))
        return await self._database.change(query) > 0

    async def postpone(self, repo: Repo, issues: Sequence[int], wait_ms: int) -> None:
        """Make a burst due `wait_ms` from now, after a temporary error."""
        now = now_ms()
        burst = (table.c.repo == repo.full_name) & table.c.issue.in_(issues)
        query = sa.update(table).where(burst).values(first_at=now, last_at=now, quiet_ms=wait_ms)
        await self._database.change(query)

    async def waiting(self, repo: Repo, issue: int) -> tuple[bool, datetime | None]:
        """Whether an issue is a candidate, and when its label was added (None if unknown)."""
        query = sa.select(table.c.since).where(_is(repo, issue))
        row = await self._database.first(query)
        return row is not None, datetime.fromisoformat(row.since) if row and row.since else None

    async def bursts(self) -> tuple[Burst, ...]:
        """The bursts of all repositories."""
        query = sa.select(
            table.c.repo,
            sa.func.max(table.c.installation_id).label("installation_id"),
            sa.func.max(table.c.last_at).label("last_at"),
            sa.func.min(table.c.first_at).label("first_at"),
            sa.func.max(table.c.quiet_ms).label("quiet_ms"),
        ).group_by(table.c.repo)

        def work(connection: sa.Connection) -> tuple[Burst, ...]:
            bursts = []
            for row in connection.execute(query).all():
                members = sa.select(table.c.issue).where(table.c.repo == row.repo).order_by(table.c.issue)
                owner, _, name = row.repo.partition("/")
                due = min(row.last_at + row.quiet_ms, row.first_at + CAP_FACTOR * row.quiet_ms)
                repo = Repo(owner=owner, name=name, installation_id=row.installation_id)
                bursts.append(Burst(repo=repo, issues=tuple(connection.execute(members).scalars()), due_at=due))
            return tuple(bursts)

        return await self._database.read(work)


def _is(repo: Repo, issue: int) -> sa.ColumnElement[bool]:
    return (table.c.repo == repo.full_name) & (table.c.issue == issue)
