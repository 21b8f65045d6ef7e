"""Where a run stands once an attempt is refused because other tests ran: where it stood before that attempt."""

from __future__ import annotations

from bot.model import Validation, ValidationStep
from bot.model.events.runs import CheckEnded
from bot.rules.runs.changes import AttemptChange
from bot.rules.runs.state import RunState
from bot.rules.runs.suite_state import BeforeAttempt, refused
from bot.rules.stop.trajectory import TrajectoryState
from tests.run_events import run_event

FAILED = ValidationStep(command="pytest", stage="test", passed=False, exit_code=1)
PASSED = ValidationStep(command="pytest", stage="test", passed=True, exit_code=0)
BASE = Validation(passed=False, summary="test failed", steps=(FAILED,))


def test_a_refused_attempt_leaves_the_run_on_the_base_with_its_failures() -> None:
    state = RunState(
        baseline=BASE,
        attempt=1,
        start="base",
        snapshot="lie",
        states=(TrajectoryState("base", 0, frozenset({"FAILED test_a"}), patch_hash="", passed=False),),
        iterations=(0,),
        made=(AttemptChange(1, "command", "base", "lie", "hash", ("tests/test_a.py",), ()),),
        before=(BeforeAttempt("base", (), (), (), ()),),
    )
    event = run_event(
        "validation_command_completed", "validation", 1, refused="test_a ran before and did not run after the change"
    )
    assert isinstance(event, CheckEnded)
    after = refused(state, event, (PASSED,))
    assert after.snapshot == "base"
    assert after.standing == BASE
    assert after.failing == ("FAILED test_a",)
    assert not after.passed
