"""Runs, their events and their artifacts. An event is appended once: its key says what it is about, so that doing
a step again after a crash adds nothing."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import sqlalchemy as sa
from pydantic import Field

from bot.model import Artifact, Classification, Noun, Phase, Repo, RunEvent, Status
from bot.rules.course import RunSpec
from bot.store.database import Database, now_ms
from bot.store.tables import artifacts, candidates, events, run_issues, runs

OPEN = (Status.QUEUED, Status.RUNNING)
_NEVER = 2**62


class Draft(Noun):
    """An event about to be written; `key` is unique within its run."""

    type: str
    key: str
    phase: Phase | None = None
    iteration: int | None = None
    classification: Classification | None = None
    data: dict[str, Any] = Field(default_factory=dict)


class RunRow(Noun):
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


class Runs:
    """The runs of this database. Each change raises a run's `version`; `reported` follows when GitHub was told."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def create(self, run_id: str, spec: RunSpec) -> bool:
        """Make a run and take its issues out of the candidates, in one commit.

        False, and nothing written, if the run exists or an open run holds one of its issues."""
        numbers = [issue.number for issue in spec.issues]
        repo = spec.repo.full_name

        def work(connection: sa.Connection) -> bool:
            exists = connection.execute(sa.select(runs.c.id).where(runs.c.id == run_id)).first()
            if exists or self._holders(connection, repo, numbers):
                return False
            connection.execute(
                sa.insert(runs).values(
                    id=run_id,
                    repo=repo,
                    installation_id=spec.repo.installation_id,
                    status=Status.QUEUED,
                    spec=spec.model_dump(mode="json"),
                    created_at=now_ms(),
                )
            )
            waited = (candidates.c.repo == repo) & candidates.c.issue.in_(numbers)
            since = {row.issue: row.since for row in connection.execute(sa.select(candidates).where(waited))}
            members = [{"repo": repo, "issue": n, "run_id": run_id, "since": since.get(n)} for n in numbers]
            connection.execute(sa.insert(run_issues), members)
            connection.execute(sa.delete(candidates).where(waited))
            return True

        return await self._database.write(work)

    @staticmethod
    def _holders(connection: sa.Connection, repo: str, numbers: Sequence[int]) -> list[str]:
        query = (
            sa.select(runs.c.id)
            .join(run_issues, run_issues.c.run_id == runs.c.id)
            .where(run_issues.c.repo == repo, run_issues.c.issue.in_(numbers), runs.c.status.in_(OPEN))
        )
        return list(connection.execute(query).scalars())

    async def open_run(self, repo: Repo, issue: int) -> tuple[str, datetime | None] | None:
        """The run that works on an issue and since when the issue was labelled, if there is one.

        A run that was asked to stop works on nothing any more: a label put now is meant for the next."""
        query = (
            sa.select(runs.c.id, run_issues.c.since)
            .join(run_issues, run_issues.c.run_id == runs.c.id)
            .where(run_issues.c.repo == repo.full_name, run_issues.c.issue == issue)
            .where(runs.c.status.in_(OPEN), runs.c.cancel_because.is_(None))
        )
        row = await self._database.read(lambda connection: connection.execute(query).first())
        return None if row is None else (row.id, datetime.fromisoformat(row.since) if row.since else None)

    async def latest_of(self, repo: Repo, issue: int) -> str | None:
        """The newest run of an issue, ended or not."""
        query = (
            sa.select(runs.c.id)
            .join(run_issues, run_issues.c.run_id == runs.c.id)
            .where(run_issues.c.repo == repo.full_name, run_issues.c.issue == issue)
            .order_by(runs.c.created_at.desc())
            .limit(1)
        )
        return await self._database.read(lambda connection: connection.execute(query).scalar())

    async def get(self, run_id: str) -> RunRow | None:
        query = sa.select(runs).where(runs.c.id == run_id)
        row = await self._database.read(lambda connection: connection.execute(query).mappings().first())
        return _row(row) if row else None

    async def unfinished(self) -> tuple[RunRow, ...]:
        """Runs that are not final, oldest first."""
        query = sa.select(runs).where(runs.c.status.in_(OPEN)).order_by(runs.c.created_at)
        rows = await self._database.read(lambda connection: connection.execute(query).mappings().all())
        return tuple(_row(row) for row in rows)

    async def all(self, limit: int = 1000) -> tuple[RunRow, ...]:
        """The newest runs, oldest of them first."""
        query = sa.select(runs).order_by(runs.c.created_at.desc()).limit(limit)
        rows = await self._database.read(lambda connection: connection.execute(query).mappings().all())
        return tuple(_row(row) for row in reversed(rows))

    async def unreported(self) -> tuple[str, ...]:
        """Runs of which GitHub has not heard the latest."""
        query = sa.select(runs.c.id).where(runs.c.reported < runs.c.version).order_by(runs.c.created_at)
        return tuple(await self._database.read(lambda connection: connection.execute(query).scalars().all()))

    async def silence(self, run_id: str) -> None:
        """Nothing more is told of this run: the App may no longer speak where it was."""
        await self.reported(run_id, _NEVER)

    async def reported(self, run_id: str, version: int) -> None:
        query = sa.update(runs).where((runs.c.id == run_id) & (runs.c.reported < version)).values(reported=version)
        await self._database.write(lambda connection: connection.execute(query) and None)

    async def claim_branch(self, run_id: str, repo: str, names: Sequence[str]) -> str | None:
        """Give the run the first of `names` that no other run of the repository has; the same again if it has one.

        None where every one of them is taken."""

        def work(connection: sa.Connection) -> str | None:
            own = connection.execute(sa.select(runs.c.branch).where(runs.c.id == run_id)).scalar_one()
            if own:
                return str(own)
            query = sa.select(runs.c.branch).where(runs.c.repo == repo, runs.c.branch.in_(names))
            taken = set(connection.execute(query).scalars())
            branch = next((name for name in names if name not in taken), None)
            connection.execute(sa.update(runs).where(runs.c.id == run_id).values(branch=branch))
            return branch

        return await self._database.write(work)

    async def wait_for(self, run_id: str, what: str | None) -> None:
        """Note what a run waits for (a slot), or that it waits no more; unchanged is no new version."""
        changed = runs.c.waiting_for.is_distinct_from(what)
        query = sa.update(runs).where((runs.c.id == run_id) & changed)
        values = {"waiting_for": what, "version": runs.c.version + 1}
        await self._database.write(lambda connection: connection.execute(query.values(values)) and None)

    async def request_cancel(
        self, run_id: str, because: str, *, released: Sequence[int] = (), quiet_ms: int = 0
    ) -> bool:
        """Ask a run to stop; False if it had ended or was asked before. From the same commit on, those of its issues
        that are `released` wait for another run."""
        query = sa.update(runs).where(runs.c.id == run_id, runs.c.status.in_(OPEN), runs.c.cancel_because.is_(None))
        values = {"cancel_because": because, "version": runs.c.version + 1}

        def work(connection: sa.Connection) -> bool:
            if not connection.execute(query.values(values)).rowcount:
                return False
            _release(connection, run_id, because, released, quiet_ms)
            return True

        return await self._database.write(work)

    async def append(self, run_id: str, drafts: Sequence[Draft], made: Sequence[Artifact] = ()) -> None:
        """Append events (and artifacts) in one commit; those whose key is known are left as they were."""

        def work(connection: sa.Connection) -> None:
            keys = [draft.key for draft in drafts]
            query = sa.select(events.c.key).where(events.c.session_id == run_id, events.c.key.in_(keys))
            known = set(connection.execute(query).scalars())
            row = connection.execute(sa.select(runs.c.repo, runs.c.status).where(runs.c.id == run_id)).one()
            ts = datetime.now(UTC).isoformat(timespec="milliseconds")
            fresh = [draft for draft in drafts if draft.key not in known]
            for draft in fresh:
                connection.execute(sa.insert(events).values(_event_row(run_id, row.repo, ts, draft)))
            for artifact in made:
                _put_artifact(connection, artifact)
            if fresh:
                connection.execute(sa.update(runs).where(runs.c.id == run_id).values(_run_values(fresh, row.status)))

        await self._database.write(work)

    async def events(self, run_id: str, after: int = 0) -> tuple[RunEvent, ...]:
        """A run's events in order, those with a larger id than `after`."""
        query = sa.select(events).where(events.c.session_id == run_id, events.c.id > after).order_by(events.c.id)
        rows = await self._database.read(lambda connection: connection.execute(query).mappings().all())
        return tuple(
            RunEvent(id=row["id"], type=row["type"], ts=datetime.fromisoformat(row["ts"]), **row["data"])
            for row in rows
        )

    async def artifacts(self, run_id: str) -> tuple[Artifact, ...]:
        """A run's artifacts, oldest first."""
        query = (
            sa.select(artifacts)
            .where(artifacts.c.session_id == run_id)
            .order_by(artifacts.c.created_at, artifacts.c.id)
        )
        rows = await self._database.read(lambda connection: connection.execute(query).mappings().all())
        return tuple(
            Artifact(
                id=row["id"],
                session_id=run_id,
                phase=Phase(row["phase"]),
                iteration=row["iteration"],
                created_at=datetime.fromtimestamp(row["created_at"] / 1000, UTC),
                data=row["data"],
            )
            for row in rows
        )


