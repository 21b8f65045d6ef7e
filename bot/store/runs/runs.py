"""Fix runs: their issues, branches, artifacts, and the reasons why they wait."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Annotated, Any

import sqlalchemy as sa
from pydantic import BeforeValidator

from bot.model import Artifact, Phase, Repo, RunEvent, Status
from bot.model.events.agents import AgentEnded
from bot.model.events.run_event import RUN_EVENTS, CandidateEvent
from bot.model.events.runs import SessionFinished
from bot.model.reasons import ExplainedStop, Reason
from bot.rules.runs.fold import run_state
from bot.rules.runs.spec import RunSpec
from bot.rules.runs.state import RunState
from bot.store.database.database import Database, now_ms
from bot.store.database.notify import Changes
from bot.store.database.sql import visible_in
from bot.store.database.tables import artifacts, candidates, run_issues, runs
from bot.store.runs.agent_usage import add_usage
from bot.store.runs.job_runs import JobRuns
from bot.store.runs.rows import HELD, OPEN, JobRow, from_json, read_artifact

_GROUPS = sa.select(run_issues.c.run_id).group_by(run_issues.c.run_id).having(sa.func.count() > 1)
"""The ids of the runs of several issues."""


class RunRow(JobRow):
    """A fix run's row."""

    spec: RunSpec
    status: Status
    branch: str | None
    waiting_for: Annotated[Reason | None, BeforeValidator(from_json)]
    cancel_because: Annotated[Reason | None, BeforeValidator(from_json)]

    @property
    def place(self) -> str:
        return self.spec.place

    @property
    def attended(self) -> bool:
        return self.spec.attended


