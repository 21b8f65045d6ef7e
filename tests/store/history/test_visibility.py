"""What is counted of a resolution is the repository's own that has it: another's uses are not told, and another's
failures sink nothing."""

from __future__ import annotations

import asyncio
import json
import sqlite3
from collections.abc import Awaitable, Callable
from itertools import count
from pathlib import Path
from typing import TypeVar

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.model import KnownError, Resolution
from bot.store.database.database import Database
from bot.store.database.open import writing
from bot.store.history.history import History
from bot.store.history.import_export import export_lines, import_lines
from bot.store.history.snapshot import write_snapshot

T = TypeVar("T")
ONE, TWO, THREE = "octo/one", "octo/two", "octo/three"
BOOM = "boom in a.py"


async def run(where: Path, work: Callable[[History, Database], Awaitable[T]]) -> T:
    async def inside() -> T:
        async with writing(f"sqlite:///{where / 'mendbot.db'}") as database:
            return await work(History(database), database)

    return await inside()


async def record(history: History, *repos: str | None, error: str = BOOM) -> None:
    for repo in repos:
        await asyncio.sleep(0.002)  # the history tells times apart by the millisecond
        await history.record(error, Resolution(repo=repo))


async def told(history: History, repo: str | None, error: str = BOOM) -> KnownError:
    (found,) = await history.by_errors([error], repo)
    return found


async def in_vain(history: History, repo: str | None, times: int = 3, error: str = BOOM) -> None:
    for _ in range(times):
        await history.followed([await told(history, repo, error)], passed=False)


def figures(known: KnownError) -> tuple[int, int, int]:
    return known.use_count, known.shown, known.passed


async def test_a_repository_is_told_its_own_uses_and_never_how_often_another_had_the_error(tmp_path: Path) -> None:
    async def work(history: History, database: Database) -> None:
        await record(history, ONE, ONE, ONE, TWO)
        assert [(await told(history, repo)).use_count for repo in (ONE, TWO)] == [3, 1]
        await record(history, ONE, THREE)
        assert [(await told(history, repo)).use_count for repo in (ONE, TWO, THREE)] == [4, 1, 1]

    await run(tmp_path, work)


@pytest.mark.parametrize("last", [ONE, TWO, THREE])
async def test_what_fails_in_one_repository_sinks_it_there_alone(tmp_path: Path, last: str) -> None:
    """REQ-RA-311: whoever's resolution stands in the error's row."""

    async def work(history: History, database: Database) -> None:
        await record(history, *({ONE, TWO, THREE} - {last}), last)
        await in_vain(history, TWO)
        told_of = [len(await history.by_file("a.py", repo=repo)) for repo in (ONE, TWO, THREE)]
        assert told_of == [1, 0, 1]
        assert [figures(await told(history, repo)) for repo in (ONE, TWO)] == [(1, 0, 0), (1, 3, 0)]
        await record(history, ONE)
        assert await history.by_file("a.py", repo=TWO) == (), "what moved aside left its figures behind"
        await record(history, TWO)
        (again,) = await history.by_file("a.py", repo=TWO)
        assert figures(again) == (2, 0, 0)

    await run(tmp_path, work)


async def test_what_is_spent_here_takes_no_place_of_what_is_not(tmp_path: Path) -> None:
    async def work(history: History, database: Database) -> None:
        await record(history, ONE, error="of use in a.py")
        for number, order in enumerate([(ONE, TWO), (TWO, ONE)] * 2):
            await record(history, *order, error=f"in vain {number} in a.py")
            await in_vain(history, ONE, error=f"in vain {number} in a.py")
        found = await history.by_file("a.py", limit=1, repo=ONE)
        assert [known.error for known in found] == ["of use in a.py"]
        await record(history, None, ONE, TWO, error="boom in b.py")
        await in_vain(history, ONE, error="boom in b.py")
        told_of = [len(await history.by_file("b.py", repo=repo)) for repo in (ONE, TWO, THREE)]
        assert told_of == [0, 1, 1]

    await run(tmp_path, work)


async def test_what_passes_counts_where_it_was_told(tmp_path: Path) -> None:
    async def work(history: History, database: Database) -> None:
        await record(history, ONE, TWO)
        before = [await told(history, repo) for repo in (ONE, TWO)]
        await asyncio.sleep(0.002)
        await history.followed(before[:1], passed=True)
        after = [await told(history, repo) for repo in (ONE, TWO)]
        assert (figures(after[0]), after[1]) == ((1, 1, 1), before[1])
        await record(history, ONE)  # what was told has been replaced in between: the new one is its repository's, too
        await history.followed([*before, *before], passed=False)
        assert [figures(await told(history, repo)) for repo in (ONE, TWO)] == [(2, 1, 0), (1, 1, 0)]
        await history.followed([before[0].model_copy(update={"id": 99})], passed=False)

    await run(tmp_path, work)


