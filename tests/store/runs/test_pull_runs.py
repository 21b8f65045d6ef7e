"""Runs of checks remember by events alone, each appended once, and one run alone works on a head."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Literal, TypeVar

import pytest
import sqlalchemy as sa
from pydantic import ValidationError

from bot.config import Policy
from bot.model import Phase, Repo
from bot.model.events.pull_checks import PullBaseChecked, PullCheckStarted, PullFinished, PullStarted
from bot.model.pulls import CheckStatus
from bot.model.reasons import ExplainedStop
from bot.rules.pulls.check_spec import PullCheckSpec
from bot.rules.reasons import make_reason
from bot.store.database.database import Database
from bot.store.database.notify import Changes
from bot.store.runs.pull_runs import PullCheckRow, PullRuns
from tests.store import databases
from tests.store.databases import plans, together

T = TypeVar("T")
REPO = Repo(owner="Octo", name="pocket", installation_id=7)
STARTED = PullStarted(base_sha="b" * 40, sandbox=make_reason("sandbox.none"), stages=(), to_set_up=False)

SUPERSEDED = ExplainedStop.of("superseded", make_reason("stop.superseded", sha="b" * 12))
CLOSED = ExplainedStop.of("closed", make_reason("pull.closed"))


def spec(head: str = "aaa", number: int = 5, repo: Repo = REPO) -> PullCheckSpec:
    return PullCheckSpec(
        repo=repo, number=number, head_sha=head, policy=Policy(setup="make"), kept=(CheckStatus(name="lint"),)
    )


def finished(status: Literal["done", "cancelled"]) -> PullFinished:
    return PullFinished(status=status)


def _checking(index: int) -> PullCheckStarted:
    return PullCheckStarted(index=index, stage="test")


async def run(where: Path, work: Callable[[PullRuns], Awaitable[T]], changes: Changes | None = None) -> T:
    return await databases.run(where, lambda database: work(PullRuns(database, changes)))


def ids(rows: tuple[PullCheckRow, ...]) -> list[str]:
    return [row.id for row in rows]


async def row_of(pulls: PullRuns, run_id: str) -> PullCheckRow:
    row = await pulls.get(run_id)
    assert row is not None
    return row


async def test_a_run_is_there_after_a_restart_as_it_was_made(tmp_path: Path) -> None:
    async def make(pulls: PullRuns) -> None:
        assert await pulls.get("run-1") is None
        assert await pulls.create("run-1", spec())
        await pulls.append("run-1", [STARTED])

    async def look(pulls: PullRuns) -> None:
        row = await row_of(pulls, "run-1")
        assert row.spec == spec()
        assert (row.status, row.cancel_because, row.ended_at) == ("running", None, None)
        assert (row.version, row.reported) == (2, 0)
        assert [event.data() for event in await pulls.events("run-1")] == [STARTED.data()]

    await run(tmp_path, make)
    await run(tmp_path, look)


async def test_a_head_has_one_open_run_and_another_once_that_has_ended_or_is_to_stop(tmp_path: Path) -> None:
    async def work(pulls: PullRuns) -> list[bool]:
        made = [await pulls.create("run-1", spec()), await pulls.create("run-2", spec())]
        made += [await pulls.create("run-1", spec("bbb"))]  # the id is taken, whatever for
        made += [await pulls.create("other-head", spec("bbb")), await pulls.create("other-pull", spec(number=6))]
        elsewhere = Repo(owner="octo", name="pocket", installation_id=7)  # another key, as in every store
        made += [await pulls.create("other-repo", spec(repo=elsewhere))]
        await pulls.request_cancel("run-1", SUPERSEDED)
        made += [await pulls.create("run-2", spec()), await pulls.create("run-3", spec())]
        await pulls.append("run-2", [STARTED])
        made += [await pulls.create("run-3", spec())]
        await pulls.append("run-2", [finished("done")])
        return [*made, await pulls.create("run-3", spec())]

    assert await run(tmp_path, work) == [True, False, False, True, True, True, True, False, False, True]


async def test_two_writers_at_once_make_one_run_of_a_head(tmp_path: Path) -> None:
    async def work(one: Database, two: Database) -> None:
        writers = (PullRuns(one), PullRuns(two))
        for number in range(10):
            tries = [writers[at % 2].create(f"{number}-{at}", spec(number=number)) for at in range(4)]
            assert sum(await asyncio.gather(*tries)) == 1
        (row,) = await writers[0].open_of(REPO, 0)
        await asyncio.gather(*(writer.append(row.id, [STARTED]) for writer in writers for _ in range(3)))
        assert len(await writers[1].events(row.id)) == 1
        assert (await row_of(writers[1], row.id)).version == 2

    await together(tmp_path, work)


async def test_runs_are_told_apart_by_age_even_where_the_clock_stands_still(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bot.store.runs.pull_runs.now_ms", lambda: 1_000)

    async def work(pulls: PullRuns) -> None:
        for name, head in (("z", "aaa"), ("y", "bbb"), ("x", "aaa"), ("w", "ccc")):
            for row in await pulls.open_of(REPO, 5):
                await pulls.request_cancel(row.id, SUPERSEDED)
            assert await pulls.create(name, spec(head))
        assert ids(await pulls.open_of(REPO, 5)) == ids(await pulls.unfinished()) == ["z", "y", "x", "w"]
        await pulls.append("y", [finished("cancelled")])
        assert ids(await pulls.open_of(REPO, 5)) == ids(await pulls.unfinished()) == ["z", "x", "w"]
        assert await pulls.open_of(REPO, 6) == ()
        latest = [await pulls.latest_of(REPO, 5), await pulls.latest_of(REPO, 5, "aaa")]
        latest += [await pulls.latest_of(REPO, 5, "bbb"), await pulls.latest_of(REPO, 5, "ddd")]
        assert [row and row.id for row in latest] == ["w", "x", "y", None]
        assert [await pulls.count_of(REPO, 5, head) for head in ("aaa", "bbb", "ddd")] == [2, 1, 0]

    await run(tmp_path, work)


async def test_an_event_is_appended_once_however_often_its_step_is_done(tmp_path: Path) -> None:
    ran = PullBaseChecked(index=0, errors=("E",), phase=Phase.VALIDATION, iteration=1)

    async def work(pulls: PullRuns) -> None:
        await pulls.create("run-1", spec())
        await pulls.append("run-1", [STARTED])
        for _ in range(2):
            await pulls.append("run-1", [STARTED, ran, ran])
        assert [event.type for event in await pulls.events("run-1")] == ["pull_started", "pull_base_checked"]
        event = (await pulls.events("run-1"))[1]
        assert (event.phase, event.iteration, event.data()) == (Phase.VALIDATION, 1, {"index": 0, "errors": ["E"]})
        assert (await row_of(pulls, "run-1")).version == 3

    await run(tmp_path, work)
    await run(tmp_path, lambda pulls: pulls.append("run-1", [ran]))
    assert (await run(tmp_path, lambda pulls: row_of(pulls, "run-1"))).version == 3
    database = sqlite3.connect(tmp_path / "mendbot.db")
    assert set(database.execute("SELECT session_id, project FROM events")) == {("run-1", "Octo/pocket")}
    database.close()


async def test_a_run_goes_from_queued_over_running_to_its_end_and_stays_there(tmp_path: Path) -> None:
    async def work(pulls: PullRuns) -> None:
        await pulls.create("run-1", spec())
        seen = []
        for event in (_checking(0), STARTED, _checking(1), finished("done")):
            await pulls.append("run-1", [event])
            seen.append((await row_of(pulls, "run-1")).status)
        assert seen == ["queued", "running", "running", "done"]
        ended = await row_of(pulls, "run-1")
        assert ended.ended_at is not None and ended.ended_at >= ended.created_at - 1
        await pulls.append("run-1", [_checking(2)])
        late = await row_of(pulls, "run-1")
        assert (late.status, late.ended_at, late.version) == ("done", ended.ended_at, ended.version + 1)
        assert await pulls.unfinished() == ()

    await run(tmp_path, work)


async def test_an_end_that_is_none_is_refused_and_of_no_run_nothing_is_kept(tmp_path: Path) -> None:
    async def work(pulls: PullRuns) -> None:
        await pulls.create("run-1", spec())
        with pytest.raises(ValidationError):
            PullFinished.model_validate({"status": "queued"})
        with pytest.raises(sa.exc.NoResultFound):
            await pulls.append("run-2", [STARTED])
        assert await pulls.events("run-1") == await pulls.events("run-2") == ()
        assert (await row_of(pulls, "run-1")).status == "queued"

    await run(tmp_path, work)


async def test_a_cancel_is_asked_once_and_never_of_an_ended_run(tmp_path: Path) -> None:
    changes = Changes()

    async def work(pulls: PullRuns) -> list[bool]:
        await pulls.create("run-1", spec())
        asked = [
            await pulls.request_cancel("run-1", SUPERSEDED),
            await pulls.request_cancel("run-1", CLOSED),
        ]
        assert changes.count > 0
        row = await row_of(pulls, "run-1")
        assert (row.cancel_because, row.status, row.version) == (SUPERSEDED, "queued", 2)
        await pulls.create("run-2", spec("bbb"))
        await pulls.append("run-2", [finished("done")])
        return [
            *asked,
            await pulls.request_cancel("run-2", CLOSED),
            await pulls.request_cancel("run-3", CLOSED),
        ]

    assert await run(tmp_path, work, changes) == [True, False, False, False]


async def test_what_github_has_not_heard_is_told_until_it_has_or_nobody_may_tell_it(tmp_path: Path) -> None:
    async def work(pulls: PullRuns) -> list[tuple[str, ...]]:
        await pulls.create("run-1", spec())
        await pulls.create("run-2", spec("bbb"))
        seen = [await pulls.unreported()]
        for version in (1, 0):  # a late word takes nothing back
            await pulls.reported("run-1", version)
        seen.append(await pulls.unreported())
        await pulls.hold_reports("run-2")
        for run_id in ("run-1", "run-2"):
            await pulls.append(run_id, [STARTED])
        seen.append(await pulls.unreported())
        await pulls.reported("run-1", 2)
        return [*seen, await pulls.unreported()]

    assert await run(tmp_path, work) == [("run-1", "run-2"), ("run-2",), ("run-1",), ()]


async def test_no_question_reads_the_whole_table(tmp_path: Path) -> None:
    async def work(database: Database) -> None:
        pulls = PullRuns(database)
        await pulls.create("run-1", spec())
        for question in (pulls.open_of(REPO, 5), pulls.latest_of(REPO, 5), pulls.count_of(REPO, 5, "aaa")):
            await question
        for other in (pulls.unfinished(), pulls.unreported(), pulls.get("run-1"), pulls.append("run-1", [STARTED])):
            await other

    found = await plans(tmp_path, work)
    assert len(found) == 9
    assert [plan for plan in found if "INDEX" not in plan] == []
    assert sum("pull_runs_untold" in plan for plan in found) == 1
