"""An effect ends when it ends or when somebody asks the run to stop, and for no other reason."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Callable
from typing import Any

import pytest

from bot.errors import Transient
from bot.rules.reasons import quoted
from bot.store.runs.runs import RunRow
from bot.workflows import run_control
from bot.workflows.run_control import RunControl
from tests.machine import PATIENCE_S
from tests.workflows.conftest import Harness

AtDesk = Callable[..., Any]


@pytest.fixture(autouse=True)
def quick_polls(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run_control, "_CANCEL_POLL_S", 0.05)


async def forever(begun: asyncio.Event | None = None) -> None:
    if begun is not None:
        begun.set()
    await asyncio.Event().wait()


def test_an_effect_that_ends_has_ended_and_its_errors_are_raised(at_desk: AtDesk) -> None:
    async def fails() -> None:
        raise KeyError("snapshot")

    async def work(at: Harness) -> bool:
        await at.run("run-1", 1)
        with pytest.raises(KeyError):
            await at.context.control.interruptibly("run-1", fails(), at.runs)
        return await at.context.control.interruptibly("run-1", asyncio.sleep(0.01), at.runs)

    assert at_desk(work) is True


def test_a_signal_interrupts_and_the_effect_is_over_when_that_is_told(at_desk: AtDesk) -> None:
    over: list[str] = []

    async def effect(begun: asyncio.Event) -> None:
        try:
            await forever(begun)
        finally:
            await asyncio.sleep(0.05)
            over.append("cleaned up")

    async def work(at: Harness) -> bool:
        await at.run("run-1", 1)
        begun = asyncio.Event()
        busy = asyncio.create_task(at.context.control.interruptibly("run-1", effect(begun), at.runs))
        await begun.wait()
        at.context.control.signal("run-1")
        ended = await busy
        assert over == ["cleaned up"]
        return ended

    assert at_desk(work) is False


def test_a_request_in_the_database_interrupts_too(at_desk: AtDesk) -> None:
    async def work(at: Harness) -> bool:
        await at.run("run-1", 1)
        busy = asyncio.create_task(at.context.control.interruptibly("run-1", forever(), at.runs))
        await at.runs.request_cancel("run-1", quoted("closed"))
        return await asyncio.wait_for(busy, PATIENCE_S)

    assert at_desk(work) is False


def test_a_database_that_is_busy_cuts_no_effect_short(at_desk: AtDesk) -> None:
    async def work(at: Harness) -> bool:
        await at.run("run-1", 1)
        asked = []

        class Busy(type(at.runs)):  # type: ignore[misc]
            async def get(self, run_id: str) -> RunRow | None:
                asked.append(run_id)
                raise Transient("the database cannot be read: database is locked")

        async def effect() -> None:
            while len(asked) < 2:  # noqa: ASYNC110  # it is asked behind its back
                await asyncio.sleep(0.01)

        return await RunControl().interruptibly("run-1", effect(), Busy(at.database))

    assert at_desk(work) is True


def test_one_at_a_time_works_on_a_run_and_another_run_need_not_wait(at_desk: AtDesk) -> None:
    async def work(at: Harness) -> tuple[bool, bool]:
        control = at.context.control
        async with control.lock("run-1"):
            return control.lock("run-1").locked(), control.lock("run-2").locked()

    assert at_desk(work) == (True, False)


def test_runs_that_are_over_are_forgotten(at_desk: AtDesk) -> None:
    async def work(at: Harness) -> int:
        control = at.context.control
        for number in range(50):
            async with control.lock(f"run-{number}"):
                await control.interruptibly(f"run-{number}", asyncio.sleep(0), at.runs)
            control.signal(f"run-{number}")
        gc.collect()
        return len(control._locks) + len(control._signals)

    assert at_desk(work) <= 2  # the interpreter may still hold the last one's


def test_a_process_that_leaves_cuts_effects_short_and_ends_no_job(at_desk: AtDesk) -> None:
    async def work(at: Harness) -> bool:
        await at.run("run-1", 1)
        begun = asyncio.Event()
        busy = asyncio.create_task(at.context.control.interruptibly("run-1", forever(begun), at.runs))
        await begun.wait()
        await at.context.control.halt()
        await asyncio.sleep(0.1)
        told = busy.done()
        busy.cancel()
        return told

    assert at_desk(work) is False
