"""Detectors and the manager that counts iterations without progress (REQ-STOP-002..004)."""

from __future__ import annotations

import asyncio
import dataclasses
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import pytest

from bot.agent.progress import JudgeProgressDetector, SimpleProgressDetector, StopConditionManager
from bot.rules.stop.limits import LoopState, StopConditions

CONDITIONS = StopConditions(max_iterations=5, max_duration_ms=60_000, no_progress_threshold=3)


async def record(manager: StopConditionManager, outputs: Sequence[str]) -> LoopState:
    for output in outputs:
        await manager.record_iteration(output)
    return manager.get_state()


class Judge:
    """Answers what it was told to, and remembers what it was asked."""

    def __init__(self, answer: bool | Exception) -> None:
        self.answer = answer
        self.asked: list[tuple[str, str]] = []

    async def __call__(self, previous: str, current: str) -> bool:
        self.asked.append((previous, current))
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


async def test_the_simple_detector_goes_by_the_rule() -> None:
    """REQ-STOP-002."""
    detector = SimpleProgressDetector()
    assert await detector.detect_progress("error: 2 tests failed", "error: 1 test failed")
    assert not await detector.detect_progress("same", "same")


@pytest.mark.parametrize("answer", [True, False])
async def test_the_judge_decides(answer: bool) -> None:
    """REQ-STOP-003."""
    judge = Judge(answer)
    assert await JudgeProgressDetector(judge).detect_progress("previous", "current") is answer
    assert judge.asked == [("previous", "current")]


async def test_a_judge_may_be_a_plain_function() -> None:
    assert not await JudgeProgressDetector(lambda previous, current: False).detect_progress("error", "success")


async def test_the_judge_is_not_asked_about_identical_outputs() -> None:
    """REQ-STOP-003."""
    judge = Judge(True)
    assert not await JudgeProgressDetector(judge).detect_progress("same", "same")
    assert judge.asked == []


async def test_where_the_judge_fails_the_rule_decides() -> None:
    """REQ-STOP-003."""
    detector = JudgeProgressDetector(Judge(RuntimeError("API error")))
    assert await detector.detect_progress("error", "success")
    assert not await detector.detect_progress("1 failed", "2 failed")


async def test_cancelling_is_no_failure_of_the_judge() -> None:
    async def judge(previous: str, current: str) -> bool:
        await asyncio.Event().wait()
        return True

    task = asyncio.create_task(JudgeProgressDetector(judge).detect_progress("a", "b"))
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


def test_a_manager_begins_at_nothing() -> None:
    state = StopConditionManager(CONDITIONS).get_state()
    assert (state.iterations, state.no_progress_count) == (0, 0)
    assert datetime.now(UTC) - state.started_at < timedelta(minutes=1)


async def test_iterations_are_counted() -> None:
    assert (await record(StopConditionManager(CONDITIONS), ["output 1", "output 2"])).iterations == 2


async def test_the_first_iteration_is_compared_with_nothing() -> None:
    """REQ-STOP-004."""
    assert (await record(StopConditionManager(CONDITIONS), [""])).no_progress_count == 0


async def test_an_empty_first_output_is_still_the_one_compared_with() -> None:
    assert (await record(StopConditionManager(CONDITIONS), ["", ""])).no_progress_count == 1


async def test_identical_outputs_count_up_and_are_returned() -> None:
    """REQ-STOP-004."""

    manager = StopConditionManager(CONDITIONS)
    assert [await manager.record_iteration("same") for _ in range(4)] == [0, 1, 2, 3]


async def test_progress_resets_the_count() -> None:
    assert (await record(StopConditionManager(CONDITIONS), ["error", "error", "success"])).no_progress_count == 0


async def test_fewer_failures_are_progress() -> None:
    outputs = ["error: 2 tests failed", "error: 2 tests failed", "error: 1 test failed"]
    manager = StopConditionManager(dataclasses.replace(CONDITIONS, no_progress_threshold=2))
    assert (await record(manager, outputs)).no_progress_count == 0
    assert manager.should_stop() is None


async def test_it_stops_at_the_last_iteration() -> None:
    manager = StopConditionManager(CONDITIONS)
    await record(manager, [f"iteration {number}" for number in range(5)])
    reason = manager.should_stop()
    assert reason is not None
    assert reason.reason == "max_iterations"


async def test_it_stops_without_progress_at_the_threshold_and_not_before() -> None:
    """REQ-STOP-004."""
    manager = StopConditionManager(dataclasses.replace(CONDITIONS, no_progress_threshold=2))
    reasons = []
    for _ in range(3):
        await record(manager, ["error: test failed"])
        reason = manager.should_stop()
        reasons.append(reason.reason if reason else None)
    assert reasons == [None, None, "no_progress"]


def test_it_stops_when_the_time_is_over() -> None:
    reason = StopConditionManager(CONDITIONS).should_stop(now=datetime.now(UTC) + timedelta(minutes=2))
    assert reason is not None
    assert reason.reason == "max_duration"


async def test_the_count_can_be_reset() -> None:
    """REQ-STOP-004."""
    manager = StopConditionManager(CONDITIONS)
    await record(manager, ["same", "same"])
    manager.reset_no_progress_count()
    assert manager.get_state().no_progress_count == 0


async def test_an_own_detector_is_asked_with_the_output_before() -> None:
    judge = Judge(False)
    state = await record(StopConditionManager(CONDITIONS, JudgeProgressDetector(judge)), ["one", "two", "three"])
    assert judge.asked == [("one", "two"), ("two", "three")]
    assert state.no_progress_count == 2


async def test_the_state_is_a_copy() -> None:
    """REQ-STOP-004."""
    manager = StopConditionManager(CONDITIONS)
    before = manager.get_state()
    await record(manager, ["output"])
    assert before.iterations == 0
    assert manager.get_state() is not manager.get_state()
