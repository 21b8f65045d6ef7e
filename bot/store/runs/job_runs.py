"""The rows and events of one kind of run. Fix runs and pull checks each have a table, with the same life cycle.

Each event has a key and is stored once per run and key, so repeating a step after a crash adds nothing."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, ClassVar, Generic, TypeVar

import sqlalchemy as sa
from pydantic import TypeAdapter

from bot.model import Artifact
from bot.model.events.base import Event
from bot.model.reasons import ExplainedStop, Reason
from bot.store.database.database import Database
from bot.store.database.notify import Changes
from bot.store.database.sql import insert, iso_now
from bot.store.database.tables import events
from bot.store.runs.log_life import log_life
from bot.store.runs.rows import HELD, OPEN, JobRow, event_fields, event_row, put_artifact

RowT = TypeVar("RowT", bound=JobRow)
EventT = TypeVar("EventT", bound=Event)
StateT = TypeVar("StateT")


class JobRuns(ABC, Generic[RowT, EventT, StateT]):
    """The runs of one kind. Each change increments a run's `version`; `reported` is the last version that was published
    on GitHub."""

    table: ClassVar[sa.Table]
    adapter: TypeAdapter[EventT]

    def __init__(self, database: Database, changes: Changes | None = None) -> None:
        self._database = database
        self.changes = changes or Changes()
        """Notified of each change that this object writes."""

    @abstractmethod
    def read_row(self, row: Mapping[str, Any]) -> RowT:
        """The run in a row of the table."""

    @abstractmethod
    def fold(self, events: Iterable[EventT]) -> StateT:
        """The state of a run with these events."""

    @abstractmethod
    def changed_by(self, new: Sequence[EventT], status: str) -> Mapping[str, Any]:
        """The column values that these new events change in the row of a run with that status. The status and the end
        of a final run do not change."""

    def count(self, connection: sa.Connection, place: str, run_id: str, now: str, new: Sequence[EventT]) -> None:
        """Update sums over the events of all runs, in the commit that stores these new events at that time."""

    async def get(self, run_id: str) -> RowT | None:
        """The run with this id; None if there is none."""
        return await self._first(sa.select(self.table).where(self.table.c.id == run_id))

    async def unfinished(self) -> tuple[RowT, ...]:
        """Runs that are not final, oldest first."""
        query = sa.select(self.table).where(self.table.c.status.in_(OPEN))
        return await self._rows(query.order_by(self.table.c.created_at, self.table.c.id))

    async def unreported(self) -> tuple[str, ...]:
        """The ids of runs whose latest version is not published on GitHub, oldest first."""
        table = self.table
        query = sa.select(table.c.id).where(table.c.reported < table.c.version).order_by(table.c.created_at)
        return tuple(await self._database.column(query))

    async def reported(self, run_id: str, version: int) -> None:
        """Store that this version is published on GitHub, unless a later one is."""
        table = self.table
        query = sa.update(table).where((table.c.id == run_id) & (table.c.reported < version)).values(reported=version)
        await self._database.change(query)

    async def hold_reports(self, run_id: str) -> None:
        """Publish nothing more of this run until `Reports.release`, since the App lost its access to the repository."""
        await self.reported(run_id, HELD)

    async def request_cancel(self, run_id: str, because: Reason | ExplainedStop) -> bool:
        """Request that a run stops; returns False if it has ended or if that was requested before."""
        is_requested = await self._database.write(lambda connection: self._set_cancel(connection, run_id, because))
        self.changes.notify()
        return is_requested

    def _set_cancel(self, connection: sa.Connection, run_id: str, because: Reason | ExplainedStop) -> bool:
        table = self.table
        query = sa.update(table).where(table.c.id == run_id, table.c.status.in_(OPEN), table.c.cancel_because.is_(None))
        values = {"cancel_because": because.model_dump_json(), "version": table.c.version + 1}
        return connection.execute(query.values(values)).rowcount > 0

    async def append(self, run_id: str, events: Sequence[EventT], artifacts: Sequence[Artifact] = ()) -> None:
        """Append events and artifacts in one commit. Events with a stored key are skipped."""
        table = self.table

        def work(connection: sa.Connection) -> tuple[Any, list[EventT]]:
            columns = (table.c.repo, table.c.status, table.c.created_at)
            query = sa.select(*columns).where(table.c.id == run_id).with_for_update()
            row = connection.execute(query).one()
            now = iso_now()
            new = [event for event in events if _is_added(connection, event_row(run_id, row.repo, now, event))]
            for artifact in artifacts:
                put_artifact(connection, artifact)
            if new:
                self.count(connection, row.repo, run_id, now, new)
                values = {"version": table.c.version + 1, **self.changed_by(new, row.status)}
                connection.execute(sa.update(table).where(table.c.id == run_id).values(values))
            return row, new

        row, new = await self._database.write(work)
        log_life(run_id, row.repo, row.created_at, new)
        self.changes.notify()

    async def events(self, run_id: str, after: int = 0) -> tuple[EventT, ...]:
        """The events of a run with an id above `after`, in order."""
        own = (events.c.session_id == run_id, events.c.key.is_not(None), events.c.id > after)
        query = sa.select(events).where(*own).order_by(events.c.id)  # an agent's tool errors have no key
        rows = await self._database.read(lambda connection: connection.execute(query).mappings().all())
        return tuple(self.adapter.validate_python(event_fields(row)) for row in rows)

    async def state(self, run_id: str) -> StateT:
        """The state of a run, computed from its events."""
        return self.fold(await self.events(run_id))

    async def _rows(self, query: sa.Select[Any]) -> tuple[RowT, ...]:
        rows = await self._database.read(lambda connection: connection.execute(query).mappings().all())
        return tuple(self.read_row(dict(row)) for row in rows)

    async def _first(self, query: sa.Select[Any]) -> RowT | None:
        return next(iter(await self._rows(query)), None)


def _is_added(connection: sa.Connection, row: Mapping[str, Any]) -> bool:
    """Insert the row of an event; returns False if its key is stored already."""
    query = insert(connection, events).values(row).on_conflict_do_nothing(index_elements=["session_id", "key"])
    return connection.execute(query.returning(events.c.id)).first() is not None
