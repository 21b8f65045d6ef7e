"""An agent is asked for a failing test before the fix, in attempts of their own (REQ-PROOF-001)."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from typing import Any

from bot.model import Phase, RunEvent, Status
from bot.model.events.proof import ReproductionCompleted, ReproductionFailed
from bot.reports.locale.reasons import english
from bot.rules.runs.state import RunState
from tests.workflows.conftest import Harness
from tests.workflows.runs.proof_world import (
    PASSING_TEST,
    RIGHT,
    SUITE_WITH_TEST,
    UNLOADED_TEST,
    WRONG,
    Coder,
    fix,
    proof,
    prove,
    written,
)

AtDesk = Callable[..., Any]
GOOD = fix(RIGHT)


def ended(at_desk: AtDesk, *coders: Coder, **more: Any) -> tuple[RunState, list[RunEvent]]:
    """The state at the end, and what came of each request for a test."""

    async def work(at: Harness) -> tuple[RunState, list[RunEvent]]:
        state = await prove(at, *coders, **more)
        events = await at.runs.events("run-1")
        return state, [event for event in events if isinstance(event, ReproductionCompleted | ReproductionFailed)]

    found: tuple[RunState, list[RunEvent]] = at_desk(work)
    return found


def test_the_test_is_seen_to_fail_and_the_fix_is_asked_for_next(at_desk: AtDesk) -> None:
    """REQ-PROOF-001."""
    coder = Coder([GOOD], [written(SUITE_WITH_TEST)])
    state, (reproduced,) = ended(at_desk, coder)
    assert isinstance(reproduced, ReproductionCompleted)
    assert not reproduced.validation.passed and reproduced.paths == ("tests/test_shop.py",)
    first, second = coder.tasks
    assert (first.only_test, first.attempt, first.max_attempts) == (True, 1, 2)
    assert (second.only_test, second.attempt, second.max_attempts) == (False, 1, 3)
    assert second.baseline is not None and not second.baseline.passed, "it is what fails before the fix"
    assert len(second.failing_tests) == 1 and "test_total_of_none" in second.failing_tests[0]
    assert state.attempt == 1 and state.artifact_refs[Phase.REPRODUCTION] == "run-1.reproduction.1"
    assert proof(state).level == "proven"


def test_the_test_is_saved_as_a_diff_and_under_a_ref(at_desk: AtDesk) -> None:
    async def work(at: Harness) -> tuple[str, str]:
        await prove(at, Coder([GOOD], [written(SUITE_WITH_TEST)]))
        (event,) = [one for one in await at.runs.events("run-1") if isinstance(one, ReproductionCompleted)]
        logs = at.context.settings.home / "artifacts" / "run-1"
        mirror = at.context.mirror(at.repo)
        show = ["git", "-C", str(mirror), "show", f"{event.ref}:tests/test_shop.py"]
        saved = subprocess.run(show, capture_output=True, text=True, check=False).stdout
        return (logs / event.diff).read_text(), saved

    diff, saved = at_desk(work)
    assert "+    def test_total_of_none" in diff and "shop.py\n" not in diff.replace("test_shop.py", "")
    assert saved in (SUITE_WITH_TEST, ""), "the ref may be gone with its run"


def test_changes_of_other_files_are_dropped(at_desk: AtDesk) -> None:
    coder = Coder([{}], [{**GOOD, **written(SUITE_WITH_TEST)}])
    state, (reproduced,) = ended(at_desk, coder)
    assert isinstance(reproduced, ReproductionCompleted) and reproduced.paths == ("tests/test_shop.py",)
    assert state.finished is Status.FAILED, "without the fix the test still fails"


def test_an_agent_without_a_test_is_asked_once_and_named(at_desk: AtDesk) -> None:
    """REQ-PROOF-001."""
    coder = Coder([fix(WRONG)], [GOOD])
    state, (failed,) = ended(at_desk, coder)
    assert isinstance(failed, ReproductionFailed) and failed.final
    assert english(failed.because) == "`coder`: it changed no test file"
    assert proof(state).reproduction is not None and proof(state).level == "unproven"
    assert coder.for_a_fix[0].failing_tests == ()


def test_a_test_that_passes_is_sent_back_once(at_desk: AtDesk) -> None:
    coder = Coder([GOOD], [written(PASSING_TEST), written(SUITE_WITH_TEST)])
    state, (failed, reproduced) = ended(at_desk, coder)
    assert isinstance(failed, ReproductionFailed) and not failed.final
    assert isinstance(reproduced, ReproductionCompleted)
    assert "passes before any fix" in coder.tasks[1].guidance[0]
    assert (state.attempt, proof(state).because) == (1, "failing_test")


def test_a_test_that_cannot_be_loaded_is_no_failing_test(at_desk: AtDesk) -> None:
    state, ends = ended(at_desk, Coder([GOOD], [written(UNLOADED_TEST)]))
    assert [event.type for event in ends] == ["phase_failed", "phase_failed"]
    asked = proof(state).reproduction
    assert asked is not None and asked.because is not None and "cannot be loaded" in english(asked.because)


def test_the_next_agent_is_asked_where_one_has_no_test(at_desk: AtDesk) -> None:
    silent = Coder([{}], [], name="silent")
    coder = Coder([GOOD], [written(SUITE_WITH_TEST)])
    state, (reproduced,) = ended(at_desk, silent, coder)
    assert isinstance(reproduced, ReproductionCompleted) and reproduced.agent == "coder"
    assert proof(state).level == "proven"


def test_on_a_red_base_no_test_is_asked_for(at_desk: AtDesk) -> None:
    coder = Coder([GOOD])
    state, ends = ended(at_desk, coder, suite=SUITE_WITH_TEST)
    assert ends == [] and [task.only_test for task in coder.tasks] == [False]
    assert Phase.REPRODUCTION not in state.phases