class Runs(JobRuns[RunRow, RunEvent, RunState]):
    """The fix runs of this database."""

    table = runs
    adapter = RUN_EVENTS

    def read_row(self, row: Mapping[str, Any]) -> RunRow:
        return RunRow.model_validate({name: row[name] for name in RunRow.model_fields})

    def fold(self, events: Iterable[RunEvent]) -> RunState:
        return run_state(events)

    def changed_by(self, new: Sequence[RunEvent], status: str) -> Mapping[str, Any]:
        values: dict[str, Any] = {"waiting_for": None}
        if status == Status.QUEUED:
            values["status"] = Status.RUNNING
        for event in new:
            if isinstance(event, SessionFinished):
                values |= {"status": event.status, "ended_at": now_ms()}
        return values

    def count(self, connection: sa.Connection, place: str, run_id: str, now: str, new: Sequence[RunEvent]) -> None:
        for event in new:
            if isinstance(event, AgentEnded):
                add_usage(connection, now[:10], place, run_id, event.agent, event.usage)

    async def create(self, run_id: str, spec: RunSpec) -> bool:
        """Store a new run and delete its issues from the candidates, in one commit.

        Returns False, with nothing written, if the run exists or if an open run has one of its threads."""
        numbers = spec.threads
        repo = spec.place
        holders = sa.select(runs.c.id).join(run_issues, run_issues.c.run_id == runs.c.id)
        holders = holders.where(run_issues.c.repo == repo, run_issues.c.issue.in_(numbers), runs.c.status.in_(OPEN))

        def work(connection: sa.Connection) -> bool:
            exists = connection.execute(sa.select(runs.c.id).where(runs.c.id == run_id)).first()
            if exists or connection.execute(holders).first():
                return False
            connection.execute(
                sa.insert(runs).values(
                    id=run_id,
                    repo=repo,
                    installation_id=spec.repo.installation_id if spec.repo else 0,
                    status=Status.QUEUED,
                    spec=spec.model_dump(mode="json"),
                    created_at=now_ms(),
                    reported=0 if spec.repo else HELD,
                )
            )
            if not numbers:
                return True
            waited = (candidates.c.repo == repo) & candidates.c.issue.in_(numbers)
            rows = {row.issue: row for row in connection.execute(sa.select(candidates).where(waited))}
            connection.execute(sa.insert(run_issues), [_member_values(run_id, spec, n, rows.get(n)) for n in numbers])
            connection.execute(sa.delete(candidates).where(waited))
            return True

        return await self._database.write(work)

    def of_candidate(self, attempt: int, number: int) -> CandidateRuns:
        """The same runs; every event that is appended there is one of that candidate."""
        return CandidateRuns(self._database, self.changes, attempt, number)

    async def open_run(self, repo: Repo, issue: int) -> RunRow | None:
        """The open run of an issue or a pull request; None if there is none.

        A run whose stop was requested is ignored, since a label that is added now is for the next run."""
        query = (
            sa.select(runs)
            .join(run_issues, run_issues.c.run_id == runs.c.id)
            .where(run_issues.c.repo == repo.full_name, run_issues.c.issue == issue)
            .where(runs.c.status.in_(OPEN), runs.c.cancel_because.is_(None))
        )
        return await self._first(query)

    async def labelled_since(self, run_id: str, issue: int) -> datetime | None:
        """The time at which an issue of a run was labelled; None if it is unknown."""
        query = sa.select(run_issues.c.since).where(run_issues.c.run_id == run_id, run_issues.c.issue == issue)
        since = await self._database.value(query)
        return datetime.fromisoformat(since) if since else None

    async def latest_of(self, repo: Repo, issue: int) -> str | None:
        """The id of the newest run of an issue, of any status; None if there is none."""
        query = (
            sa.select(runs.c.id)
            .join(run_issues, run_issues.c.run_id == runs.c.id)
            .where(run_issues.c.repo == repo.full_name, run_issues.c.issue == issue)
            .order_by(runs.c.created_at.desc())
            .limit(1)
        )
        return await self._database.value(query)

    async def of_thread(self, repo: Repo, number: int, *, limit: int) -> tuple[RunRow, ...]:
        """The newest runs of an issue or a pull request; the oldest of them is first."""
        query = sa.select(runs).join(run_issues, run_issues.c.run_id == runs.c.id)
        query = query.where(run_issues.c.repo == repo.full_name, run_issues.c.issue == number)
        ordered = query.order_by(runs.c.created_at.desc(), runs.c.id.desc()).limit(limit)
        return (await self._rows(ordered))[::-1]

    async def asked_by(self, run_id: str) -> tuple[str, ...]:
        """The logins of the people who requested a run, in the order of its issues, without duplicates."""
        query = sa.select(run_issues.c.asked_by).where(run_issues.c.run_id == run_id).order_by(run_issues.c.issue)
        return tuple(dict.fromkeys(login for login in await self._database.column(query) if login))

    async def all(
        self, limit: int = 1000, offset: int = 0, visible: Collection[str] | None = None
    ) -> tuple[RunRow, ...]:
        """The newest runs after the first `offset`; the oldest of them is first.

        `visible` are the repositories whose runs the viewer may see; None stands for all runs."""
        query = sa.select(runs).where(*visible_in(runs.c.repo, "", visible))
        ordered = query.order_by(runs.c.created_at.desc(), runs.c.id.desc()).limit(limit).offset(offset)
        return (await self._rows(ordered))[::-1]

    async def groups(
        self, limit: int, offset: int = 0, *, repo: str = "", visible: Collection[str] | None = None
    ) -> tuple[tuple[RunRow, ...], int]:
        """The runs of several issues after the first `offset`, newest first, and how many there are.

        `repo` is empty for all repositories; `visible` are those that the viewer may see, None stands for all."""
        query = sa.select(runs).where(runs.c.id.in_(_GROUPS), *visible_in(runs.c.repo, repo, visible))
        rows = await self._rows(query.order_by(runs.c.created_at.desc(), runs.c.id).limit(limit).offset(offset))
        return rows, await self._database.value(query.with_only_columns(sa.func.count())) or 0

    async def grouped_repositories(self, visible: Collection[str] | None = None) -> tuple[str, ...]:
        """The repositories with a run of several issues, sorted."""
        query = sa.select(runs.c.repo).distinct().where(runs.c.id.in_(_GROUPS))
        return tuple(sorted(await self._database.column(query.where(*visible_in(runs.c.repo, "", visible)))))

    async def open_in(self, place: str) -> tuple[RunRow, ...]:
        """The runs of a place (see RunSpec) that are not final, oldest first."""
        query = sa.select(runs).where(runs.c.repo == place, runs.c.status.in_(OPEN))
        ordered = query.order_by(runs.c.created_at, runs.c.id)
        return await self._rows(ordered)

    async def ended_in(self, place: str, status: Status, *, limit: int) -> tuple[RunRow, ...]:
        """The newest runs of a place with that final status, newest first."""
        query = sa.select(runs).where(runs.c.repo == place, runs.c.status == status)
        ordered = query.order_by(runs.c.created_at.desc(), runs.c.id).limit(limit)
        return await self._rows(ordered)

    async def claim_branch(self, run_id: str, repo: str, names: Sequence[str]) -> str | None:
        """Give the run the first of these branch names that no other run of the repository has, and return it.

        A run that has a branch keeps it. Returns None if all names are taken."""

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

    async def wait_for(self, run_id: str, reason: Reason | None) -> None:
        """Store why a run waits; None if it no longer does. The version increases only if that changes."""
        waiting_for = reason.model_dump_json() if reason is not None else None
        query = sa.update(runs).where(runs.c.id == run_id, runs.c.waiting_for.is_distinct_from(waiting_for))
        await self._database.change(query.values(waiting_for=waiting_for, version=runs.c.version + 1))

    async def request_cancel(
        self, run_id: str, because: Reason | ExplainedStop, *, released: Sequence[int] = (), quiet_ms: int = 0
    ) -> bool:
        """Request that a run stops; returns False if it has ended or if that was requested before. In the same commit,
        those of its issues that are `released` become candidates for another run."""

        def work(connection: sa.Connection) -> bool:
            if not self._set_cancel(connection, run_id, because):
                return False
            _release(connection, run_id, released, quiet_ms)
            return True

        is_requested = await self._database.write(work)
        self.changes.notify()
        return is_requested

    async def artifacts(self, run_id: str) -> tuple[Artifact, ...]:
        """The artifacts of a run by time, then in the order of the phases."""
        query = sa.select(artifacts).where(artifacts.c.session_id == run_id)
        rows = await self._database.read(lambda connection: connection.execute(query).mappings().all())
        phases = list(Phase)
        items = map(read_artifact, rows)
        return tuple(sorted(items, key=lambda item: (item.created_at, phases.index(item.phase), item.iteration or 0)))


