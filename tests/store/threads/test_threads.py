"""Pauses, pins and Mendbot's own commits are known by repository and number, after a restart too."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TypeVar

from bot.model import Repo
from bot.store.database.database import Database
from bot.store.threads.threads import ThreadStore
from tests.store import databases
from tests.store.databases import plans, together

T = TypeVar("T")
REPO = Repo(owner="octo", name="pocket", installation_id=7)
OTHER = Repo(owner="octo", name="wallet", installation_id=7)


async def run(where: Path, work: Callable[[ThreadStore], Awaitable[T]]) -> T:
    return await databases.run(where, lambda database: work(ThreadStore(database)))


async def test_a_thread_is_paused_by_the_first_who_asked_until_somebody_resumes_it(tmp_path: Path) -> None:
    async def pause(threads: ThreadStore) -> bool:
        await threads.pause(REPO, 5, "ada", 1)
        await threads.pause(REPO, 5, "eve", 2)
        return await threads.resume(REPO, 6)

    async def resume(threads: ThreadStore) -> list[object]:
        paused = [await threads.paused(*one) for one in ((REPO, 5), (REPO, 6), (OTHER, 5))]
        resumed = [await threads.resume(REPO, 5), await threads.resume(REPO, 5), await threads.paused(REPO, 5)]
        await threads.pause(REPO, 5, "eve", 3)
        return [*paused, *resumed, await threads.paused(REPO, 5)]

    assert await run(tmp_path, pause) is False
    assert await run(tmp_path, resume) == ["ada", None, None, True, False, None, "eve"]


async def test_issues_belong_together_under_the_latest_pin_alone(tmp_path: Path) -> None:
    async def pin(threads: ThreadStore) -> None:
        await threads.pin(REPO, [1, 2, 3, 2], "one")
        await threads.pin(REPO, [3, 4], "two")
        await threads.pin(OTHER, [1], "elsewhere")
        await threads.pin(REPO, [], "none")

    async def look(threads: ThreadStore) -> list[dict[int, str]]:
        asked = ((REPO, range(1, 9)), (REPO, [1, 7]), (REPO, []), (OTHER, [1]))
        return [await threads.pins(*one) for one in asked]

    await run(tmp_path, pin)
    assert await run(tmp_path, look) == [{1: "one", 2: "one", 3: "two", 4: "two"}, {1: "one"}, {}, {1: "elsewhere"}]


async def test_two_writers_at_once_leave_one_pin_for_each_issue(tmp_path: Path) -> None:
    async def work(one: Database, two: Database) -> set[str]:
        stores = (ThreadStore(one), ThreadStore(two))
        await asyncio.gather(*(stores[at % 2].pin(REPO, [3, 2, 1], str(at)) for at in range(8)))
        pins = await stores[0].pins(REPO, [1, 2, 3])
        assert len(pins) == 3
        return set(pins.values())

    assert len(await together(tmp_path, work)) == 1


async def test_a_commit_that_mendbot_pushed_is_known_as_its_runs(tmp_path: Path) -> None:
    """T13: a push of our own starts nothing."""

    async def push(threads: ThreadStore) -> None:
        for run_id in ("run-1", "run-2"):
            await threads.pushed(REPO, "aaa", run_id=run_id, number=5, at_ms=10)

    async def look(threads: ThreadStore) -> list[object]:
        known = [await threads.pushed_by(*one) for one in ((REPO, "aaa"), (REPO, "bbb"), (OTHER, "aaa"))]
        return [*known, await threads.pushes_since(REPO, 5, 0)]

    await run(tmp_path, push)
    assert await run(tmp_path, look) == ["run-1", None, None, 1]


async def test_pushes_are_counted_by_pull_request_and_for_all_of_the_repositorys(tmp_path: Path) -> None:
    async def work(threads: ThreadStore) -> list[int]:
        for sha, number, at in (("a", 5, 10), ("b", 5, 20), ("c", 6, 30), ("a run's own", None, 40)):
            await threads.pushed(REPO, sha, run_id="run", number=number, at_ms=at)
        await threads.pushed(OTHER, "e", run_id="run", number=5, at_ms=50)
        asked = [(5, 0), (5, 20), (5, 21), (6, 0), (7, 0), (None, 0), (None, 30), (None, 41)]
        return [await threads.pushes_since(REPO, number, since) for number, since in asked]

    assert await run(tmp_path, work) == [2, 1, 0, 1, 0, 3, 1, 0]


async def test_no_question_reads_the_whole_table(tmp_path: Path) -> None:
    async def work(database: Database) -> None:
        threads = ThreadStore(database)
        await threads.pushes_since(REPO, None, 0)
        await threads.pushes_since(REPO, 5, 0)
        await threads.pushed_by(REPO, "aaa")
        await threads.paused(REPO, 5)
        await threads.resume(REPO, 5)
        await threads.pins(REPO, [1, 2])

    found = await plans(tmp_path, work)
    assert len(found) == 6 and [plan for plan in found if "INDEX" not in plan] == []
