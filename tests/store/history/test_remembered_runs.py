"""Runs of failing tests are counted by commit and place, and never fill the disk (REQ-PROOF-004)."""

from __future__ import annotations

import sqlite3
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TypeVar

import pytest

from bot.model.pulls import NO_RUNS, RunCounts
from bot.store.database.database import Database, now_ms
from bot.store.history import remembered_runs
from bot.store.history.remembered_runs import Remembered, RememberedRuns
from bot.store.retention.rows import Retention
from tests.store import databases
from tests.store.databases import plans, together

T = TypeVar("T")
REPO, STAGE, SHA = "octo/pocket", "test", "a" * 40
DAY_MS = 24 * 3_600_000


async def run(where: Path, work: Callable[[RememberedRuns], Awaitable[T]]) -> T:
    return await databases.run(where, lambda database: work(RememberedRuns(database)))


async def add(
    memory: RememberedRuns, failed: str = "", passed: str = "", *, sha: str = SHA, repo: str = REPO, stage: str = STAGE
) -> None:
    """Each letter is a test."""
    await memory.add(repo, stage, (sha, "base"), failed=failed, passed=passed)


async def on_base(memory: RememberedRuns, tests: str, sha: str = SHA, age_ms: int = DAY_MS) -> dict[str, Remembered]:
    return await memory.on_base(REPO, STAGE, tests, sha, since_ms=now_ms() - age_ms)


def counts(failed: int, passed: int) -> RunCounts:
    return RunCounts(failed=failed, passed=passed)


async def test_runs_on_one_commit_and_on_the_others_are_counted_apart(tmp_path: Path) -> None:
    """REQ-PROOF-004."""

    async def write(memory: RememberedRuns) -> None:
        await add(memory, failed="a", passed="b")
        await add(memory, failed="ab")
        await add(memory, passed="a", sha="other")
        await add(memory, passed="a", sha="third")

    async def read(memory: RememberedRuns) -> None:
        assert await on_base(memory, "abc") == {
            "a": Remembered(here=counts(2, 0), before=counts(0, 2)),
            "b": Remembered(here=counts(1, 1), before=NO_RUNS),
        }

    await run(tmp_path, write)
    await run(tmp_path, read)


async def test_a_commit_on_which_every_run_failed_says_nothing_about_others(tmp_path: Path) -> None:
    async def work(memory: RememberedRuns) -> None:
        await add(memory, failed="a", sha="broken")
        await add(memory, failed="a", sha="broken")
        await add(memory, failed="a", sha="mixed")
        await add(memory, passed="a", sha="mixed")
        assert (await on_base(memory, "a"))["a"] == Remembered(here=NO_RUNS, before=counts(1, 1))
        assert (await on_base(memory, "a", "broken"))["a"].here == counts(2, 0)

    await run(tmp_path, work)


async def test_heads_other_checks_and_other_repositories_do_not_count(tmp_path: Path) -> None:
    async def work(memory: RememberedRuns) -> None:
        await memory.add(REPO, STAGE, (SHA, "head"), failed=["a"], passed=[])
        await add(memory, failed="a", repo="octo/other")
        await add(memory, failed="a", stage="lint")
        assert await on_base(memory, "a") == {}

    await run(tmp_path, work)


async def test_an_old_run_on_the_same_commit_is_an_earlier_one(tmp_path: Path) -> None:
    async def work(memory: RememberedRuns) -> None:
        await add(memory, passed="a")
        assert (await on_base(memory, "a", age_ms=-1))["a"] == Remembered(here=NO_RUNS, before=counts(0, 1))

    await run(tmp_path, work)


async def test_two_processes_count_together(tmp_path: Path) -> None:
    async def work(one: Database, two: Database) -> None:
        for database in (one, two, one):
            await add(RememberedRuns(database), failed="a")
        assert (await on_base(RememberedRuns(two), "a"))["a"].here == counts(3, 0)

    await together(tmp_path, work)


async def test_the_oldest_rows_of_a_repository_give_way(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remembered_runs, "MAX_ROWS", 10)
    monkeypatch.setattr(remembered_runs, "_SPARE_ROWS", 2)
    clock = iter(range(1, 100))
    monkeypatch.setattr(remembered_runs, "now_ms", lambda: next(clock))

    async def work(memory: RememberedRuns) -> None:
        await add(memory, failed="a", repo="octo/other")
        for number in range(11):
            await add(memory, failed="a", sha=f"{number}")

    await run(tmp_path, work)
    rows = sqlite3.connect(tmp_path / "mendbot.db").execute("SELECT repo, sha FROM test_runs ORDER BY at").fetchall()
    assert rows == [("octo/other", SHA), *((REPO, f"{number}") for number in range(3, 11))]


async def test_names_that_a_database_refuses_are_found_again(tmp_path: Path) -> None:
    names = ["\ud800 name", "nul\0", "long" * 500, "빈 값"]

    async def work(memory: RememberedRuns) -> None:
        await memory.add(REPO, STAGE, (SHA, "base"), failed=names, passed=[])
        found = await memory.on_base(REPO, STAGE, names, SHA, since_ms=0)
        assert found == dict.fromkeys(names, Remembered(here=counts(1, 0)))

    await run(tmp_path, work)


async def test_old_rows_are_deleted_with_the_outcomes(tmp_path: Path) -> None:
    async def work(memory: RememberedRuns) -> None:
        await add(memory, failed="a")
        assert await Retention(memory._database).outcomes(now_ms() - DAY_MS) == 0
        assert await Retention(memory._database).outcomes(2**62) == 1
        assert await on_base(memory, "a") == {}

    await run(tmp_path, work)


async def test_a_query_uses_an_index(tmp_path: Path) -> None:
    async def work(database: Database) -> None:
        await on_base(RememberedRuns(database), "ab")
        await add(RememberedRuns(database), failed="a")

    found = await plans(tmp_path, work)
    assert len(found) == 2
    assert all("INDEX" in plan for plan in found)


async def test_flaky_tests_have_failed_and_passed_on_the_base_branch(tmp_path: Path) -> None:
    """REQ-RUN-009: the page of the error history lists them with their rates."""

    async def listed(memory: RememberedRuns) -> tuple[object, ...]:
        for sha, failed, passed in (
            ("1", "ab", "c"),
            ("1", "", "abc"),
            ("2", "a", "bc"),
            ("2", "", "abc"),
            ("3", "abc", ""),
        ):
            await add(memory, failed, passed, sha=sha)
        await memory.add(REPO, STAGE, ("4", "head"), failed="c", passed="")
        await memory.add(REPO, STAGE, ("4", "head"), failed="", passed="c")
        await add(memory, "x", repo="Other/Repo")
        await add(memory, passed="x", repo="Other/Repo")
        found = await memory.flaky(10)
        return (
            [(test.repo, test.test, test.runs, test.percent) for test in found],
            [test.test for test in await memory.flaky(1)],
            [test.test for test in await memory.flaky(9, repo="octo/POCKET")],
            [test.test for test in await memory.flaky(9, visible={"other/repo"})],
        )

    everything, first, of_repo, visible = await run(tmp_path, listed)
    half, quarter = counts(2, 2), counts(1, 3)
    assert everything == [(REPO, "a", half, 50), ("Other/Repo", "x", counts(1, 1), 50), (REPO, "b", quarter, 25)]
    assert (first, of_repo, visible) == (["a"], ["a", "b"], ["x"])
