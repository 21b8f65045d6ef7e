"""Two groups that are about the same file: the second waits for the first, says so, and loses no time of its own."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from bot.model import Issue, Repo, Status
from bot.reports.locale.reasons import english
from bot.rules.reasons import quoted
from bot.rules.runs.spec import RunSpec
from bot.store.runs.runs import RunRow
from bot.workflows.kernel import step_run
from bot.workflows.runs.begin import PathsTaken, begin_run
from bot.workflows.runs.finish import finish
from bot.workflows.runs.loop import FIX_RUN
from tests.workflows.conftest import Harness, ScriptedAgent
from tests.workflows.first_attempt import mend

AtDesk = Callable[..., Any]


def about(number: int, text: str) -> tuple[Issue, ...]:
    return (Issue(number=number, title=f"Issue {number}", body=text),)


async def group(at: Harness, run_id: str, number: int, text: str) -> RunRow:
    return await at.run(run_id, number, issues=about(number, text))


async def kinds(at: Harness, run_id: str) -> list[str]:
    return [event.type for event in await at.runs.events(run_id)]


async def end(at: Harness, row: RunRow) -> None:
    await finish(at.context, row, await at.state(row.id), Status.FAILED, None)


def test_the_second_group_waits_says_for_whom_and_what_and_begins_when_the_first_has_ended(at_desk: AtDesk) -> None:
    """REQ-WF: a group whose paths another open group is changing waits for it, and says so."""

    async def work(at: Harness) -> tuple[str | None, bool, list[str], str | None, list[str]]:
        first = await group(at, "run-1", 4, "`answer.txt` is wrong")
        await group(at, "run-2", 7, "see answer.txt, line 1")
        await step_run(at.context, FIX_RUN, "run-1")
        outcome = await step_run(at.context, FIX_RUN, "run-2")
        said, kept = english((await at.row("run-2")).waiting_for), await kinds(at, "run-2")
        await end(at, first)
        assert not (await step_run(at.context, FIX_RUN, "run-2")).done
        return said, outcome.done, kept, english((await at.row("run-2")).waiting_for), await kinds(at, "run-2")

    said, done, kept, after, begun = at_desk(work)
    assert "#4" in said and "answer.txt" in said
    assert (done, kept) == (False, [])
    assert (after, begun[0]) == ("", "session_started")


def test_what_the_first_group_changed_beyond_its_issues_counts_too(at_desk: AtDesk) -> None:
    async def work(at: Harness) -> str:
        at.hands = [ScriptedAgent(mend)]
        await at.run("run-1", 1, issues=about(1, "it is wrong"))
        while not (await at.state("run-1")).changed_paths:
            await step_run(at.context, FIX_RUN, "run-1")
        with pytest.raises(PathsTaken) as raised:
            await begin_run(at.context, await group(at, "run-2", 2, "answer.txt"))
        return str(raised.value)

    assert "The run for #1 is changing `answer.txt`." in at_desk(work)


def test_groups_about_different_files_run_side_by_side(at_desk: AtDesk) -> None:
    async def work(at: Harness) -> list[str | None]:
        rows = [await group(at, "run-1", 1, "answer.txt"), await group(at, "run-2", 2, "check.py")]
        await asyncio.gather(*(begin_run(at.context, row) for row in rows))
        return [(await at.state(row.id)).branch for row in rows]

    assert at_desk(work) == ["fix/issue-1", "fix/issue-2"]


def test_of_many_that_begin_at_once_each_gets_its_turn_and_no_two_hold_a_file_together(at_desk: AtDesk) -> None:
    wanted = ["answer.txt", "answer.txt and check.py", "check.py and answer.txt", "check.py"]

    async def work(at: Harness) -> int:
        rows = [await group(at, f"run-{number}", number, text) for number, text in enumerate(wanted, 1)]
        working: dict[str, set[str]] = {}

        async def through(row: RunRow) -> None:
            while "session_started" not in await kinds(at, row.id):
                await step_run(at.context, FIX_RUN, row.id)
                await asyncio.sleep(0.01)
            own = set((await at.state(row.id)).focus)
            assert not any(own & held for held in working.values()), (row.id, working)
            working[row.id] = own
            await asyncio.sleep(0.05)
            del working[row.id]
            await end(at, row)

        await asyncio.gather(*map(through, rows))
        return sum(["session_finished" in await kinds(at, row.id) for row in rows])

    assert at_desk(work, max_worktrees=9) == 4


def test_after_a_crash_the_first_group_still_holds_its_files_and_the_second_still_begins(at_desk: AtDesk) -> None:
    async def work(at: Harness) -> tuple[str, str | None]:
        first = await group(at, "run-1", 1, "answer.txt")
        second = await group(at, "run-2", 2, "answer.txt")
        cut = asyncio.create_task(begin_run(at.context, first))
        while not at.context.control.claims:  # noqa: ASYNC110
            await asyncio.sleep(0)
        cut.cancel()
        await asyncio.gather(cut, return_exceptions=True)
        assert not at.context.control.claims, "a claim outlived who made it"
        await begin_run(at.context, first)
        at.context.control.claims.clear()  # what a new process knows
        with pytest.raises(PathsTaken) as raised:
            await begin_run(at.context, second)
        await end(at, first)
        await begin_run(at.context, second)
        return str(raised.value), (await at.state("run-2")).branch

    said, branch = at_desk(work)
    assert ("#1" in said, branch) == (True, "fix/issue-2")


def test_a_group_that_was_asked_to_stop_holds_nothing(at_desk: AtDesk) -> None:
    async def work(at: Harness) -> str | None:
        await begin_run(at.context, await group(at, "run-1", 1, "answer.txt"))
        await at.runs.request_cancel("run-1", quoted("closed"))
        await begin_run(at.context, await group(at, "run-2", 2, "answer.txt"))
        return (await at.state("run-2")).branch

    assert at_desk(work) == "fix/issue-2"


def test_another_repositorys_file_of_that_name_is_another_file(at_desk: AtDesk) -> None:
    async def work(at: Harness) -> list[str | None]:
        at.github.world.create_repo("octo/other", {"answer.txt": "41\n"})
        other = Repo(owner="octo", name="other", installation_id=at.github.world.installation_id("octo/other"))
        spec: RunSpec = at.spec(1, repo=other, issues=about(1, "answer.txt"))
        assert await at.runs.create("run-2", spec)
        rows = [await group(at, "run-1", 1, "answer.txt"), await at.row("run-2")]
        await asyncio.gather(*(begin_run(at.context, row) for row in rows))
        return [(await at.state(row.id)).branch for row in rows]

    assert at_desk(work) == ["fix/issue-1", "fix/issue-1"]


def test_whoever_begins_and_lets_go_while_another_looks_is_seen(
    at_desk: AtDesk, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The narrowest moment: the first group's events come, and its claim goes, after the second has read its events."""

    async def work(at: Harness) -> str:
        first, second = await group(at, "run-1", 1, "answer.txt"), await group(at, "run-2", 2, "answer.txt")
        control, read, write = at.context.control, at.runs.events, at.runs.append
        looks: list[asyncio.Task[None]] = []
        looked = asyncio.Event()

        async def events(_: Any, run_id: str, after: int = 0) -> Any:
            found = await read(run_id, after)
            if run_id == "run-1" and asyncio.current_task() is looking and not looks:
                looks.append(asyncio.create_task(begin_run(at.context, first)))  # the second has seen nobody yet
                while "run-1" not in control.claims:  # noqa: ASYNC110
                    await asyncio.sleep(0)
            elif run_id == "run-1" and asyncio.current_task() is looking:
                looked.set()
                await looks[0]
            return found

        async def append(_: Any, run_id: str, *events: Any) -> None:
            await looked.wait()
            await write(run_id, *events)

        monkeypatch.setattr(type(at.runs), "events", events)
        monkeypatch.setattr(type(at.runs), "append", append)
        looking = asyncio.create_task(begin_run(at.context, second))
        with pytest.raises(PathsTaken) as raised:
            await looking
        return str(raised.value)

    assert "#1" in at_desk(work)


def test_who_waits_for_another_group_asks_github_nothing(at_desk: AtDesk) -> None:
    async def work(at: Harness) -> int:
        await begin_run(at.context, await group(at, "run-1", 1, "answer.txt"))
        await group(at, "run-2", 2, "answer.txt")
        before = len(at.github.world.requests)
        for _ in range(3):
            await step_run(at.context, FIX_RUN, "run-2")
        return len(at.github.world.requests) - before

    assert at_desk(work) == 0
