"""Converts runs, events and artifacts to and from rows of their tables."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from datetime import UTC, datetime
from typing import Any

import sqlalchemy as sa

from bot.model import Artifact, Model, Phase
from bot.model.events.base import Event
from bot.store.database.tables import artifacts

OPEN = ("queued", "running")
HELD = 2**62
"""The `reported` of a run of which nothing more is published: its reports are held, or GitHub refused the last one."""


def from_json(value: Any) -> Any:
    """The value of a column that stores JSON as text; None for NULL."""
    return json.loads(value) if isinstance(value, str) else value


class JobRow(Model, ABC):
    """The row of a run of either kind. Times are epoch milliseconds."""

    id: str
    status: str
    cancel_because: Any = None
    """The reason of the requested stop, in the type of the kind of run; None if no stop was requested."""
    created_at: int
    ended_at: int | None = None
    version: int
    reported: int

    @property
    def final(self) -> bool:
        """Whether the run has ended."""
        return self.status not in OPEN

    @property
    @abstractmethod
    def place(self) -> str:
        """The repository (`owner/name`) or the path of the working tree that the run works on."""

    @property
    def attended(self) -> bool:
        """Whether the process that created the run also executes it, so that no server may."""
        return False


def event_row(run_id: str, repo: str, ts: str, event: Event) -> dict[str, Any]:
    """The row of `events` for an event of that run."""
    shared = {"phase": event.phase, "iteration": event.iteration, "classification": event.classification}
    data = {**shared, "data": event.data()}
    return {"type": event.type, "ts": ts, "session_id": run_id, "project": repo, "data": data, "key": event.key}


def event_fields(row: Any) -> dict[str, Any]:
    """The fields of the event in a row of `events`, for the validation of its type."""
    shared = dict(row["data"])
    return {"id": row["id"], "type": row["type"], "ts": row["ts"], **shared.pop("data"), **shared}


def put_artifact(connection: sa.Connection, artifact: Artifact) -> None:
    """Store an artifact, in place of an earlier one with the same id."""
    connection.execute(sa.delete(artifacts).where(artifacts.c.id == artifact.id))
    connection.execute(
        sa.insert(artifacts).values(
            id=artifact.id,
            session_id=artifact.session_id,
            phase=artifact.phase,
            iteration=artifact.iteration,
            created_at=int(artifact.created_at.timestamp() * 1000),
            data=artifact.data,
        )
    )


def read_artifact(row: Any) -> Artifact:
    """The artifact in a row of `artifacts`."""
    return Artifact(
        id=row["id"],
        session_id=row["session_id"],
        phase=Phase(row["phase"]),
        iteration=row["iteration"],
        created_at=datetime.fromtimestamp(row["created_at"] / 1000, UTC),
        data=row["data"],
    )
