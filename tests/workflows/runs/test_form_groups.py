"""Candidates become runs when their burst falls quiet, by what GitHub says then; none is lost and none is doubled."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import Any

from bot.config import POLICY_PATH
from bot.model import Status
from bot.model.events.runs import SessionFinished
from bot.rules.reasons import quoted
from bot.store.runs.runs import RunRow
from bot.workflows.runs.form_groups import gather, grouping_loop
from tests.machine import PATIENCE_S
from tests.workflows.conftest import NAME, Harness

AtDesk = Callable[..., Any]


async def until(condition: Callable[[], Any], timeout_s: float = PATIENCE_S) -> None:
    async with asyncio.timeout(timeout_s):
        while not await condition():  # noqa: ASYNC110  # the state is in a database
            await asyncio.sleep(0.02)


async def looping(at: Harness, work: Callable[[], Any]) -> Any:
    """Does the work while the loop runs."""
    loop = asyncio.create_task(grouping_loop(at.context))
    try:
        return await work()
    finally:
        loop.cancel()


def test_a_group_becomes_one_run_with_one_job_and_leaves_the_candidates(at_desk: AtDesk) -> None:
    async def work(at: Harness) -> tuple[RunRow, list[str], tuple[int, ...]]:
        numbers = at.issue("A"), at.issue("B")
        for number in numbers:
            await at.wait(number)
        await gather(at.context, at.repo, numbers)
        (row,) = await at.runs.all()
        return row, [job.id for job in at.jobs], await at.waiting()

    row, jobs, waiting = at_desk(work)
    assert [issue.number for issue in row.spec.issues] == [1, 2]
    assert (row.spec.base_branch, row.spec.suggested_branch, row.status) == ("main", "fix/issue-1-2", Status.QUEUED)
    assert row.spec.policy.checks.test.command == "python3 check.py"
    assert (jobs, waiting) == ([f"fix:{row.id}"], ())


def test_agents_and_attempts_are_the_repositorys_where_it_says_so(at_desk: AtDesk) -> None:
    async def work(at: Harness) -> list[tuple[tuple[str, ...], int]]:
        found = []
        for text in ("max_attempts: 2\n", "agents: [fixers]\n", "agents: []\n"):
            at.github.world.push_commit(NAME, "main", {POLICY_PATH: text}, "ada")
            number = at.issue()
            await at.wait(number)
            await gather(at.context, at.repo, (number,))
            spec = (await at.runs.all())[-1].spec
            found.append((spec.agents, spec.max_attempts))
        return found

    assert at_desk(work, agents=("command",)) == [(("command",), 2), (("fixers",), 3), ((), 3)]


def test_what_is_no_longer_wanted_is_dropped_without_a_run(at_desk: AtDesk) -> None:
    async def work(at: Harness) -> tuple[int, tuple[int, ...]]:
        world = at.github.world
        closed, skipped, unlabelled, gone = at.issue(), at.issue(), at.issue(), 404
        world.close_issue(NAME, closed, "ada")
        world.add_label(NAME, skipped, "auto-fix-skip", "ada")
        world.remove_label(NAME, unlabelled, "auto-fix", "ada")
        for number in (closed, skipped, unlabelled, gone):
            await at.wait(number)
        await gather(at.context, at.repo, (closed, skipped, unlabelled, gone))
        return len(await at.runs.all()), await at.waiting()

    assert at_desk(work) == (0, ())


def test_gathering_again_adds_nothing(at_desk: AtDesk) -> None:
    async def work(at: Harness) -> tuple[int, int, tuple[int, ...]]:
        number = at.issue()
        for _ in range(3):
            await at.wait(number)  # as a second delivery of the same label may, after the run was made
            await gather(at.context, at.repo, (number,))
        return len(await at.runs.all()), len(at.jobs), await at.waiting()

    assert at_desk(work) == (1, 1, ())


def test_secrets_in_an_issue_are_neither_stored_nor_passed_on(at_desk: AtDesk) -> None:
    token = "ghp_" + "a1B2" * 10

    async def work(at: Harness) -> str:
        number = at.issue(f"Token {token}", f"My token is {token}\x1b[31m and `answer.txt` is wrong")
        await at.wait(number)
        await gather(at.context, at.repo, (number,))
        return (await at.runs.all())[0].spec.model_dump_json()

    stored = at_desk(work)
    assert token not in stored
    assert "***" in stored and "answer.txt" in stored and "\\u001b" not in stored


def test_an_issue_whose_run_is_being_stopped_waits_and_then_gets_its_own(at_desk: AtDesk) -> None:
    async def work(at: Harness) -> tuple[list[str], int]:
        number = at.issue()
        await at.run("run-old", number)
        await at.runs.request_cancel("run-old", quoted("unlabelled"))
        await at.wait(number)

        async def scene() -> int:
            await asyncio.sleep(1.5)
            asked = at.requests("GET", "/issues/")
            assert await at.waiting() == (number,)
            await at.runs.append("run-old", [SessionFinished(status=Status.CANCELLED)])

            async def there() -> bool:
                return bool(at.jobs)

            await until(there)
            return asked

        asked = await looping(at, scene)
        return [str(row.status) for row in await at.runs.all()], asked

    statuses, asked = at_desk(work)
    assert statuses == ["cancelled", "queued"]
    assert asked <= 4, "it asked GitHub again and again while it waited"


def test_a_fault_of_githubs_loses_no_candidate(at_desk: AtDesk) -> None:
    async def work(at: Harness) -> tuple[tuple[int, ...], int]:
        number = at.issue()
        await at.wait(number)
        down = at.github.world.faults.add(
            "GET", f"/repos/{NAME}", status=429, headers={"retry-after": "1"}, times=10_000
        )

        async def scene() -> tuple[tuple[int, ...], int]:
            async def refused() -> bool:
                bursts = await at.context.stores.candidates.bursts()
                return bool(bursts) and bursts[0].due_at > 0 and down.hits > 0

            await until(refused)
            waiting = await at.waiting()
            at.github.world.faults.clear()

            async def there() -> bool:
                return bool(at.jobs)

            await until(there)
            return waiting, len(at.jobs)

        return await looping(at, scene)

    assert at_desk(work) == ((1,), 1)


def test_where_the_app_was_uninstalled_candidates_are_dropped(at_desk: AtDesk) -> None:
    async def work(at: Harness) -> tuple[int, ...]:
        await at.wait(at.issue())
        at.github.world.uninstall_app(NAME)

        async def scene() -> tuple[int, ...]:
            async def empty() -> bool:
                return not await at.waiting()

            await until(empty)
            return await at.waiting()

        return await looping(at, scene)

    assert at_desk(work) == ()


def test_a_burst_waits_for_its_quiet_period(at_desk: AtDesk) -> None:
    """G-2."""

    async def work(at: Harness) -> float:
        number = at.issue()
        began = time.time()  # by the clock that the candidate is stamped with
        await at.wait(number, quiet_ms=700)

        async def scene() -> float:
            async def there() -> bool:
                return bool(at.jobs)

            await until(there)
            return time.time() - began

        return await looping(at, scene)

    assert at_desk(work) >= 0.7
