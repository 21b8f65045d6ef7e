"""Every unfinished run has somebody who works on it: none waits for ever for a job that isn't there."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from bot.model import Status
from bot.model.events.runs import SessionFinished
from bot.model.jobs import JobState
from bot.rules.reasons import quoted
from bot.workflows.maintenance.reconcile import reconcile
from tests.workflows.conftest import Harness

AtDesk = Callable[..., Any]


def looked_after(at_desk: AtDesk, state: JobState, *, cancelled: bool = False) -> tuple[list[str], str, str | None]:
    async def work(at: Harness) -> tuple[list[str], str, str | None]:
        await at.run("run-1", at.issue())
        if cancelled:
            await at.runs.request_cancel("run-1", quoted("unlabelled"))
        at.states = {"fix:run-1": state, "settle:run-1": state}
        await reconcile(at.context)
        row, folded = await at.row("run-1"), await at.state("run-1")
        return [job.id for job in at.jobs], row.status, folded.stop.reason if folded.stop else None

    return at_desk(work)  # type: ignore[no-any-return]


def test_a_run_whose_job_was_never_written_gets_it(at_desk: AtDesk) -> None:
    assert looked_after(at_desk, "unknown") == (["fix:run-1"], Status.QUEUED, None)


def test_a_cancelled_run_gets_the_job_that_says_its_last_word(at_desk: AtDesk) -> None:
    assert looked_after(at_desk, "unknown", cancelled=True) == (["settle:run-1"], Status.QUEUED, None)


@pytest.mark.parametrize("state", ["waiting", "running"])
def test_a_run_that_waits_or_is_worked_on_is_left_alone(at_desk: AtDesk, state: JobState) -> None:
    assert looked_after(at_desk, state) == ([], Status.QUEUED, None)


@pytest.mark.parametrize("cancelled", [False, True])
def test_a_run_whose_job_was_given_up_ends_with_that_reason(at_desk: AtDesk, cancelled: bool) -> None:
    assert looked_after(at_desk, "ended", cancelled=cancelled) == ([], Status.FAILED, "gave_up")


def test_a_run_that_ended_while_we_looked_keeps_its_end(at_desk: AtDesk) -> None:
    async def work(at: Harness) -> str:
        await at.run("run-1", at.issue())
        ask = at.context.job_state

        async def ends_meanwhile(job_id: str) -> JobState:
            await at.runs.append("run-1", [SessionFinished(status=Status.SUCCESS)])
            return "ended" if await ask(job_id) else "unknown"

        object.__setattr__(at.context, "job_state", ends_meanwhile)
        await reconcile(at.context)
        return (await at.row("run-1")).status

    assert at_desk(work) == Status.SUCCESS