def _row(row: Any) -> RunRow:
    spec = RunSpec.model_validate(row["spec"])
    names = ("id", "status", "branch", "waiting_for", "cancel_because", "created_at", "version", "reported")
    return RunRow(spec=spec, **{name: row[name] for name in names})


def _event_row(run_id: str, repo: str, ts: str, draft: Draft) -> dict[str, Any]:
    data = {
        "phase": draft.phase,
        "iteration": draft.iteration,
        "classification": draft.classification,
        "data": draft.data,
    }
    return {"type": draft.type, "ts": ts, "session_id": run_id, "project": repo, "data": data, "key": draft.key}


def _run_values(fresh: Sequence[Draft], status: str) -> dict[str, Any]:
    values: dict[str, Any] = {"version": runs.c.version + 1, "waiting_for": None}
    if status == Status.QUEUED:
        values["status"] = Status.RUNNING
    for draft in fresh:
        if draft.type == "session_finished":
            values |= {"status": draft.data["status"], "ended_at": now_ms()}
    return values


def _release(connection: sa.Connection, run_id: str, because: str, numbers: Sequence[int], quiet_ms: int) -> None:
    held = connection.execute(
        sa.select(run_issues, runs.c.installation_id)
        .join(runs, runs.c.id == run_issues.c.run_id)
        .where(run_issues.c.run_id == run_id, run_issues.c.issue.in_(numbers))
    ).all()
    now = now_ms()
    for row in held:
        key = {"repo": row.repo, "issue": row.issue}
        connection.execute(sa.delete(candidates).filter_by(**key))
        values = {"labeled_by": because, "first_at": now, "last_at": now, "quiet_ms": quiet_ms, "since": row.since}
        connection.execute(sa.insert(candidates).values(**key, **values, installation_id=row.installation_id))


def _put_artifact(connection: sa.Connection, artifact: Artifact) -> None:
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
