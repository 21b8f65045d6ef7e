"""The budgets of models: what is stored counts, with what was used since."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from bot.agent.model_budget import ModelBudget, ModelLimits, Remaining
from bot.model import Usage
from bot.model.agents import Spent, SpentSoFar
from bot.model.reasons import Reason

LIMITS = ModelLimits(run_tokens=100, day_tokens=150, run_cost=1.0, day_cost=1.5)
NIGHT = datetime(2026, 1, 31, 23, 59, tzinfo=UTC)


def budget(stored: SpentSoFar, limits: ModelLimits = LIMITS) -> ModelBudget:
    async def read(day: str, run_id: str) -> SpentSoFar:
        assert (day, run_id) == ("2026-01-31", "run-1")
        return stored

    return ModelBudget(limits, read, lambda: NIGHT)


async def test_a_run_and_a_day_have_limits_of_their_own() -> None:
    """REQ-RUN-008."""
    found = budget(SpentSoFar(run=Spent(tokens=60, cost_usd=0.5), day=Spent(unpriced_tokens=90, cost_usd=1.25)))
    assert await found.remaining("run-1") == Remaining(40, 0.25)
    found.add(Usage(input_tokens=20, output_tokens=5, cost_usd=0.125))
    assert await found.remaining("run-1") == Remaining(15, 0.125)
    found.add(Usage(input_tokens=10))
    assert await found.remaining("run-1") == Remaining(5, 0.125)


SMALL = ModelLimits(run_tokens=100, day_tokens=150, run_cost=1.0, day_cost=1.5, place_day_tokens=50, place_day_cost=0.5)


@pytest.mark.parametrize(
    ("stored", "kind"),
    [
        (SpentSoFar(run=Spent(tokens=100)), "model.run_tokens"),
        (SpentSoFar(run=Spent(cost_usd=1.0)), "model.run_cost"),
        (SpentSoFar(day=Spent(unpriced_tokens=150)), "model.day_tokens"),
        (SpentSoFar(day=Spent(cost_usd=1.5)), "model.day_cost"),
        (SpentSoFar(place_day=Spent(unpriced_tokens=50)), "model.repo_day_tokens"),
        (SpentSoFar(place_day=Spent(cost_usd=0.5)), "model.repo_day_cost"),
    ],
)
async def test_a_budget_that_is_used_up_is_named_with_the_time_of_the_next(stored: SpentSoFar, kind: str) -> None:
    """REQ-RUN-008."""
    reached = await budget(stored, SMALL).remaining("run-1")
    assert isinstance(reached, Reason) and reached.kind == kind
    of_day = "day" in kind
    assert reached.values.get("until") == ("2026-02-01 00:00 UTC" if of_day else None)
    assert await budget(stored, SMALL).used_up("run-1") == (reached if of_day else None)


@pytest.mark.parametrize("limit", ["day_cost", "day_tokens", "place_day_cost", "place_day_tokens"])
async def test_a_budget_of_zero_is_named_without_a_time_of_the_next(limit: str) -> None:
    """REQ-RUN-008."""
    reached = await budget(SpentSoFar(), replace(SMALL, **{limit: 0})).used_up("run-1")
    assert reached is not None and reached.kind == f"model.never.{limit.replace('place', 'repo')}"


async def test_tokens_with_a_known_price_count_in_dollars_alone_on_a_day() -> None:
    """REQ-RUN-008: the price is what is limited, and a cached token costs a tenth."""
    found = budget(SpentSoFar(day=Spent(tokens=10_000, cost_usd=0.5)), SMALL)
    found.add(Usage(input_tokens=10_000, output_tokens=0, cost_usd=0.1))
    assert await found.used_up("run-1") is None


async def test_without_a_store_the_calls_of_the_process_count() -> None:
    found = ModelBudget(LIMITS)
    found.add(Usage(input_tokens=70, output_tokens=20))
    assert await found.remaining("loop") == Remaining(10, 1.0)
