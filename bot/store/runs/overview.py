"""The runs of both kinds as lines of a list, for the dashboard: newest first, by status, with a limit.

Each query reads one index and the rows that it shows, so its time does not grow with the number of stored runs."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Annotated, Any, Literal

import sqlalchemy as sa
from pydantic import BeforeValidator

from bot.model import Model
from bot.model.pulls import CheckStatus
from bot.model.reasons import Reason
from bot.store.database.database import Database
from bot.store.database.tables import candidates, events, pull_runs, runs
from bot.store.runs.rows import from_json

RunKind = Literal["fix", "session", "pull"]
_TITLE = 200


class RunLine(Model):
    """One run in a list. Times are epoch milliseconds; `numbers` are those of its issues or its pull request."""

    id: str
    kind: RunKind
    place: str
    numbers: tuple[int, ...] = ()
    title: str
    status: str
    waiting_for: Annotated[Reason | None, BeforeValidator(from_json)] = None
    branch: str | None = None
    proof: str | None = None
    """The level of proof of a run that succeeded."""
    checks: tuple[CheckStatus, ...] = ()
    """The checks of a pull check that has ended, with the failures of each."""
    superseded: bool = False
    """Whether its pull request was checked again later."""
    created_at: int
    ended_at: int | None = None

    @property
    def outcome(self) -> str:
        """The status; of a success the level of proof, of an ended pull check what its checks found.

        It is `superseded` for an ended pull check that is not the newest of its pull request."""
        if self.status == "success" and self.proof:
            return self.proof
        if self.superseded and self.status == "done":
            return "superseded"
        return ended_outcome(self.status, self.checks)


def ended_outcome(status: str, checks: Iterable[CheckStatus]) -> str:
    """The status of a run; of an ended pull check `passed`, `existing_failures` or `new_failures`."""
    if status != "done":
        return status
    conclusions = {check.conclusion for check in checks}
    if conclusions & {"failure", "timed_out"}:
        return "new_failures"
    return "existing_failures" if "neutral" in conclusions else "passed"


class Overview:
    """Reads lists of runs. `places` limits them to these repositories, in lower case; None means all."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def counts(self, places: Collection[str] | None = None) -> Mapping[str, Mapping[str, int]]:
        """How many runs of each table (`runs`, `pull_runs`) have each status."""
        found: dict[str, Mapping[str, int]] = {}
        for table in (runs, pull_runs):
            query = sa.select(table.c.status, sa.func.count().label("number")).group_by(table.c.status)
            rows: Sequence[sa.Row[Any]] = await self._database.all(_within(query, table, places))
            found[table.name] = {row.status: row.number for row in rows}
        return found

    async def fix_runs(
        self, statuses: Sequence[str], limit: int, places: Collection[str] | None = None
    ) -> tuple[RunLine, ...]:
        """The newest fix runs and sessions with one of these statuses."""
        rows = await self._newest(runs, statuses, limit, places)
        proofs = await self._proofs([row["id"] for row in rows if row["status"] == "success"])
        return tuple(_fix_line(row, proofs.get(row["id"])) for row in rows)

    async def pull_checks(
        self, statuses: Sequence[str], limit: int, places: Collection[str] | None = None
    ) -> tuple[RunLine, ...]:
        """The newest pull checks with one of these statuses."""
        rows = await self._newest(pull_runs, statuses, limit, places)
        ids = [row["id"] for row in rows]
        judged, older = await self._judged(ids), await self._superseded(ids)
        lines = (_pull_line(row, judged.get(row["id"], ())) for row in rows)
        return tuple(line.model_copy(update={"superseded": line.id in older}) for line in lines)

    async def slots(self, places: Collection[str] | None = None, limit: int = 50) -> tuple[tuple[str, int], ...]:
        """How many worktrees the running fix runs of each repository use; the repository with most is first."""
        used = sa.func.count().label("used")
        query = sa.select(runs.c.repo, used).where(runs.c.status == "running", runs.c.waiting_for.is_(None))
        query = query.where(runs.c.installation_id != 0).group_by(runs.c.repo).order_by(used.desc()).limit(limit)
        return tuple((row.repo, row.used) for row in await self._database.all(_within(query, runs, places)))

    async def candidates(self, places: Collection[str] | None = None) -> int:
        """How many labelled issues wait for the end of their quiet period."""
        query = sa.select(sa.func.count()).select_from(candidates)
        return await self._database.value(_within(query, candidates, places)) or 0

    async def _newest(
        self, table: sa.Table, statuses: Sequence[str], limit: int, places: Collection[str] | None
    ) -> list[Mapping[str, Any]]:
        # one status after the other, as the index then gives the order, and only the rows that are wanted are read
        rows: list[Mapping[str, Any]] = []
        for status in statuses:
            query = sa.select(table).where(table.c.status == status)
            ordered = query.order_by(table.c.created_at.desc()).limit(limit)
            found = await self._database.all(_within(ordered, table, places))
            rows += [dict(row._mapping) for row in found]
        rows.sort(key=lambda row: (row["created_at"], row["id"]), reverse=True)
        return rows[:limit]

    async def _proofs(self, ids: Sequence[str]) -> Mapping[str, str]:
        query = sa.select(events.c.session_id, events.c.data)
        query = query.where(events.c.session_id.in_(ids), events.c.key == "session_finished")
        rows = await self._database.all(query) if ids else ()
        return {row.session_id: row.data["data"].get("proof") for row in rows}

    async def _superseded(self, ids: Sequence[str]) -> frozenset[str]:
        """Those of the pull checks after which their pull request got a newer one. Groups of a merge queue get none."""
        newer = pull_runs.alias()
        again = sa.select(newer.c.id).where(
            newer.c.repo == pull_runs.c.repo,
            newer.c.number == pull_runs.c.number,
            newer.c.created_at > pull_runs.c.created_at,
            # a cancelled re-run leaves the result of the same commit as it is
            sa.or_(newer.c.head_sha != pull_runs.c.head_sha, newer.c.status != "cancelled"),
        )
        query = sa.select(pull_runs.c.id).where(pull_runs.c.id.in_(ids), pull_runs.c.number != 0, again.exists())
        return frozenset(await self._database.column(query)) if ids else frozenset()

    async def _judged(self, ids: Sequence[str]) -> Mapping[str, tuple[CheckStatus, ...]]:
        query = sa.select(events.c.session_id, events.c.data)
        query = query.where(events.c.session_id.in_(ids), events.c.type == "pull_check_judged").order_by(events.c.id)
        found: dict[str, tuple[CheckStatus, ...]] = {}
        for row in await self._database.all(query) if ids else ():
            check = CheckStatus.model_validate(row.data["data"]["check"])
            found[row.session_id] = (*found.get(row.session_id, ()), check)
        return found


