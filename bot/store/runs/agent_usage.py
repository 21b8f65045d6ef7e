"""What agents and models used: by day, repository, run and agent, for budgets, pages and metrics.

A row is changed in the commit that stores the event of an agent's answer, so events and sums never differ. Many
workers may add at once."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import sqlalchemy as sa

from bot.model import Model, Usage
from bot.model.agents import Spent, SpentSoFar
from bot.store.database.database import Database
from bot.store.database.sql import insert, iso_now, sound
from bot.store.database.tables import agent_usage as table

_MICROS = 1_000_000
_NUMBERS = ("calls", "duration_ms", "input_tokens", "output_tokens", "unpriced_tokens", "cost_micros", "uncounted")
_SPENT = (
    sa.func.sum(table.c.input_tokens + table.c.output_tokens).label("tokens"),
    sa.func.sum(table.c.unpriced_tokens).label("unpriced_tokens"),
    sa.func.sum(table.c.cost_micros).label("cost_micros"),
)


class AgentFigures(Model):
    """What one agent used since the first run. `uncounted` calls named neither tokens nor cost."""

    agent: str
    calls: int
    uncounted: int
    input_tokens: int
    output_tokens: int
    cost_usd: float
    seconds: float


def utc_day() -> str:
    """The present day in UTC, as rows have it."""
    return iso_now()[:10]


def add_usage(connection: sa.Connection, day: str, place: str, run_id: str, agent: str, usage: Usage) -> None:
    """Add what a call used to its row, within the transaction of the connection."""
    values = {
        "calls": 1,
        "duration_ms": usage.duration_ms,
        "input_tokens": usage.input_tokens or 0,
        "output_tokens": usage.output_tokens or 0,
        "unpriced_tokens": (usage.tokens or 0) if usage.cost_usd is None else 0,
        "cost_micros": round((usage.cost_usd or 0) * _MICROS),
        "uncounted": int(usage.tokens is None and usage.cost_usd is None),
    }
    _add(connection, {"day": day, "repo": place, "run_id": run_id, "agent": sound(agent)}, values)


def _add(connection: sa.Connection, key: dict[str, str], values: dict[str, int]) -> None:
    query = insert(connection, table).values({**key, **values})
    sums: dict[str, Any] = {name: table.c[name] + query.excluded[name] for name in values}
    connection.execute(query.on_conflict_do_update(index_elements=list(key), set_=sums))


class AgentUsage:
    """Reads what was used."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def spent(self, day: str, place: str, run_id: str) -> SpentSoFar:
        """What a run used in all, and what all runs of its place and of this database used on that day (UTC)."""
        today = table.c.day == day
        conditions = (table.c.run_id == run_id, today & (table.c.repo == place), today)

        def work(connection: sa.Connection) -> list[Spent]:
            return [_spent(connection.execute(sa.select(*_SPENT).where(where)).one()._mapping) for where in conditions]

        run, here, all_runs = await self._database.read(work)
        return SpentSoFar(run=run, place_day=here, day=all_runs)

    async def day(self, day: str, places: Collection[str] | None = None) -> Spent:
        """What was used on that day (UTC) in these places, in lower case; None means all."""
        query = sa.select(*_SPENT).where(table.c.day == day)
        if places is not None:
            query = query.where(sa.func.lower(table.c.repo).in_(sorted(places)))
        row = await self._database.first(query)
        assert row is not None
        return _spent(row._mapping)

    async def agents(self) -> tuple[AgentFigures, ...]:
        """The sums of each agent."""
        sums = [sa.func.sum(table.c[name]).label(name) for name in _NUMBERS]
        rows = await self._database.all(sa.select(table.c.agent, *sums).group_by(table.c.agent).order_by(table.c.agent))
        return tuple(_figures(row) for row in rows)

    async def merge(self, before: str) -> int:
        """Replace the rows of the days before that one by one row for each agent; returns how many were replaced."""
        old = (table.c.day < before) & (table.c.day != "")
        sums = [sa.func.sum(table.c[name]).label(name) for name in _NUMBERS]

        def work(connection: sa.Connection) -> int:
            rows: Sequence[sa.Row[Any]] = connection.execute(
                sa.select(table.c.agent, *sums).where(old).group_by(table.c.agent)
            ).all()
            for row in rows:
                values = {name: int(getattr(row, name)) for name in _NUMBERS}
                _add(connection, {"day": "", "repo": "", "run_id": "", "agent": row.agent}, values)
            return connection.execute(sa.delete(table).where(old)).rowcount

        return await self._database.write(work)


def _spent(row: Mapping[Any, Any]) -> Spent:
    return Spent(
        tokens=int(row["tokens"] or 0),
        unpriced_tokens=int(row["unpriced_tokens"] or 0),
        cost_usd=int(row["cost_micros"] or 0) / _MICROS,
    )


def _figures(row: sa.Row[Any]) -> AgentFigures:
    return AgentFigures(
        agent=row.agent,
        calls=int(row.calls),
        uncounted=int(row.uncounted),
        input_tokens=int(row.input_tokens),
        output_tokens=int(row.output_tokens),
        cost_usd=int(row.cost_micros) / _MICROS,
        seconds=int(row.duration_ms) / 1000,
    )
