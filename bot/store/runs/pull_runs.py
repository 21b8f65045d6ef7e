"""Pull checks: runs that execute the checks on the heads of pull requests.

A unique index of the table allows only one active run of each head."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated, Any

import sqlalchemy as sa
from pydantic import BeforeValidator

from bot.model import Repo
from bot.model.events.pull_checks import PULL_CHECK_EVENTS, PullCheckEvent, PullFinished, PullStarted
from bot.model.pulls import PullStatus
from bot.model.reasons import ExplainedStop
from bot.rules.pulls.check_spec import PullCheckSpec
from bot.rules.pulls.check_state import PullCheckState, pull_check_state
from bot.store.database.database import now_ms
from bot.store.database.sql import insert
from bot.store.database.tables import pull_runs as table
from bot.store.runs.job_runs import JobRuns
from bot.store.runs.rows import OPEN, JobRow, from_json


class PullCheckRow(JobRow):
    """A pull check's row."""

    spec: PullCheckSpec
    status: PullStatus
    cancel_because: Annotated[ExplainedStop | None, BeforeValidator(from_json)]

    @property
    def place(self) -> str:
        return self.spec.repo.full_name


class PullRuns(JobRuns[PullCheckRow, PullCheckEvent, PullCheckState]):
    """The pull checks of this database. The event `pull_started` makes a queued run `running`; `pull_finished` ends
    it."""

    table = table
    adapter = PULL_CHECK_EVENTS

    def read_row(self, row: Mapping[str, Any]) -> PullCheckRow:
        return PullCheckRow.model_validate({name: row[name] for name in PullCheckRow.model_fields})

    def fold(self, events: Iterable[PullCheckEvent]) -> PullCheckState:
        return pull_check_state(events)

    def changed_by(self, new: Sequence[PullCheckEvent], status: str) -> Mapping[str, Any]:
        values: dict[str, Any] = {}
        for event in new:
            if isinstance(event, PullStarted) and status == "queued":
                status = values["status"] = "running"
            elif isinstance(event, PullFinished) and status in OPEN:
                status = values["status"] = event.status
                values["ended_at"] = now_ms()
        return values

    async def create(self, run_id: str, spec: PullCheckSpec) -> bool:
        """Store a new run of checks. Returns False, with nothing written, if that id exists, or if the head has an open
        run whose stop was not requested."""
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
            # later than all other runs of this pull request, even if the clock stands still or goes back
            at = max(now_ms(), (connection.execute(latest).scalar() or 0) + 1)
            query = insert(connection, table).values(**values, created_at=at).on_conflict_do_nothing()
            return connection.execute(query.returning(table.c.id)).first() is not None

        return await self._database.write(work)

    async def open_of(self, repo: Repo, number: int) -> tuple[PullCheckRow, ...]:
        """The runs of a pull request that are not final, oldest first, including those that were requested to stop."""
        query = sa.select(table).where(_of(repo, number), table.c.status.in_(OPEN))
        return await self._rows(query.order_by(table.c.created_at))

    async def latest_of(self, repo: Repo, number: int, head_sha: str | None = None) -> PullCheckRow | None:
        """The newest run of a pull request, or of one of its heads, of any status; None if there is none."""
        query = sa.select(table).where(_of(repo, number, head_sha))
        return await self._first(query.order_by(table.c.created_at.desc()).limit(1))

    async def count_of(self, repo: Repo, number: int, head_sha: str) -> int:
        """How many runs of this head are stored, of any status."""
        query = sa.select(sa.func.count()).select_from(table).where(_of(repo, number, head_sha))
        return await self._database.value(query) or 0


def _of(repo: Repo, number: int, head_sha: str | None = None) -> sa.ColumnElement[bool]:
    pull = (table.c.repo == repo.full_name) & (table.c.number == number)
    return pull if head_sha is None else pull & (table.c.head_sha == head_sha)
