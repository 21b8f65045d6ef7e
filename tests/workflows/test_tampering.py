"""A change that lets the checks see less is no attempt at fixing: it is refused by name, costs the attempt and is told
to the next agent; what only people can judge stands in the notes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from bot.agent.protocol import build_prompt
from bot.model import Issue, Status
from bot.model.events.phases import ImplementationFailed
from bot.reports.locale.reasons import english
from bot.rules.runs.state import RunState
from bot.rules.tampering.weakened_tests import WEAKENED_TESTS
from tests.workflows.conftest import Harness
from tests.workflows.whole_run import Doer, go, judged, told, writes

AtDesk = Callable[..., Any]
TESTS = "def test_answer():\n    assert answer() == 42\n\n\ndef test_other():\n    assert True\n"


def repository(at: Harness) -> None:
    judged(at, test_answer__py=TESTS, pytest__ini="[pytest]\naddopts = -q\n")


def and_mends(edit: Callable[[Path], None]) -> Callable[[Path], None]:
    def both(tree: Path) -> None:
        writes("42\n")(tree)
        edit(tree)

    return both


@pytest.mark.parametrize(
    ("edit", "said"),
    [
        (lambda tree: (tree / "test_answer.py").unlink(), "test_answer.py"),
        (writes("def test_answer():\n    assert answer() == 42\n", "test_answer.py"), "test_other"),
        (
            writes(TESTS.replace("    assert answer() == 42", "    answer()"), "test_answer.py"),
            "assertions instead of 1",
        ),
        (writes("import pytest\n\n\n@pytest.mark.skip\n" + TESTS, "test_answer.py"), "skipped"),
        (writes("[pytest]\naddopts = -q --co\n", "pytest.ini"), "check configuration"),
    ],
    ids=["deleted file", "deleted test", "fewer assertions", "skipped", "configuration"],
)
def test_weakened_tests_are_refused_cost_the_attempt_and_are_named_to_the_next_agent(
    at_desk: AtDesk, edit: Callable[[Path], None], said: str
) -> None:
    """REQ-STOP-006: weakened tests refuse the attempt, with the reason named."""

    async def work(at: Harness) -> tuple[RunState, ImplementationFailed, str]:
        repository(at)
        doer = Doer([and_mends(edit), writes("42\n")])
        at.hands = [doer]
        state = await go(at, "run-1")
        (failed,) = await told(at, "run-1", "phase_failed")
        assert isinstance(failed, ImplementationFailed)
        return state, failed, build_prompt(doer.told[1])

    state, failed, prompt = at_desk(work)
    assert failed.reason == WEAKENED_TESTS
    assert said in english(failed.message) and said in english(state.rejections[0])
    assert (state.finished, state.attempt, len(state.validations)) == (Status.SUCCESS, 2, 1)
    assert said in prompt.partition("An earlier change was not applied")[2]


def test_a_run_whose_agents_only_weaken_tests_ends_as_failed_without_any_check(at_desk: AtDesk) -> None:
    async def work(at: Harness) -> RunState:
        repository(at)
        at.hands = [Doer([and_mends(lambda tree: (tree / "test_answer.py").unlink())])]
        return await go(at, "run-1", max_attempts=2)

    state = at_desk(work)
    assert state.stop is not None and state.stop.reason == "max_iterations"
    assert (state.finished, state.attempt, state.validations, state.learned) == (Status.FAILED, 2, (), ())


def test_what_people_should_look_at_is_noted(at_desk: AtDesk) -> None:
    async def work(at: Harness) -> RunState:
        repository(at)
        at.hands = [Doer([and_mends(writes("import os  # noqa: F401\n", "tool.py"))])]
        return await go(at, "run-1")

    state = at_desk(work)
    assert state.finished is Status.SUCCESS
    (note,) = state.notes
    assert "tool.py" in english(note) and "noqa" in english(note)


def test_check_configuration_that_the_issue_itself_names_may_be_edited(at_desk: AtDesk) -> None:
    async def work(at: Harness) -> RunState:
        repository(at)
        at.hands = [Doer([and_mends(writes("[pytest]\naddopts = -v\n", "pytest.ini"))])]
        issues = (Issue(number=at.issue(), title="It is silent", body="pytest.ini is too quiet"),)
        return await go(at, "run-1", issues=issues)

    state = at_desk(work)
    assert (state.finished, state.attempt) == (Status.SUCCESS, 1)
    assert "pytest.ini" in english(state.notes[0])
