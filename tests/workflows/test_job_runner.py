"""Whatever a job raises becomes a wait or a reason that people see; no job ends without a word, no loop ends at all."""

from __future__ import annotations

import asyncio

import pytest

from bot.errors import ConfigError, Refused, Stale, Transient, UserError
from bot.model.jobs import JobArgs, StepResult
from bot.model.reasons import ExplainedStop
from bot.reports.locale.reasons import english
from bot.workflows import job_runner
from bot.workflows.job_runner import MAX_FAULTS, MAX_WAIT_S, backoff_s, guarded, persistently
from tests.machine import PATIENCE_S


class FailRecorder:
    """Records how a job is failed; its next calls raise `errors`, in turn."""

    def __init__(self, *errors: Exception) -> None:
        self._errors = list(errors)
        self.tried: list[bool] = []
        self.stop: ExplainedStop | None = None

    async def __call__(self, args: JobArgs, stop: ExplainedStop, tidy: bool) -> None:
        self.tried.append(tidy)
        if self._errors:
            raise self._errors.pop(0)
        self.stop = stop


async def step(error: Exception | None, failed: FailRecorder, faults: int = 0) -> StepResult:
    async def advance(args: JobArgs) -> StepResult:
        if error is not None:
            raise error
        return StepResult(done=False)

    return await guarded("fix", advance, failed)({"run_id": "run-1"}, faults)


async def test_what_goes_well_is_passed_on() -> None:
    failed = FailRecorder()
    assert await step(None, failed) == StepResult(done=False)
    assert failed.tried == []


@pytest.mark.parametrize(
    ("error", "reason", "said"),
    [
        (UserError("the base branch is gone"), "refused", "the base branch is gone"),
        (ConfigError("unknown agent"), "refused", "unknown agent"),
        (Refused("setup_failed", "make: no rule"), "setup_failed", "make: no rule"),
        (Stale("the App is no longer installed"), "stale", "no longer installed"),
        (KeyError("snapshot"), "internal_error", "KeyError"),
    ],
)
async def test_what_cannot_pass_ends_the_job_with_its_reason(error: Exception, reason: str, said: str) -> None:
    failed = FailRecorder()
    assert await step(error, failed) == StepResult(done=True)
    assert failed.stop is not None and failed.stop.reason == reason
    assert said in english(failed.stop.details)


async def test_a_bug_of_ours_does_not_publish_its_words() -> None:
    failed = FailRecorder()
    await step(RuntimeError("token ghs_something"), failed)
    assert "ghs_" not in str(failed.stop)


async def test_a_passing_fault_is_waited_out_and_counts() -> None:
    failed = FailRecorder()
    assert await step(Transient("GitHub is down"), failed, faults=2) == StepResult(done=False, fault=True, wait_s=8)
    assert failed.tried == []


async def test_the_other_side_may_ask_for_a_longer_wait() -> None:
    assert (await step(Transient("rate limit", retry_after_s=1800), FailRecorder())).wait_s == 1800
    assert (await step(Transient("rate limit", retry_after_s=0.1), FailRecorder())).wait_s == 2


def test_waits_double_up_to_two_minutes_however_many_there_were() -> None:
    assert [backoff_s(faults) for faults in (0, 1, 2, 6, 5000)] == [2, 4, 8, MAX_WAIT_S, MAX_WAIT_S]


async def test_ten_minutes_of_github_being_down_end_no_job() -> None:
    waited, faults = 0.0, 0
    while not (outcome := await step(Transient("503"), FailRecorder(), faults)).done:
        waited, faults = waited + outcome.wait_s, faults + 1
    assert faults == MAX_FAULTS - 1
    assert waited > 3600


async def test_what_never_passes_is_given_up_in_the_end() -> None:
    failed = FailRecorder()
    assert (await step(Transient("503"), failed, faults=MAX_FAULTS - 1)).done
    assert failed.stop is not None and failed.stop.reason == "gave_up"


async def test_a_job_that_cannot_be_cleared_up_is_buried_all_the_same() -> None:
    failed = FailRecorder(OSError("the worktree resists"))
    assert await step(UserError("no"), failed) == StepResult(done=True)
    assert failed.tried == [True, False]
    assert failed.stop is not None and failed.stop.reason == "refused"


async def test_a_job_that_cannot_be_buried_at_all_is_taken_up_again_later() -> None:
    failed = FailRecorder(Transient("the disk is full"), Transient("the disk is full"))
    outcome = await step(UserError("no"), failed, faults=1)
    assert (outcome.done, outcome.fault, outcome.wait_s) == (False, True, 4)


async def test_a_cancelled_job_is_not_buried() -> None:
    failed = FailRecorder()

    async def advance(args: JobArgs) -> StepResult:
        raise asyncio.CancelledError

    with pytest.raises(asyncio.CancelledError):
        await guarded("fix", advance, failed)({}, 0)
    assert failed.tried == []


async def test_a_loop_survives_passing_faults_and_bugs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(job_runner, "_PAUSE_S", 0.0)
    trouble: list[Exception] = [Transient("database is locked"), ValueError("a bug"), Transient("disk full")]
    began: list[int] = []

    async def loop() -> None:
        began.append(len(began))
        if trouble:
            raise trouble.pop(0)
        await asyncio.Event().wait()

    async def run() -> None:
        task = asyncio.create_task(persistently("deliveries", loop))
        while len(began) < 4:  # noqa: ASYNC110
            await asyncio.sleep(0)
        assert not task.done()
        task.cancel()

    await asyncio.wait_for(run(), PATIENCE_S)
