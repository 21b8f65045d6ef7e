"""A command is decided about once, and who floods Mendbot with them gets one reply and no more work (T16)."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TypeVar

from bot.model import Repo
from bot.store.database.database import Database
from bot.store.inbox.commands import HOUR_MS, Commands, Taken
from tests.store import databases
from tests.store.databases import plans, together

T = TypeVar("T")
REPO = Repo(owner="octo", name="pocket", installation_id=7)
OTHER = Repo(owner="octo", name="wallet", installation_id=7)
NOON = 1_795_262_400_000


async def run(where: Path, work: Callable[[Commands], Awaitable[T]]) -> T:
    return await databases.run(where, lambda database: work(Commands(database)))


async def take(
    commands: Commands, name: str, at: int = 0, *, by: str = "ada", repo: Repo = REPO, cap: int = 2
) -> Taken:
    return await commands.take(name, repo=repo, number=5, author=by, verb="fix", at_ms=NOON + at, cap=cap)


async def test_a_command_is_taken_once_also_after_a_restart(tmp_path: Path) -> None:
    assert await run(tmp_path, lambda commands: take(commands, "comment:1:0")) == "new"
    assert await run(tmp_path, lambda commands: take(commands, "comment:1:0")) == "known"
    assert await run(tmp_path, lambda commands: take(commands, "comment:1:1")) == "new"


async def test_past_the_cap_one_reply_is_due_and_the_rest_is_silence(tmp_path: Path) -> None:
    """T16: a thousand commands of one person are at most `cap` jobs and one comment."""

    async def work(commands: Commands) -> list[Taken]:
        return await asyncio.gather(*(take(commands, str(number), number, cap=10) for number in range(1000)))

    answers = await run(tmp_path, work)
    assert answers[:12] == ["new"] * 10 + ["over", "over_again"]
    assert Counter(answers) == {"new": 10, "over": 1, "over_again": 989}


async def test_what_was_refused_stays_refused_however_late_it_is_delivered_again(tmp_path: Path) -> None:
    async def work(commands: Commands) -> list[Taken]:
        for name in ("1", "2", "3", "4"):
            await take(commands, name)
        return [await take(commands, name, 5 * HOUR_MS) for name in ("2", "3", "4", "5")]

    assert await run(tmp_path, work) == ["known", "over_again", "over_again", "new"]


async def test_the_cap_is_of_one_author_in_one_repository_within_the_hour(tmp_path: Path) -> None:
    async def work(commands: Commands) -> list[Taken]:
        assert [await take(commands, "1"), await take(commands, "2", 1)] == ["new", "new"]
        others = [await take(commands, "3", 2, by="eve"), await take(commands, "4", 2, repo=OTHER)]
        later = [await take(commands, name, HOUR_MS + at) for name, at in (("5", -1), ("6", 0), ("7", 0))]
        return [*others, *later]

    assert await run(tmp_path, work) == ["new", "new", "over", "new", "over_again"]


async def test_a_reply_is_due_again_in_another_hour(tmp_path: Path) -> None:
    async def work(commands: Commands) -> list[Taken]:
        return [await take(commands, str(at), at, cap=0) for at in (0, HOUR_MS - 1, HOUR_MS, HOUR_MS + 1)]

    assert await run(tmp_path, work) == ["over", "over_again", "over", "over_again"]


async def test_the_cap_holds_in_whatever_order_commands_are_delivered(tmp_path: Path) -> None:
    async def work(commands: Commands) -> list[Taken]:
        return [await take(commands, str(at), at) for at in (40, 30, 20, 10)]

    assert await run(tmp_path, work) == ["new", "new", "over", "over_again"]


async def test_two_writers_at_once_take_each_command_once_and_no_more_than_the_cap(tmp_path: Path) -> None:
    async def work(one: Database, two: Database) -> list[Taken]:
        stores = (Commands(one), Commands(two))
        twice = [(store, str(number)) for number in range(20) for store in stores]
        return await asyncio.gather(*(take(store, name, cap=5) for store, name in twice))

    assert Counter(await together(tmp_path, work)) == {"new": 5, "over": 1, "over_again": 29, "known": 5}


async def test_what_became_of_a_command_is_kept_within_limits(tmp_path: Path) -> None:
    async def work(commands: Commands) -> None:
        await take(commands, "1")
        assert await commands.outcome_of("1") is await commands.outcome_of("2") is None
        await commands.finish("1", "run\0 run-1 \ud800" + "x" * 9_000)
        await commands.finish("2", "of nothing")

    await run(tmp_path, work)
    outcome = await run(tmp_path, lambda commands: commands.outcome_of("1"))
    assert outcome is not None and outcome.startswith("run\ufffd run-1 \ufffdxxx") and len(outcome) == 8_000


async def test_what_was_seen_first_stands_until_the_command_came_to_its_end(tmp_path: Path) -> None:
    async def work(commands: Commands) -> None:
        await take(commands, "1")
        assert [await commands.begin("1", seen) for seen in ("first", "second")] == ["first", "first"]
        assert await commands.begin("nobody's", "seen") == "seen"

    async def end(commands: Commands) -> None:
        assert await commands.outcome_of("1") is None
        assert await commands.begin("1", "third") == "first"
        await commands.finish("1", "done")
        assert (await commands.begin("1", "fourth"), await commands.outcome_of("1")) == ("fourth", "done")

    await run(tmp_path, work)
    await run(tmp_path, end)


async def test_no_question_reads_the_whole_table(tmp_path: Path) -> None:
    async def work(database: Database) -> None:
        await take(Commands(database), "1")
        await Commands(database).finish("1", "done")

    found = await plans(tmp_path, work)
    assert len(found) == 3 and [plan for plan in found if "INDEX" not in plan] == []
    assert any("commands_author (repo=? AND author=? AND at>? AND at<?)" in plan for plan in found)
