"""What happened while the bot was down: runs that nobody wants any more stop, lost deliveries are asked for again."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from bot.app import worker
from bot.errors import Transient
from bot.model import Issue
from bot.reports.locale.reasons import english
from bot.store.database.database import now_ms
from bot.store.inbox.deliveries import Delivery, Inbox
from bot.workflows.maintenance import catch_up
from bot.workflows.maintenance.catch_up import RedeliverySweep, catch_up_loop, check_threads
from tests.machine import PATIENCE_S, kept_port
from tests.workflows.conftest import NAME, Harness

AtDesk = Callable[..., Any]


async def looked(at: Harness, meanwhile: Callable[[int], object]) -> tuple[str | None, list[str]]:
    """What became of a run of two issues, given what was done to one of them; the other was closed."""
    one, other = at.issue(), at.issue()
    issues = tuple(Issue(number=number, title="t", labels=("auto-fix",)) for number in (one, other))
    assert await at.runs.create("run-1", at.spec(issues=issues, suggested_branch="fix/x"))
    at.github.world.close_issue(NAME, other, "ada")
    meanwhile(one)
    await check_threads(at.context)
    because = (await at.row("run-1")).cancel_because
    return because and english(because), [job.id for job in at.jobs]


def test_a_run_whose_issues_were_all_given_up_meanwhile_is_stopped_once(at_desk: AtDesk) -> None:
    """G-5."""

    async def work(at: Harness) -> tuple[str | None, list[str]]:
        stopped = await looked(at, lambda number: at.github.world.remove_label(NAME, number, "auto-fix", "ada"))
        await check_threads(at.context)
        assert len(at.jobs) == 1
        return stopped

    assert at_desk(work) == ("the label `auto-fix` was removed from #1 meanwhile", ["settle:run-1"])


@pytest.mark.parametrize(("status", "stopped"), [(None, False), (403, False), (410, True)])
def test_one_that_is_wanted_or_cannot_be_asked_about_goes_on(
    at_desk: AtDesk, status: int | None, stopped: bool
) -> None:
    async def work(at: Harness) -> tuple[str | None, list[str]]:
        def trouble(number: int) -> None:
            if status is not None:
                at.github.world.faults.add("GET", f"/repos/{NAME}/issues/{number}", status=status, times=9)

        return await looked(at, trouble)

    because, jobs = at_desk(work)
    assert (because is not None, jobs) == (stopped, ["settle:run-1"] if stopped else [])


@pytest.fixture(autouse=True)
def short_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(catch_up, "ASK_PAUSE_S", 0.01)
    monkeypatch.setattr(catch_up, "PAGE_PAUSE_S", 0.01)


def test_deliveries_that_failed_and_that_nobody_has_are_asked_for_again(at_desk: AtDesk) -> None:
    async def work(at: Harness) -> tuple[list[str], list[str], int, int]:
        world, since = at.github.world, datetime.now(UTC) - timedelta(days=3)
        world.set_webhook_url(f"http://127.0.0.1:{kept_port()}/")
        at.issue(), at.issue()
        world.wait_delivered()
        sent = world.deliveries
        known = sent[0].guid  # it came, and GitHub never heard so
        await Inbox(at.database).accept(Delivery(id=known, event="issues", payload=b"{}", received_at=now_ms()))
        world.faults.add("GET", "/app/hook/deliveries", status=403, times=1)
        first = RedeliverySweep(at.context, since)
        refused = await first.run()
        assert first.seen_to == since
        second = RedeliverySweep(at.context, since)
        asked = await second.run()
        assert since < second.seen_to < datetime.now(UTC)
        assert refused == 0
        again = [one.guid for one in world.deliveries[len(sent) :]]
        return [one.guid for one in sent if one.guid != known], again, asked, len(sent)

    lost, again, asked, sent = at_desk(work)
    assert again == lost
    assert asked == sent - 1 > 1


def test_after_a_start_both_are_done_once(at_desk: AtDesk, monkeypatch: pytest.MonkeyPatch) -> None:
    assert catch_up_loop in worker._APP_LOOPS
    monkeypatch.setattr(catch_up, "FIRST_S", 0.0)

    async def work(at: Harness) -> tuple[str | None, list[str]]:
        at.github.world.set_webhook_url(f"http://127.0.0.1:{kept_port()}/")
        number = at.issue()
        issue = Issue(number=number, title="t", labels=("auto-fix",))
        assert await at.runs.create("run-1", at.spec(issues=(issue,), suggested_branch="fix/x"))
        at.github.world.close_issue(NAME, number, "ada")
        at.github.world.wait_delivered()
        lost = {one.guid for one in at.github.world.deliveries}
        loop = asyncio.create_task(catch_up_loop(at.context))
        async with asyncio.timeout(PATIENCE_S):
            while at.requests("POST", "/app/hook/deliveries/") < len(lost):  # noqa: ASYNC110  # the stand-in counts
                await asyncio.sleep(0.02)
        loop.cancel()
        return english((await at.row("run-1")).cancel_because), [job.id for job in at.jobs]

    assert at_desk(work) == ("#1 was closed meanwhile", ["settle:run-1"])


def test_what_is_refused_while_the_bot_is_up_is_asked_for_again_within_five_minutes(
    at_desk: AtDesk, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert catch_up.EVERY_S + catch_up.AGAIN_S <= 300
    monkeypatch.setattr(catch_up, "FIRST_S", 0.0)
    monkeypatch.setattr(catch_up, "EVERY_S", 0.05)

    async def work(at: Harness) -> None:
        at.github.world.set_webhook_url(f"http://127.0.0.1:{kept_port()}/")
        loop = asyncio.create_task(catch_up_loop(at.context))
        async with asyncio.timeout(PATIENCE_S):
            while at.requests("GET", "/app/hook/deliveries") < 2:  # noqa: ASYNC110  # the stand-in counts
                await asyncio.sleep(0.02)
            at.issue()
            while at.requests("POST", "/app/hook/deliveries/") < 2:  # noqa: ASYNC110
                await asyncio.sleep(0.02)
        loop.cancel()

    at_desk(work)


def test_a_sweep_that_github_cuts_short_goes_on_where_it_was_and_asks_for_each_once(at_desk: AtDesk) -> None:
    async def work(at: Harness) -> tuple[list[str], list[str], int]:
        world = at.github.world
        world.set_webhook_url(f"http://127.0.0.1:{kept_port()}/")
        for _ in range(3):
            at.issue()
        world.wait_delivered()
        lost = [one.guid for one in world.deliveries]
        last = world.deliveries[-1].id
        world.faults.add("POST", f"/app/hook/deliveries/{last}/attempts", status=503, times=3)
        sweep = RedeliverySweep(at.context, datetime.now(UTC) - timedelta(days=3))
        with pytest.raises(Transient):
            await sweep.run()
        listed = at.requests("GET", "/app/hook/deliveries")
        asked = await sweep.run()
        assert at.requests("GET", "/app/hook/deliveries") == listed
        return lost, [one.guid for one in world.deliveries[len(lost) :]], asked

    lost, again, asked = at_desk(work)
    assert (again, asked) == (lost, len(lost))


def test_what_was_sent_again_is_judged_by_its_newest_attempt(at_desk: AtDesk) -> None:
    """It came the second time, to a server whose inbox is no more, or it failed again: then it is asked for once."""

    async def work(at: Harness) -> tuple[int, int, int]:
        world, since = at.github.world, datetime.now(UTC) - timedelta(days=3)
        world.set_webhook_url(f"http://127.0.0.1:{kept_port()}/")
        at.issue()
        world.wait_delivered()
        lost = len(world.deliveries)
        for _ in range(2):
            assert await RedeliverySweep(at.context, since).run() == lost
            world.wait_delivered()
        return lost, len(world.deliveries), at.requests("POST", "/app/hook/deliveries/")

    lost, attempts, asked = at_desk(work)
    assert (attempts, asked) == (3 * lost, 2 * lost)
