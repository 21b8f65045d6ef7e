"""What agents used, as sums in the database: right with many workers, and the same after a restart."""

from __future__ import annotations

import asyncio
from pathlib import Path

from bot.model import Phase, Usage
from bot.model.agents import Spent, SpentSoFar
from bot.model.events.agents import AgentEnded
from bot.store.database.database import Database
from bot.store.database.sql import iso_now
from bot.store.runs.agent_usage import AgentUsage, add_usage
from bot.store.runs.runs import Runs
from tests.store.databases import run, together
from tests.web.pages.stored_runs import issue_spec

PRICED = Usage(duration_ms=1_500, input_tokens=10, output_tokens=1, cost_usd=0.25)
UNPRICED = Usage(duration_ms=500, input_tokens=20, output_tokens=2)
UNKNOWN = Usage(duration_ms=250)


def ended(agent: str, usage: Usage, call: str) -> AgentEnded:
    return AgentEnded(phase=Phase.IMPLEMENTATION, iteration=1, agent=agent, usage=usage, call=call)


async def test_the_answer_of_an_agent_counts_once_for_its_run_its_repository_and_the_day(tmp_path: Path) -> None:
    """REQ-RUN-008."""

    async def work(database: Database) -> None:
        runs = Runs(database)
        assert await runs.create("run-1", issue_spec(1, "One"))
        for event in (ended("llm:a", PRICED, "x"), ended("llm:a", PRICED, "x"), ended("codex", UNPRICED, "y")):
            await runs.append("run-1", [event])

    async def read(database: Database) -> SpentSoFar:
        return await AgentUsage(database).spent(iso_now()[:10], "octo/pocket", "run-1")

    await run(tmp_path, work)
    used = Spent(tokens=33, unpriced_tokens=22, cost_usd=0.25)
    assert await run(tmp_path, read) == SpentSoFar(run=used, place_day=used, day=used)


async def add(database: Database, day: str, place: str, run_id: str, usage: Usage) -> None:
    await database.write(lambda connection: add_usage(connection, day, place, run_id, "a", usage))


async def test_two_processes_add_to_the_same_row(tmp_path: Path) -> None:
    async def work(one: Database, two: Database) -> Spent:
        adds = (add(database, "2026-01-02", "o/a", "run-1", PRICED) for database in (one, two) * 20)
        await asyncio.gather(*adds)
        return await AgentUsage(one).day("2026-01-02")

    assert await together(tmp_path, work) == Spent(tokens=440, cost_usd=10.0)


async def test_a_run_goes_on_over_midnight_and_repositories_have_days_of_their_own(tmp_path: Path) -> None:
    """REQ-RUN-008."""

    async def work(database: Database) -> None:
        usage = AgentUsage(database)
        await add(database, "2026-01-01", "o/a", "run-1", PRICED)
        await add(database, "2026-01-02", "o/a", "run-1", UNPRICED)
        await add(database, "2026-01-02", "O/B", "run-2", PRICED)
        spent = await usage.spent("2026-01-02", "o/a", "run-1")
        assert spent.run == Spent(tokens=33, unpriced_tokens=22, cost_usd=0.25)
        assert spent.place_day == Spent(tokens=22, unpriced_tokens=22)
        assert spent.day == Spent(tokens=33, unpriced_tokens=22, cost_usd=0.25)
        assert await usage.day("2026-01-02", ["o/b"]) == Spent(tokens=11, cost_usd=0.25)
        assert await usage.day("2026-01-03") == Spent()

    await run(tmp_path, work)


async def test_the_sums_of_an_agent_stay_when_old_days_are_merged(tmp_path: Path) -> None:
    async def work(database: Database) -> None:
        usage = AgentUsage(database)
        for day, used in (("2026-01-01", PRICED), ("2026-01-02", UNKNOWN), ("2026-01-03", UNPRICED)):
            await add(database, day, "o/a", f"run-{day}", used)
        (before,) = await usage.agents()
        assert (before.calls, before.uncounted, before.input_tokens, before.output_tokens) == (3, 1, 30, 3)
        assert (before.cost_usd, before.seconds) == (0.25, 2.25)
        assert [await usage.merge("2026-01-03"), await usage.merge("2026-01-03")] == [2, 0]
        assert await usage.agents() == (before,)
        assert await usage.day("2026-01-01") == Spent()
        assert await usage.day("2026-01-03") == Spent(tokens=22, unpriced_tokens=22)

    await run(tmp_path, work)