class CandidateRuns(Runs):
    """The runs as the effects on one candidate of an attempt see them."""

    def __init__(self, database: Database, changes: Changes, attempt: int, number: int) -> None:
        super().__init__(database, changes)
        self._attempt, self._number = attempt, number

    async def append(self, run_id: str, events: Sequence[RunEvent], artifacts: Sequence[Artifact] = ()) -> None:
        """Append the events as those of the candidate, with the artifacts, in one commit.

        What a model used is the run's own, whatever becomes of the candidate."""
        at = {"iteration": self._attempt, "candidate": self._number}
        wrapped = [
            event if isinstance(event, AgentEnded) else CandidateEvent.model_validate({**at, "event": event})
            for event in events
        ]
        await super().append(run_id, wrapped, artifacts)


def _release(connection: sa.Connection, run_id: str, numbers: Sequence[int], quiet_ms: int) -> None:
    """Make these issues of a run candidates again."""
    rows = connection.execute(
        sa.select(run_issues, runs.c.installation_id)
        .join(runs, runs.c.id == run_issues.c.run_id)
        .where(run_issues.c.run_id == run_id, run_issues.c.issue.in_(numbers))
    ).all()
    now = now_ms()
    for row in rows:
        key = {"repo": row.repo, "issue": row.issue}
        connection.execute(sa.delete(candidates).filter_by(**key))
        values = {"first_at": now, "last_at": now, "quiet_ms": quiet_ms, "since": row.since}
        values["asked_by"] = row.asked_by
        connection.execute(sa.insert(candidates).values(**key, **values, installation_id=row.installation_id))


def _member_values(run_id: str, spec: RunSpec, number: int, candidate: Any | None) -> dict[str, Any]:
    """The row of an issue in `run_issues`, with the values of its row in `candidates`, if it has one."""
    asked_by = spec.asked_by or (candidate.asked_by if candidate is not None else None)
    since = candidate.since if candidate is not None else None
    return {"repo": spec.place, "issue": number, "run_id": run_id, "since": since, "asked_by": asked_by}
