"""Runs remember by events alone, each appended once, and an issue is in one open run only."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path

from bot.model import Issue, Repo, Status
from bot.model.events.run_event import RunEvent
from bot.model.events.runs import SessionFinished, SessionStarted
from bot.rules.reasons import quoted
from bot.rules.runs.spec import RunSpec
from bot.store.database.database import Database
from bot.store.inbox.candidates import Candidates, QueuedIssue
from bot.store.runs.runs import Runs
from tests.store.databases import plans

REPO = Repo(owner="octo", name="pocket", installation_id=7)


def spec(*numbers: int) -> RunSpec:
    issues = tuple(Issue(number=number, title=f"issue {number}") for number in numbers)
    return RunSpec(
        repo=REPO, issues=issues, key="k", suggested_branch="fix/issue-1", base_branch="main", agents=("fixers",)
    )


@asynccontextmanager
async def stores(where: Path) -> AsyncIterator[tuple[Runs, Candidates]]:
    database = Database(f"sqlite:///{where / 'mendbot.db'}")
    database.migrate()
    try:
        yield Runs(database), Candidates(database)
    finally:
        database.close()


def finished(status: Status) -> RunEvent:
    return SessionFinished(status=status)


async def test_an_event_is_appended_once_however_often_its_step_is_done(tmp_path: Path) -> None:
    """REQ-RUN-007."""

    async def run() -> list[str]:
        async with stores(tmp_path) as (runs, _):
            await runs.create("run-1", spec(1))
            for _ in range(3):
                await runs.append("run-1", [SessionStarted(task="")])
            await runs.append("run-1", [finished(Status.SUCCESS)])
            return [event.type for event in await runs.events("run-1")]

    assert await run() == ["session_started", "session_finished"]


async def test_an_issue_is_in_one_open_run_and_free_again_after_it(tmp_path: Path) -> None:
    async def run() -> list[bool]:
        async with stores(tmp_path) as (runs, _):
            made = [await runs.create("run-1", spec(1, 2)), await runs.create("run-2", spec(2, 3))]
            await runs.append("run-1", [finished(Status.FAILED)])
            return [*made, await runs.create("run-3", spec(2, 3))]

    assert await run() == [True, False, True]


async def test_a_run_takes_its_issues_out_of_the_candidates(tmp_path: Path) -> None:
    since = datetime(2026, 11, 21, tzinfo=UTC)

    async def run() -> tuple[tuple[int, ...], object]:
        async with stores(tmp_path) as (runs, candidates):
            for number in (1, 2):
                await candidates.add(QueuedIssue(repo=REPO, issue=number, at=5, quiet_ms=1000, since=since))
            await runs.create("run-1", spec(1))
            bursts = await candidates.bursts()
            found = await runs.open_run(REPO, 1)
            assert found is not None
            return bursts[0].issues, await runs.labelled_since(found.id, 1)

    assert await run() == ((2,), since)


async def test_a_burst_is_due_when_quiet_and_at_the_cap_at_the_latest(tmp_path: Path) -> None:
    async def run() -> list[int]:
        async with stores(tmp_path) as (_, candidates):
            due = []
            for at in (0, 900, 20_000):
                await candidates.add(QueuedIssue(repo=REPO, issue=1, at=at, quiet_ms=1000))
                due.append((await candidates.bursts())[0].due_at)
            return due

    assert await run() == [1000, 1900, 10_000]


async def test_two_runs_never_get_the_same_branch(tmp_path: Path) -> None:
    async def run() -> list[str]:
        async with stores(tmp_path) as (runs, _):
            await runs.create("run-1", spec(1))
            await runs.create("run-2", spec(2))
            names = ["fix/a", "fix/a-r2"]
            return [await runs.claim_branch(run_id, "octo/pocket", names) for run_id in ("run-1", "run-2", "run-1")]

    assert await run() == ["fix/a", "fix/a-r2", "fix/a"]


async def test_a_cancel_is_asked_once_and_never_of_an_ended_run(tmp_path: Path) -> None:
    async def run() -> list[bool]:
        async with stores(tmp_path) as (runs, _):
            await runs.create("run-1", spec(1))
            asked = [await runs.request_cancel("run-1", quoted("unlabelled")) for _ in range(2)]
            await runs.create("run-2", spec(2))
            await runs.append("run-2", [finished(Status.SUCCESS)])
            return [*asked, await runs.request_cancel("run-2", quoted("unlabelled"))]

    assert await run() == [True, False, False]


async def test_runs_of_which_github_has_not_heard_are_found_by_an_index(tmp_path: Path) -> None:
    found = await plans(tmp_path, lambda database: Runs(database).unreported())
    assert found == ["SCAN runs USING INDEX runs_untold"]  # it holds those runs alone
