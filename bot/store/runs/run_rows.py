"""A run's row, its events and its artifacts as the tables hold them, and how they are written there."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import sqlalchemy as sa

from bot.model import Artifact, Model, Phase, RunEvent, Status
from bot.model.events import Event
from bot.model.run_events import SessionFinished
from bot.rules.runs.spec import RunSpec
from bot.store.database.database import now_ms
from bot.store.database.tables import artifacts, runs

HELD = 2**62
"""The `reported` of a row of which nothing more is told: it is silenced, or GitHub refused its last word."""


class RunRow(Model):
    """A run's row: what it was asked, and what the outside wants of it."""

    id: str
    spec: RunSpec
    status: Status
    branch: str | None
    waiting_for: str | None
    cancel_because: str | None
    created_at: int
    version: int
    reported: int


def read_row(row: Any) -> RunRow:
    spec = RunSpec.model_validate(row["spec"])
    names = ("id", "status", "branch", "waiting_for", "cancel_because", "created_at", "version", "reported")
    return RunRow(spec=spec, **{name: row[name] for name in names})


def member_values(run_id: str, spec: RunSpec, number: int, candidate: Any | None) -> dict[str, Any]:
    """An issue's row in `run_issues`, with what its row in `candidates` says, where it has one."""
    asked_by = spec.asked_by or (candidate.asked_by if candidate is not None else None)
    since = candidate.since if candidate is not None else None
    return {"repo": spec.place, "issue": number, "run_id": run_id, "since": since, "asked_by": asked_by}


def event_row(run_id: str, repo: str, ts: str, event: Event) -> dict[str, Any]:
    """The row of `events` that keeps an event of that run."""
    shared = {"phase": event.phase, "iteration": event.iteration, "classification": event.classification}
    data = {**shared, "data": event.data()}
    return {"type": event.type, "ts": ts, "session_id": run_id, "project": repo, "data": data, "key": event.key}


def event_fields(row: Any) -> dict[str, Any]:
    """What a row of `events` holds, as the type of its event reads it."""
    kept = dict(row["data"])
    return {"id": row["id"], "type": row["type"], "ts": row["ts"], **kept.pop("data"), **kept}


def run_values(fresh: Sequence[RunEvent], status: str) -> dict[str, Any]:
    values: dict[str, Any] = {"version": runs.c.version + 1, "waiting_for": None}
    if status == Status.QUEUED:
        values["status"] = Status.RUNNING
    for event in fresh:
        if isinstance(event, SessionFinished):
            values |= {"status": event.status, "ended_at": now_ms()}
    return values


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
