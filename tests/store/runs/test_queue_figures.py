"""How much waits in each queue, and since when."""

from __future__ import annotations

from pathlib import Path

from bot.model import Repo
from bot.rules.runs.spec import RunSpec
from bot.store.database.database import Database
from bot.store.inbox.candidates import Candidates, QueuedIssue
from bot.store.inbox.deliveries import Deliveries, Delivery, Inbox
from bot.store.runs.queue_figures import QueueFigures, QueueStatistics
from bot.store.runs.runs import Runs
from tests.store.databases import plans, run

REPO = Repo(owner="octo", name="pocket", installation_id=7)


async def _fill(database: Database) -> None:
    inbox = Inbox(database)
    for number in range(3):
        await inbox.accept(Delivery(id=f"d{number}", event="issues", payload=b"{}", received_at=1000 + number))
    (taken,) = await Deliveries(database).take(1)
    assert taken.id == "d0"
    await Candidates(database).add(QueuedIssue(repo=REPO, issue=4, at=500, quiet_ms=10))
    await Runs(database).create("run-1", RunSpec(repo=REPO, suggested_branch="fix/a", base_branch="main", agents=()))


async def test_each_queue_has_its_depth_and_its_oldest_row(tmp_path: Path) -> None:
    async def work(database: Database) -> dict[str, QueueFigures]:
        empty = await QueueStatistics(database).read()
        assert set(empty.values()) == {QueueFigures(depth=0, oldest_at=None)}
        await _fill(database)
        return await QueueStatistics(database).read()

    figures = await run(tmp_path, work)
    assert figures["deliveries"] == QueueFigures(depth=2, oldest_at=1001)
    assert figures["deliveries_processing"] == QueueFigures(depth=1, oldest_at=1000)
    assert figures["candidates"] == QueueFigures(depth=1, oldest_at=500)
    depths = {name: one.depth for name, one in figures.items()}
    assert (depths["fix_queued"], depths["fix_running"], depths["fix_reports"]) == (1, 0, 1)


async def test_no_query_reads_a_whole_table_of_ended_rows(tmp_path: Path) -> None:
    async def work(database: Database) -> None:
        await QueueStatistics(database).read()

    found = await plans(tmp_path, work)
    assert found
    assert not [plan for plan in found if "SCAN" in plan and "USING" not in plan and "candidates" not in plan]
