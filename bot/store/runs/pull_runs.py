"""The runs of checks of pull requests' heads, and their events: an event is appended once, as for `runs`.

An index of the table lets one run alone work on a head, so that nobody who asks for a second gets one."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import sqlalchemy as sa

from bot.model import Repo
from bot.model.pull_check_events import PULL_CHECK_EVENTS, PullCheckEvent
from bot.rules.pulls.spec import PullCheckSpec
from bot.rules.pulls.state import PullCheckState, pull_check_state
from bot.store.database.database import Database, now_ms
from bot.store.database.notify import Changes
from bot.store.database.tables import events
from bot.store.database.tables import pull_runs as table
from bot.store.history.resolutions import insert
from bot.store.runs.pull_rows import OPEN, PullCheckRow, pull_values, read_pull
from bot.store.runs.run_rows import HELD, event_fields, event_row

__all__ = ["PullCheckRow", "PullRuns"]


class PullRuns:
    """The runs of checks in this database. Each change raises a run's `version`; `reported` follows when GitHub was
    told."""

    def __init__(self, database: Database, changes: Changes | None = None) -> None:
        self._database = database
        self.changes = changes or Changes()
        """Notified of what this object writes."""

    async def create(self, run_id: str, spec: PullCheckSpec) -> bool:
        """Make a run of checks. False, and nothing written, if that id exists, or if an open run of the same head of
        the same pull request is there that was not asked to stop."""
        latest = sa.select(sa.func.max(table.c.created_at)).where(_of(spec.repo, spec.number))
        values = {
            "id": run_id,
            "repo": spec.repo.full_name,
            "number": spec.number,
            "head_sha": spec.head_sha,
            "status": "queued",
            "spec": spec.model_dump(mode="json"),
        }

        def work(connection: sa.Connection) -> bool:
            # later than every other of this pull request even where the clock stands still or goes back
            at = max(now_ms(), (connection.execute(latest).scalar() or 0) + 1)
            query = insert(connection, table).values(**values, created_at=at).on_conflict_do_nothing()
            return connection.execute(query.returning(table.c.id)).first() is not None

        return await self._database.write(work)

    async def get(self, run_id: str) -> PullCheckRow | None:
        found = await self._rows(sa.select(table).where(table.c.id == run_id))
        return found[0] if found else None

    async def open_of(self, repo: Repo, number: int) -> tuple[PullCheckRow, ...]:
        """The runs of a pull request that are not final, oldest first; also those that were asked to stop."""
        query = sa.select(table).where(_of(repo, number), table.c.status.in_(OPEN))
        return await self._rows(query.order_by(table.c.created_at))

    async def latest_of(self, repo: Repo, number: int, head_sha: str | None = None) -> PullCheckRow | None:
        """The newest run of a pull request, or of one head of it, ended or not."""
        query = sa.select(table).where(_of(repo, number, head_sha))
        found = await self._rows(query.order_by(table.c.created_at.desc()).limit(1))
        return found[0] if found else None

    async def count_of(self, repo: Repo, number: int, head_sha: str) -> int:
        """How many runs of this head there have ever been."""
        query = sa.select(sa.func.count()).select_from(table).where(_of(repo, number, head_sha))
        return await self._database.read(lambda connection: connection.execute(query).scalar_one())

    async def unfinished(self) -> tuple[PullCheckRow, ...]:
        """Runs that are not final, oldest first."""
        query = sa.select(table).where(table.c.status.in_(OPEN))
        return await self._rows(query.order_by(table.c.created_at, table.c.id))

    async def unreported(self) -> tuple[str, ...]:
        """Runs of which GitHub has not heard the latest, oldest first."""
        query = sa.select(table.c.id).where(table.c.reported < table.c.version).order_by(table.c.created_at)
        return tuple(await self._database.read(lambda connection: connection.execute(query).scalars().all()))

    async def reported(self, run_id: str, version: int) -> None:
        query = sa.update(table).where((table.c.id == run_id) & (table.c.reported < version)).values(reported=version)
        await self._database.write(lambda connection: connection.execute(query) and None)

    async def hold_reports(self, run_id: str) -> None:
        """Nothing more is told of this run: the App may no longer speak where it was."""
        await self.reported(run_id, HELD)

    async def request_cancel(self, run_id: str, because: str) -> bool:
        """Ask a run to stop; False if it had ended or was asked before."""
        query = sa.update(table).where(table.c.id == run_id, table.c.status.in_(OPEN), table.c.cancel_because.is_(None))
        values = {"cancel_because": because, "version": table.c.version + 1}
        asked = await self._database.write(lambda connection: connection.execute(query.values(values)).rowcount > 0)
        self.changes.notify()
        return asked

    async def append(self, run_id: str, fresh: Sequence[PullCheckEvent]) -> None:
        """Append events in one commit; those whose key is known are left as they were.

        `pull_started` sets a queued run going, `pull_finished` ends it."""

        def work(connection: sa.Connection) -> None:
            held = sa.select(table.c.repo, table.c.status).where(table.c.id == run_id).with_for_update()
            row = connection.execute(held).one()
            ts = datetime.now(UTC).isoformat(timespec="milliseconds")
            new = [event for event in fresh if _added(connection, event_row(run_id, row.repo, ts, event))]
            if new:
                values = pull_values(new, row.status)
                connection.execute(sa.update(table).where(table.c.id == run_id).values(values))

        await self._database.write(work)
        self.changes.notify()

    async def events(self, run_id: str) -> tuple[PullCheckEvent, ...]:
        """A run's events in order."""
        own = (events.c.session_id == run_id, events.c.key.is_not(None))
        query = sa.select(events).where(*own).order_by(events.c.id)
        rows = await self._database.read(lambda connection: connection.execute(query).mappings().all())
        return tuple(PULL_CHECK_EVENTS.validate_python(event_fields(row)) for row in rows)

    async def state(self, run_id: str) -> PullCheckState:
        """The state of a run, from its events."""
        return pull_check_state(await self.events(run_id))

    async def _rows(self, query: sa.Select[Any]) -> tuple[PullCheckRow, ...]:
        rows = await self._database.read(lambda connection: connection.execute(query).mappings().all())
        return tuple(read_pull(row) for row in rows)


def _of(repo: Repo, number: int, head_sha: str | None = None) -> sa.ColumnElement[bool]:
    pull = (table.c.repo == repo.full_name) & (table.c.number == number)
    return pull if head_sha is None else pull & (table.c.head_sha == head_sha)


def _added(connection: sa.Connection, row: dict[str, Any]) -> bool:
    query = insert(connection, events).values(row).on_conflict_do_nothing(index_elements=["session_id", "key"])
    return connection.execute(query.returning(events.c.id)).first() is not None
