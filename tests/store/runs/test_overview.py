"""Runs of both kinds as lines: newest first, by status, without those of other repositories."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import pytest

from bot.model import Repo, ValidationStep
from bot.model.events.pull_checks import PullCheckJudged, PullFinished
from bot.model.pulls import CheckStatus
from bot.rules.pulls.check_spec import PullCheckSpec
from bot.store.database.database import Database
from bot.store.inbox.candidates import Candidates, QueuedIssue
from bot.store.runs.overview import Overview
from bot.store.runs.pull_runs import PullRuns
from bot.store.runs.runs import Runs
from tests.web.pages.stored_runs import REPO, fill, issue_spec


@pytest.fixture
async def database(tmp_path: Path) -> Database:
    database = Database(f"sqlite:///{tmp_path / 'mendbot.db'}")
    database.migrate()
    await fill(database)
    return database


async def test_lines_tell_what_each_run_is_and_came_to(database: Database) -> None:
    overview = Overview(database)
    (waits,) = await overview.fix_runs(["queued"], 10)
    assert (waits.id, waits.kind, waits.place, waits.numbers) == ("waits", "fix", "octo/pocket", (1,))
    assert waits.waiting_for is not None and waits.waiting_for.kind == "wait.paused"
    running = {line.id: line for line in await overview.fix_runs(["running"], 10)}
    assert (running["session"].kind, running["session"].title, running["session"].numbers) == (
        "session",
        "Round up",
        (),
    )
    (fixed,) = await overview.fix_runs(["success"], 10)
    assert fixed.outcome == "proven" and fixed.ended_at is not None
    assert {line.id: line.outcome for line in await overview.pull_checks(["done"], 10)} == {
        "red": "superseded",
        "green": "passed",
    }


async def test_the_newest_come_first_and_no_more_than_wanted(database: Database) -> None:
    runs = Runs(database)
    for number in range(20, 25):
        await runs.create(f"late-{number}", issue_spec(number, "Late"))
    found = await Overview(database).fix_runs(["queued", "failed"], 3)
    assert len(found) == 3
    times = [line.created_at for line in found]
    assert times == sorted(times, reverse=True) and all(line.id.startswith("late") for line in found)


async def test_counts_slots_and_candidates_are_of_the_wanted_repositories(database: Database) -> None:
    overview = Overview(database)
    other = Repo(owner="Octo", name="Other", installation_id=1)
    await Runs(database).create("elsewhere", issue_spec(9, "Elsewhere", other))
    await Candidates(database).add(QueuedIssue(repo=REPO, issue=99, at=1, quiet_ms=1))
    counts = await overview.counts()
    assert counts["runs"] == {"queued": 2, "running": 2, "failed": 1, "success": 1, "cancelled": 1}
    assert counts["pull_runs"] == {"done": 2}
    assert (await overview.counts(["octo/other"]))["runs"] == {"queued": 1}
    assert [line.id for line in await overview.fix_runs(["queued"], 9, ["octo/other"])] == ["elsewhere"]
    assert await overview.pull_checks(["done"], 9, []) == ()
    assert await overview.slots() == (("octo/pocket", 1),)
    assert await overview.slots(["octo/other"]) == ()
    assert (await overview.candidates(), await overview.candidates(["octo/other"])) == (1, 0)


async def test_lists_are_read_by_index(database: Database) -> None:
    """A sort of all runs of a status would grow with their number."""
    async with database.async_reads():
        for table in ("runs", "pull_runs"):
            plan = await database.read(
                lambda connection, table=table: connection.exec_driver_sql(
                    f"EXPLAIN QUERY PLAN SELECT * FROM {table} WHERE status = 'x' ORDER BY created_at DESC LIMIT 9"
                ).all()
            )
            assert "USING INDEX" in str(plan) and "TEMP B-TREE" not in str(plan)


async def test_an_older_check_of_a_pull_request_is_superseded(database: Database) -> None:
    """REQ-RUN-009: a newer commit of the same pull request takes its place, another pull request does not."""
    overview, pulls = Overview(database), PullRuns(database)

    async def check(name: str, number: int, sha: str, status: Literal["done", "cancelled"]) -> None:
        assert await pulls.create(name, PullCheckSpec(repo=REPO, number=number, title="", head_sha=sha))
        step = ValidationStep(command="npm test", stage="test", passed=False, exit_code=1)
        judged = PullCheckJudged(index=0, check=CheckStatus(name="test", status="completed", step=step))
        await pulls.append(name, [judged, PullFinished(status=status)])

    async def outcomes() -> dict[str, str]:
        return {line.id: line.outcome for line in await overview.pull_checks(["done"], 10)}

    await check("again", 34, "b" * 40, "cancelled")
    await check("other", 36, "d" * 40, "done")
    assert await outcomes() == {"red": "superseded", "green": "passed", "other": "new_failures"}
    await check("newest", 34, "c" * 40, "done")
    assert await outcomes() == {
        "red": "superseded",
        "green": "superseded",
        "other": "new_failures",
        "newest": "new_failures",
    }
