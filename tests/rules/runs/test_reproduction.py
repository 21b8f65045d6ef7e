"""When a run asks an agent for a failing test before the fix (REQ-PROOF-001)."""

from __future__ import annotations

from typing import Any

import pytest

from bot.model import Validation
from bot.rules.runs.reproduction import asks_for_test
from bot.rules.runs.spec import FixTarget
from bot.rules.runs.state import RunState
from tests.rules.runs.proof_states import GREEN, LINT_STAGE, RED, TEST_STAGE, spec

AGENTS = ("fixers", "history", "command:write")
PULL = FixTarget(number=3, head_sha="a" * 40, head_ref="topic")


def state(baseline: Validation | None = GREEN, **more: Any) -> RunState:
    return RunState(**{"baseline": baseline, "stages": (LINT_STAGE, TEST_STAGE), **more})


@pytest.mark.parametrize(
    ("reached", "wanted", "asks"),
    [
        (state(), {}, True),
        (state(RED), {}, False),
        (state(None), {}, False),
        (state(stages=(LINT_STAGE,)), {}, False),
        (state(reproduction_over=True), {}, False),
        (state(attempt=1), {}, False),
        (state(), {"agents": ("fixers", "history")}, False),
        (state(), {"agents": ("command",)}, True),
        (state(), {"given": "--- a/a.py"}, False),
        (state(), {"pull": PULL}, False),
    ],
)
def test_a_test_is_asked_for_where_all_is_green_and_an_agent_can_write_one(
    reached: RunState, wanted: dict[str, Any], asks: bool
) -> None:
    known = {"agents": AGENTS, **wanted}
    assert asks_for_test(spec().model_copy(update=known), reached) is asks
