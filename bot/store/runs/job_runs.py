"""The rows and events of one kind of job: fix runs and pull checks have a table each, and the same life.

An event is appended once: its key says what it is about, so that doing a step again after a crash adds nothing."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, ClassVar, Generic, TypeVar

import sqlalchemy as sa
from pydantic import TypeAdapter

from bot.model import Artifact
from bot.model.events.base import Event
from bot.model.reasons import ExplainedStop, Reason
from bot.store.database.database import Database
from bot.store.database.notify import Changes
from bot.store.database.sql import insert
from bot.store.database.tables import events
from bot.store.runs.rows import HELD, OPEN, JobRow, event_fields, event_row, put_artifact

RowT = TypeVar("RowT", bound=JobRow)
EventT = TypeVar("EventT", bound=Event)
StateT = TypeVar("StateT")


class JobRuns(ABC, Generic[RowT, EventT, StateT]):
    """The runs of one kind. Each change raises a run's `version`; `reported` follows when GitHub shows it."""

    table: ClassVar[sa.Table]
    adapter: TypeAdapter[EventT]

    def __init__(self, database: Database, changes: Changes | None = None) -> None:
        self._database = database
        self.changes = changes or Changes()
        """Notified of what this object writes."""

    @abstractmethod
    def read_row(self, row: Mapping[str, Any]) -> RowT:
        """The run of a row of the table."""

    @abstractmethod
    def fold(self, events: Iterable[EventT]) -> StateT:
        """The state that these events of one run add up to."""

    @abstractmethod
    def changed_by(self, new: Sequence[EventT], status: str) -> Mapping[str, Any]:
        """What these new events change in the row of a run of that status; what has ended stays as it ended."""

    async def get(self, run_id: str) -> RowT | None:
        found = await self._rows(sa.select(self.table).where(self.table.c.id == run_id))
        return found[0] if found else None

    async def unfinished(self) -> tuple[RowT, ...]:
        """Runs that are not final, oldest first."""
        query = sa.select(self.table).where(self.table.c.status.in_(OPEN))
        return await self._rows(query.order_by(self.table.c.created_at, self.table.c.id))

    async def unreported(self) -> tuple[str, ...]:
        """Runs whose latest version GitHub does not show, oldest first."""
        table = self.table
        query = sa.select(table.c.id).where(table.c.reported < table.c.version).order_by(table.c.created_at)
        return tuple(await self._database.read(lambda connection: connection.execute(query).scalars().all()))

    async def reported(self, run_id: str, version: int) -> None:
        table = self.table
        query = sa.update(table).where((table.c.id == run_id) & (table.c.reported < version)).values(reported=version)
        await self._database.write(lambda connection: connection.execute(query) and None)

    async def hold_reports(self, run_id: str) -> None:
        """Nothing more is published of this run, until `Reports.release`: the App may not write where it was."""
        await self.reported(run_id, HELD)

    async def request_cancel(self, run_id: str, because: Reason | ExplainedStop) -> bool:
        """Ask a run to stop; False if it had ended or was asked before."""
        asked = await self._database.write(lambda connection: self._ask_to_stop(connection, run_id, because))
        self.changes.notify()
        return asked

    def _ask_to_stop(self, connection: sa.Connection, run_id: str, because: Reason | ExplainedStop) -> bool:
        table = self.table
        query = sa.update(table).where(table.c.id == run_id, table.c.status.in_(OPEN), table.c.cancel_because.is_(None))
        values = {"cancel_because": because.model_dump_json(), "version": table.c.version + 1}
        return connection.execute(query.values(values)).rowcount > 0

    async def append(self, run_id: str, fresh: Sequence[EventT], made: Sequence[Artifact] = ()) -> None:
        """Append events (and artifacts) in one commit; those whose key is known are left as they were."""
        table = self.table

        def work(connection: sa.Connection) -> None:
            held = sa.select(table.c.repo, table.c.status).where(table.c.id == run_id).with_for_update()
            row = connection.execute(held).one()
            ts = datetime.now(UTC).isoformat(timespec="milliseconds")
            new = [event for event in fresh if _added(connection, event_row(run_id, row.repo, ts, event))]
            for artifact in made:
                put_artifact(connection, artifact)
            if new:
                values = {"version": table.c.version + 1, **self.changed_by(new, row.status)}
                connection.execute(sa.update(table).where(table.c.id == run_id).values(values))

        await self._database.write(work)
        self.changes.notify()

    async def events(self, run_id: str, after: int = 0) -> tuple[EventT, ...]:
        """A run's events in order, those with a larger id than `after`."""
        own = (events.c.session_id == run_id, events.c.key.is_not(None), events.c.id > after)
        query = sa.select(events).where(*own).order_by(events.c.id)  # an agent's tool errors have no key
        rows = await self._database.read(lambda connection: connection.execute(query).mappings().all())
        return tuple(self.adapter.validate_python(event_fields(row)) for row in rows)

    async def state(self, run_id: str) -> StateT:
        """The state of a run, from its events."""
        return self.fold(await self.events(run_id))

    async def _rows(self, query: sa.Select[Any]) -> tuple[RowT, ...]:
        rows = await self._database.read(lambda connection: connection.execute(query).mappings().all())
        return tuple(self.read_row(dict(row)) for row in rows)


def _added(connection: sa.Connection, row: Mapping[str, Any]) -> bool:
    query = insert(connection, events).values(row).on_conflict_do_nothing(index_elements=["session_id", "key"])
    return connection.execute(query.returning(events.c.id)).first() is not None
