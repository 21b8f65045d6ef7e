"""The evidence for a change, from real runs of a project's tests (REQ-PROOF-001)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from bot.model import Status
from bot.model.proof import ProofLevel, ProofReason
from bot.reports.locale.reasons import english
from bot.rules.runs.state import RunState
from bot.workflows.reporting.run_view import view_of
from tests.workflows.conftest import Harness
from tests.workflows.runs.proof_world import (
    FAULTY,
    PASSING_TEST,
    RIGHT,
    SUITE,
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
LUCKY = SUITE_WITH_TEST.replace(
    "class Totals",
    """import pathlib

seen = pathlib.Path(__file__).parents[2] / "seen"
seen.write_text(seen.read_text() + "." if seen.exists() else ".")
if len(seen.read_text()) > 1:
    def total(items):
        return sum(items)


class Totals""",
)
"""Fails in its first execution only, whatever the code is."""
EXPECTED = f"import json\nimport pathlib\n{SUITE_WITH_TEST}".replace(
    "total([]), 0", 'total([]), json.loads((pathlib.Path(__file__).parent / "expected.json").read_text())'
)
"""Fails, as there is no such file; the file makes it pass without a change of the code under test."""
HELPED = {"tests/expected.json": "null"}


def proves(at_desk: AtDesk, coder: Coder, suite: str = SUITE, **policy: Any) -> RunState:
    async def work(at: Harness) -> RunState:
        return await prove(at, coder, suite=suite, **policy)

    state: RunState = at_desk(work)
    return state


@pytest.mark.parametrize(
    ("suite", "coder", "level", "because"),
    [
        pytest.param(SUITE_WITH_TEST, Coder([GOOD]), "proven", "errors_gone", id="error gone"),
        pytest.param(SUITE, Coder([GOOD], [written(SUITE_WITH_TEST)]), "proven", "failing_test", id="test first"),
        pytest.param(SUITE, Coder([{**GOOD, **written(SUITE_WITH_TEST)}]), "proven", "failing_test", id="test with it"),
        pytest.param(PASSING_TEST, Coder([fix(WRONG)]), "unproven", "few_mutants", id="wrong fix unnoticed"),
        pytest.param(
            SUITE,
            Coder([fix(FAULTY.replace("sum(items)", "sum(items, 0)"))]),
            "covered",
            "mutants",
            id="mutants noticed",
        ),
        pytest.param(
            SUITE,
            Coder([fix(WRONG, **written(PASSING_TEST))]),
            "unproven",
            "few_mutants",
            id="its test passes without it",
        ),
        pytest.param(SUITE, Coder([{"notes.md": "done\n"}]), "unproven", "no_mutants", id="documents alone"),
        pytest.param(SUITE, Coder([{"main.lua": "return 1\n"}]), "unproven", "not_measured", id="another language"),
        pytest.param(LUCKY, Coder([fix(WRONG)]), "unproven", "luck", id="fails on the base by chance"),
        pytest.param(EXPECTED, Coder([HELPED]), "unproven", "tests_only", id="only files of tests"),
    ],
)
def test_each_level_is_reached_by_what_the_tests_show(
    at_desk: AtDesk, suite: str, coder: Coder, level: ProofLevel, because: ProofReason
) -> None:
    """REQ-PROOF-001."""
    state = proves(at_desk, Coder(coder.fixes, coder.tests), suite)
    assert (state.finished, proof(state).level, proof(state).because) == (Status.SUCCESS, level, because)


def test_the_failing_tests_are_the_evidence(at_desk: AtDesk) -> None:
    state = proves(at_desk, Coder([GOOD], [written(SUITE_WITH_TEST)]))
    assert [name for name in proof(state).tests if "test_total_of_none" in name]
    assert proof(state).test_count == 1, "the other test passes without the change too"
    assert state.changed_paths == ("shop.py", "tests/test_shop.py")


def test_a_test_of_something_new_does_not_show_the_fault(at_desk: AtDesk) -> None:
    """REQ-PROOF-001: it cannot be loaded on the base, whatever is wrong there."""
    counted = f"{WRONG}\n\ndef count(items):\n    return len(items)\n"
    wrong_test = UNLOADED_TEST.replace("total([]), 0", "total([]), 1")
    state = proves(at_desk, Coder([fix(counted, **written(wrong_test))]))
    assert proof(state).level != "proven"


def test_the_tree_holds_the_change_again_after_each_step(at_desk: AtDesk) -> None:
    """REQ-PROOF-003: what is pushed is what was checked."""

    async def work(at: Harness) -> tuple[RunState, bytes | None]:
        state = await prove(at, Coder([fix(WRONG)]))
        assert state.commit_sha is not None
        return state, at.github.world.read_file("octo/tiny", state.commit_sha, "shop.py")

    state, pushed = at_desk(work)
    assert pushed == WRONG.encode()
    assert state.mutants is not None and state.mutants.made > 0


def test_a_change_that_falls_short_is_fed_back_with_the_mutants_that_nothing_noticed(at_desk: AtDesk) -> None:
    """REQ-PROOF-001."""
    coder = Coder([fix(WRONG), fix(RIGHT, **written(SUITE_WITH_TEST))])
    state = proves(at_desk, coder, require_proof="proven")
    assert (state.finished, proof(state).level, state.attempt) == (Status.SUCCESS, "proven", 2)
    second = " ".join(coder.for_a_fix[1].guidance)
    assert "proven is required" in second and "No check noticed this mutant" in second


def test_a_change_that_stays_short_is_offered_and_never_pushed(at_desk: AtDesk) -> None:
    """REQ-PROOF-001."""

    async def work(at: Harness) -> tuple[RunState, str, int]:
        wrong = [fix(WRONG), fix(WRONG.replace("return 1", "return 2"))]
        state = await prove(at, Coder(wrong), require_proof="covered")
        return state, view_of(await at.row("run-1"), state).unfinished, len(at.github.world.pulls("octo/tiny"))

    state, unfinished, pulls = at_desk(work)
    assert state.stop is not None and (state.finished, state.stop.reason) == (Status.FAILED, "proof_required")
    assert "demands covered" in english(state.stop.details)
    assert "return 2" in unfinished
    assert (state.commit_sha, pulls) == (None, 0)
