"""An approval is of one head, and the newest head is known in whatever order GitHub tells of heads."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import TypeVar

import pytest

from bot.model import Repo
from bot.store.database.database import Database
from bot.store.threads.approvals import Approvals
from tests.store import databases
from tests.store.databases import plans, together

T = TypeVar("T")
REPO = Repo(owner="octo", name="pocket", installation_id=7)
OTHER = Repo(owner="octo", name="wallet", installation_id=7)
NOON = datetime(2026, 11, 21, 12, 0, 0, 250, tzinfo=UTC)
Seen = tuple[str, int | None]
"""A head, and so many minutes after noon that GitHub told of it."""


async def run(where: Path, work: Callable[[Approvals], Awaitable[T]]) -> T:
    return await databases.run(where, lambda database: work(Approvals(database)))


def moment(minutes: int | None) -> datetime | None:
    return None if minutes is None else NOON + timedelta(minutes=minutes)


async def test_an_approval_is_of_one_head_of_one_pull_request(tmp_path: Path) -> None:
    """T11: approve, then push."""

    async def approve(approvals: Approvals) -> None:
        await approvals.approve(REPO, 5, "aaa", "ada", 1)
        await approvals.approve(REPO, 5, "aaa", "eve", 2)

    async def look(approvals: Approvals) -> list[str | None]:
        asked = [(REPO, 5, "aaa"), (REPO, 5, "bbb"), (REPO, 5, "aa"), (REPO, 6, "aaa"), (OTHER, 5, "aaa")]
        return [await approvals.approved(*one) for one in asked]

    await run(tmp_path, approve)
    assert await run(tmp_path, look) == ["ada", None, None, None, None]


@pytest.mark.parametrize(
    ("seen", "newest"),
    [
        ([("a", 0)], ("a", 0)),
        ([("a", None)], ("a", None)),
        ([("a", 0), ("a", 5), ("a", None)], ("a", 0)),
        ([("a", None), ("a", 5), ("a", 7)], ("a", 5)),
        ([("a", 0), ("b", 1)], ("b", 1)),
        ([("a", 0), ("b", 0)], ("b", 0)),
        ([("a", 0), ("b", None)], ("b", None)),
        ([("a", 0), ("b", 1), ("a", 2)], ("a", 2)),
        ([("a", 0), ("b", 1), ("a", None)], ("a", None)),
        ([("a", 0), ("b", 1), ("a", 2), ("b", 3), ("b", 4)], ("b", 3)),
    ],
)
async def test_the_newest_head_keeps_its_first_moment_and_one_that_comes_back_is_the_newest_again(
    tmp_path: Path, seen: list[Seen], newest: Seen
) -> None:
    assert await known_after(tmp_path, seen) == (newest[0], moment(newest[1]))


@pytest.mark.parametrize(
    "seen",
    [
        pytest.param([("b", 1), ("a", 0)], id="told in the wrong order"),
        pytest.param([("a", 0), ("b", 1), ("a", 0)], id="told again"),
        pytest.param([("a", 0), ("b", 1), ("a", -1)], id="told again of a moment before"),
        pytest.param([("b", 1), ("a", 0), ("a", 0)], id="in the wrong order and again"),
        pytest.param([("c", 3), ("a", 0), ("b", 1), ("b", 4)], id="after what came late"),
        pytest.param([("a", 0), ("b", None), ("a", 0)], id="told again after a head without a moment"),
        pytest.param([("a", 0), ("b", None), ("a", -1), ("a", 0)], id="and of a moment before"),
    ],
)
async def test_what_is_told_late_leaves_the_newest_head_as_it_is(tmp_path: Path, seen: list[Seen]) -> None:
    assert await known_after(tmp_path, seen) == ("b", moment([minutes for head, minutes in seen if head == "b"][-1]))


async def known_after(where: Path, seen: list[Seen]) -> tuple[str, datetime | None]:
    async def work(approvals: Approvals) -> None:
        assert await approvals.head_known(REPO, 5) is None
        for head, minutes in seen:
            await approvals.saw_head(REPO, 5, head, moment(minutes))
        await approvals.saw_head(REPO, 6, "another pull request's", moment(99))
        await approvals.saw_head(OTHER, 5, "another repository's", moment(99))

    await run(where, work)
    known = await run(where, lambda approvals: approvals.head_known(REPO, 5))
    assert known is not None
    return known


async def test_a_commit_leads_to_the_pull_requests_that_had_it_and_each_head_counts_once(tmp_path: Path) -> None:
    async def work(approvals: Approvals) -> None:
        told = [(REPO, 7, "a"), (REPO, 5, "a"), (REPO, 5, "b"), (REPO, 5, "a"), (OTHER, 4, "a")]
        for minutes, (repo, number, head) in enumerate(told):
            await approvals.saw_head(repo, number, head, moment(minutes))
        assert [await approvals.heads(REPO, number) for number in (5, 6, 7)] == [2, 0, 1]
        assert [await approvals.pulls_of(REPO, head) for head in ("a", "b", "c")] == [(5, 7), (5,), ()]

    await run(tmp_path, work)


async def test_a_moment_is_the_same_in_every_time_zone(tmp_path: Path) -> None:
    async def work(approvals: Approvals) -> None:
        await approvals.saw_head(REPO, 5, "a", NOON.astimezone(timezone(timedelta(hours=9))))
        await approvals.saw_head(REPO, 5, "b", NOON - timedelta(microseconds=1))
        known = await approvals.head_known(REPO, 5)
        assert known == ("a", NOON) and known[1] is not None and known[1].utcoffset() == timedelta()

    await run(tmp_path, work)


async def test_two_writers_at_once_agree_on_who_approved_and_on_the_newest_head(tmp_path: Path) -> None:
    async def work(one: Database, two: Database) -> None:
        stores = (Approvals(one), Approvals(two))
        names = [f"person {number}" for number in range(8)]
        await asyncio.gather(*(stores[at % 2].approve(REPO, 5, "aaa", name, at) for at, name in enumerate(names)))
        assert await stores[0].approved(REPO, 5, "aaa") == await stores[1].approved(REPO, 5, "aaa") in names
        await asyncio.gather(*(stores[at % 2].saw_head(REPO, 5, f"head {at}", moment(at)) for at in range(8)))
        assert await stores[0].head_known(REPO, 5) == ("head 7", moment(7))

    await together(tmp_path, work)


async def test_no_question_reads_the_whole_table(tmp_path: Path) -> None:
    async def work(database: Database) -> None:
        approvals = Approvals(database)
        await approvals.saw_head(REPO, 5, "a", NOON)
        await approvals.head_known(REPO, 5)
        await approvals.approved(REPO, 5, "a")
        await approvals.heads(REPO, 5)
        await approvals.pulls_of(REPO, "a")

    found = await plans(tmp_path, work)
    assert "pull_heads_commit (repo=? AND head_sha=?)" in found[-1]
    assert len(found) == 5 and [plan for plan in found if "INDEX" not in plan] == []
