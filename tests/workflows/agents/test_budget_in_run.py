"""A budget that is used up ends the run by its own name; agents that cost nothing go on."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from bot.model import Phase, Status, Usage
from bot.reports.locale.reasons import english
from bot.rules.runs.state import RunState
from bot.workflows.agents.build_agents import model_limits
from bot.workflows.agents.usage import agent_ended
from tests.workflows.conftest import Harness
from tests.workflows.whole_run import go, judged, told

AtDesk = Callable[..., Any]
FIXES = "command:sh -c 'echo 42 > answer.txt'"
TRIES = "command:sh -c 'echo 41 > answer.txt'"


async def spend(at: Harness, usage: Usage, run_id: str = "run-before") -> None:
    """Another run of the same repository uses that much today."""
    await at.run(run_id, at.issue(), agents=("fixers",))
    await at.runs.append(run_id, [agent_ended(Phase.IMPLEMENTATION, 1, "llm:openai:gpt-5", usage)])


@pytest.mark.parametrize("limit", [2.0, 2.5])
def test_a_run_ends_by_name_where_the_money_of_the_day_is_spent(at_desk: AtDesk, limit: float) -> None:
    """REQ-RUN-008: the report says when agents are asked again; below the limit the same run succeeds."""

    async def work(at: Harness) -> tuple[RunState, int]:
        judged(at)
        await spend(at, Usage(input_tokens=10, output_tokens=1, cost_usd=2.0))
        state = await go(at, "run-1", agents=("fixers", "history", FIXES))
        return state, len(await told(at, "run-1", "changes_applied"))

    state, changes = at_desk(work, model_day_cost=limit)
    if limit > 2:
        assert state.finished is Status.SUCCESS
        return
    assert (state.finished, changes) == (Status.FAILED, 0)
    assert state.stop is not None and state.stop.reason == "budget"
    assert "MENDBOT_MODEL_DAY_COST" in english(state.stop.details) and "00:00 UTC" in english(state.stop.details)


def test_a_repository_can_lower_its_own_budget(at_desk: AtDesk) -> None:
    """REQ-RUN-008: the tokens of a call without a known price count."""

    async def work(at: Harness) -> RunState:
        judged(at)
        await spend(at, Usage(input_tokens=90, output_tokens=10))
        return await go(at, "run-1", agents=(FIXES,), policy={"stop": {"max_day_tokens": 100}})

    state = at_desk(work)
    assert state.stop is not None and state.stop.reason == "budget"
    assert "`stop.max_day_tokens`" in english(state.stop.details)


def test_a_repository_cannot_raise_its_budget(at_desk: AtDesk) -> None:
    """REQ-RUN-008."""

    async def work(at: Harness) -> tuple[Any, ...]:
        row = await at.run("run-1", 1, policy={"stop": {"max_day_cost": 9.0, "max_day_tokens": 5}})
        limits = model_limits(at.context.settings, row.spec.policy.stop)
        return limits.place_day_cost, limits.place_day_tokens

    assert at_desk(work, model_repo_day_cost=3.0, model_repo_day_tokens=7) == (3.0, 5)