def _within(query: sa.Select[Any], table: sa.Table, places: Collection[str] | None) -> sa.Select[Any]:
    return query if places is None else query.where(sa.func.lower(table.c.repo).in_(sorted(places)))


def _fix_line(row: Mapping[str, Any], proof: str | None) -> RunLine:
    spec = _spec(row)
    issues = spec.get("issues") or ()
    title = issues[0]["title"] if issues else (spec.get("goal", "").strip().splitlines() or [""])[0]
    pull = spec.get("pull")
    numbers = (pull["number"],) if pull else tuple(issue["number"] for issue in issues)
    return RunLine(
        id=row["id"],
        kind="fix" if issues or pull else "session",
        place=row["repo"],
        numbers=numbers,
        title=title[:_TITLE],
        status=row["status"],
        waiting_for=row["waiting_for"],
        branch=row["branch"],
        proof=proof,
        created_at=row["created_at"],
        ended_at=row["ended_at"],
    )


def _pull_line(row: Mapping[str, Any], checks: tuple[CheckStatus, ...]) -> RunLine:
    spec = _spec(row)
    return RunLine(
        id=row["id"],
        kind="pull",
        place=row["repo"],
        numbers=(row["number"],) if row["number"] else (),
        title=(spec.get("title") or row["head_sha"])[:_TITLE],
        status=row["status"],
        checks=checks,
        created_at=row["created_at"],
        ended_at=row["ended_at"],
    )


def _spec(row: Mapping[str, Any]) -> Mapping[str, Any]:
    spec = row["spec"]
    return json.loads(spec) if isinstance(spec, str) else spec  # type: ignore[no-any-return]