async def test_what_is_nobodys_is_counted_for_all(tmp_path: Path) -> None:
    async def work(history: History, database: Database) -> None:
        await record(history, None, ONE)
        await in_vain(history, THREE, 2)
        assert [figures(await told(history, repo)) for repo in (ONE, TWO)] == [(1, 0, 0), (1, 2, 0)]

    await run(tmp_path, work)


async def test_the_hooks_copy_has_the_repositorys_own_figures(tmp_path: Path) -> None:
    async def work(history: History, database: Database) -> None:
        await record(history, ONE, ONE, TWO)
        await in_vain(history, ONE)
        copied = []
        for repo in (ONE, TWO):
            path = tmp_path / f"{repo[5:]}.db"
            await write_snapshot(database, path, repo=repo)
            with sqlite3.connect(path) as copy:
                count = copy.execute("SELECT use_count FROM error_kb").fetchall()
                copied.append((count, copy.execute("SELECT count(*) FROM error_files").fetchone()))
            copy.close()
        assert copied == [([(2,)], (0,)), ([(1,)], (1,))]

    await run(tmp_path, work)


async def test_figures_go_along_to_another_history_whatever_the_order(tmp_path: Path) -> None:
    async def work(history: History, database: Database) -> None:
        await record(history, None, ONE, ONE, TWO)
        await in_vain(history, ONE)
        await history.followed([await told(history, ONE)], passed=True)
        lines = sorted([line async for line in export_lines(database)])
        before = [await told(history, repo) for repo in (ONE, TWO, THREE)]
        await import_lines(database, lines)
        assert [await told(history, repo) for repo in (ONE, TWO, THREE)] == before
        for name, order in (("there", lines), ("back", lines[::-1])):
            (tmp_path / name).mkdir()
            async with writing(f"sqlite:///{tmp_path / name / 'mendbot.db'}") as other:
                for _ in range(2):
                    await import_lines(other, order)
                    assert sorted([line async for line in export_lines(other)]) == lines
                after = [await told(History(other), repo) for repo in (ONE, TWO, THREE)]
                assert [known.model_copy(update={"raw": ""}) for known in after] == [
                    known.model_copy(update={"raw": ""}) for known in before
                ]

    await run(tmp_path, work)


async def test_of_two_histories_the_higher_count_of_the_same_repository_stands(tmp_path: Path) -> None:
    def line(repo: str, count: int, day: int, shown: int = 0) -> str:
        values = {"error": BOOM, "resolution": {"repo": repo}, "useCount": count, "shown": shown}
        return json.dumps({**values, "lastUsed": f"2026-01-0{day}T00:00:00Z"})

    async def work(history: History, database: Database) -> None:
        for repo in (ONE, TWO):  # of the second the row is another's from the first
            await import_lines(database, [line(repo, 5, 2, 1), line(repo, 9, 1, 2), line(repo, 7, 2, 3)])
            assert figures(await told(history, repo)) == (9, 1, 0)
            await import_lines(database, [line(THREE, 1, 4), line(repo, 1, 3)])
            assert figures(await told(history, repo)) == (9, 0, 0)
            assert figures(await told(history, THREE)) == (1, 0, 0)

    await run(tmp_path, work)


_NUMBERS = count()
_REPOS = st.sampled_from([ONE, TWO, None])
_STEPS = st.tuples(_REPOS, st.sampled_from(["record", "passed", "failed"]))


@given(steps=st.lists(_STEPS, max_size=9))
@settings(max_examples=30, deadline=None)
async def test_whatever_happens_elsewhere_figures_are_what_happened_here(
    shared: Database, steps: list[tuple[str | None, str]]
) -> None:
    error = f"boom '{next(_NUMBERS)}'"
    counted: dict[str | None, tuple[int, int, int]] = {}

    async def exactly(history: History, error: str, repo: str) -> list[KnownError]:
        return [known for known in await history.by_errors([error], repo) if known.exact]

    async def work(history: History) -> None:
        for repo, what in steps:
            if what == "record":
                await history.record(error, Resolution(repo=repo))
                counted[repo] = (counted.get(repo, (0, 0, 0))[0] + 1, 0, 0)
            for found in await exactly(history, error, repo or THREE):
                used, shown, passed = counted[found.resolution.repo]
                if what != "record":
                    await history.followed([found], passed=what == "passed")
                    counted[found.resolution.repo] = (used, shown + 1, passed + (what == "passed"))
            for one in (ONE, TWO, THREE):
                for found in await exactly(history, error, one):
                    assert found.resolution.repo in (one, None)
                    assert figures(found) == counted[found.resolution.repo]

    await work(History(shared))
