"""Runs, their events and their artifacts as the tables hold them, and how they are written there."""

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
"""The `reported` of a row of which nothing more is told: it is silenced, or GitHub refused its last word."""


def from_json(value: Any) -> Any:
    """A column that keeps JSON as text, as values; NULL stays None."""
    return json.loads(value) if isinstance(value, str) else value


class JobRow(Model, ABC):
    """A run's row, of either kind: what the outside wants of it. Times are epoch milliseconds."""

    id: str
    status: str
    cancel_because: Any = None
    """Why it is to stop, as the kind of run has it; None where nobody asked."""
    created_at: int
    ended_at: int | None = None
    version: int
    reported: int

    @property
    def final(self) -> bool:
        return self.status not in OPEN

    @property
    @abstractmethod
    def place(self) -> str:
        """Where it works: `owner/name`, or the path of a tree."""

    @property
    def attended(self) -> bool:
        """Whether the process that made it works on it, so no server takes it up."""
        return False


def event_row(run_id: str, repo: str, ts: str, event: Event) -> dict[str, Any]:
    """The row of `events` that keeps an event of that run."""
    shared = {"phase": event.phase, "iteration": event.iteration, "classification": event.classification}
    data = {**shared, "data": event.data()}
    return {"type": event.type, "ts": ts, "session_id": run_id, "project": repo, "data": data, "key": event.key}


def event_fields(row: Any) -> dict[str, Any]:
    """What a row of `events` holds, as the type of its event reads it."""
    kept = dict(row["data"])
    return {"id": row["id"], "type": row["type"], "ts": row["ts"], **kept.pop("data"), **kept}


def put_artifact(connection: sa.Connection, artifact: Artifact) -> None:
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
    """The artifact of a row of `artifacts`."""
    return Artifact(
        id=row["id"],
        session_id=row["session_id"],
        phase=Phase(row["phase"]),
        iteration=row["iteration"],
        created_at=datetime.fromtimestamp(row["created_at"] / 1000, UTC),
        data=row["data"],
    )
