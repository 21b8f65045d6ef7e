"""The kernel with a kind of its own: it decides, acts, waits, stops and gives up as the kind says."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime
from typing import Any

from bot.model import Status
from bot.model.events.runs import SessionStarted
from bot.model.reasons import ExplainedStop
from bot.rules.reasons import quoted
from bot.rules.runs.state import RunState
from bot.store.runs.runs import RunRow
from bot.workflows.context import Context
from bot.workflows.kernel import AnyKind, NotYet, fail_run, settle_run, step_run, stop_run
from bot.workflows.runs.loop import FIX_RUN
from tests.workflows.conftest import Harness

AtDesk = Callable[..., Any]


def decide(_row: RunRow, state: RunState, _now: datetime) -> str | None:
    return "begin" if state.started_at is None else None


async def act(context: Context, row: RunRow, _state: RunState, action: str) -> None:
    await context.stores.runs.append(row.id, [SessionStarted(task=action)])


KIND: AnyKind = replace(FIX_RUN, next_action=decide, act=act)


def test_it_does_one_effect_at_a_time_until_there_is_none(at_desk: AtDesk) -> None:
    async def work(at: Harness) -> list[bool]:
        await at.run("run-1", 1)
        done = [(await step_run(at.context, KIND, "run-1")).done for _ in range(2)]
        assert [event.type for event in await at.runs.events("run-1")] == ["session_started"]
        return [*done, (await step_run(at.context, KIND, "run-none")).done]

    assert at_desk(work) == [False, True, True]


def test_a_run_that_has_to_wait_does_nothing_and_is_asked_again(at_desk: AtDesk) -> None:
    async def wait(*_: object) -> None:
        raise NotYet(7.0)

    async def work(at: Harness) -> tuple[bool, float, int]:
        await at.run("run-1", 1)
        outcome = await step_run(at.context, replace(KIND, may_go_on=wait), "run-1")
        return outcome.done, outcome.wait_s, len(await at.runs.events("run-1"))

    assert at_desk(work) == (False, 7.0, 0)


def test_a_run_that_was_asked_to_stop_is_left_to_its_settle_job(at_desk: AtDesk) -> None:
    async def work(at: Harness) -> tuple[list[bool], list[str], Status]:
        row = await at.run("run-1", 1)
        asked = [await stop_run(at.context, KIND, row, quoted("stopped by ada")) for _ in range(2)]
        assert (await step_run(at.context, KIND, "run-1")).done and not await at.runs.events("run-1")
        await settle_run(at.context, KIND, "run-1")
        return asked, [job.id for job in at.jobs], (await at.row("run-1")).status

    assert at_desk(work) == ([True, False], ["settle:run-1"], Status.CANCELLED)


def test_a_run_ends_once_and_keeps_its_end(at_desk: AtDesk) -> None:
    async def work(at: Harness) -> tuple[Status, str]:
        await at.run("run-1", 1)
        for reason in ("refused", "gave_up"):
            await fail_run(at.context, KIND, "run-1", ExplainedStop(reason=reason, details=quoted("no")))
        await settle_run(at.context, KIND, "run-1")
        stop = (await at.state("run-1")).stop
        return (await at.row("run-1")).status, stop.reason if stop else ""

    assert at_desk(work) == (Status.FAILED, "refused")
