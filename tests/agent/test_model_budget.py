"""What models have used, by day and run, in a file that several processes share."""

from __future__ import annotations

from pathlib import Path

import pytest

from bot.agent.model_budget import ModelBudget, ModelLimits, Remaining
from bot.model.reasons import Reason

LIMITS = ModelLimits(run_tokens=100, day_tokens=150, run_cost=1.0, day_cost=1.5)


def reached(budget: ModelBudget, run_id: str) -> str:
    remaining = budget.remaining(run_id)
    assert isinstance(remaining, Reason)
    return remaining.kind


def test_runs_share_the_day_and_a_run_goes_on_over_midnight(tmp_path: Path) -> None:
    today = ["2026-01-01"]
    budget = ModelBudget(tmp_path / "usage.json", LIMITS, lambda: today[0])
    assert budget.remaining("a") == Remaining(100, 1.0)
    budget.add("a", 40, 0.25)
    budget.add("a", 20, 0.25)
    assert (budget.remaining("a"), budget.remaining("b")) == (Remaining(40, 0.5), Remaining(90, 1.0))
    budget.add("b", 90, 0)
    assert (reached(budget, "a"), reached(budget, "c")) == ("model.day_tokens", "model.day_tokens")
    today[0] = "2026-01-02"
    assert (budget.remaining("a"), budget.remaining("c")) == (Remaining(40, 0.5), Remaining(100, 1.0))
    budget.add("c", 1, 1.25)
    assert reached(budget, "c") == "model.run_cost"
    budget.add("d", 1, 0.25)
    assert reached(budget, "e") == "model.day_cost"


def test_another_process_counts_the_same(tmp_path: Path) -> None:
    for number in range(3):
        ModelBudget(tmp_path / "usage.json", LIMITS).add(f"run-{number}", 10, 0)
    assert ModelBudget(tmp_path / "usage.json", LIMITS).remaining("x") == Remaining(100, 1.0)
    ModelBudget(tmp_path / "usage.json", LIMITS).add("y", 110, 0)
    assert ModelBudget(tmp_path / "usage.json", LIMITS).remaining("x") == Remaining(10, 1.0)


@pytest.mark.parametrize("text", ["", "{", "[]", '{"2026-01-01": 3}', '{"2026-01-01": {"a": []}}'])
def test_a_damaged_file_counts_as_empty(tmp_path: Path, text: str) -> None:
    (tmp_path / "usage.json").write_text(text)
    budget = ModelBudget(tmp_path / "usage.json", LIMITS)
    assert budget.remaining("a") == Remaining(100, 1.0)
    budget.add("a", 10, 0)
    assert budget.remaining("a") == Remaining(90, 1.0)


def test_old_days_go(tmp_path: Path) -> None:
    for day in range(1, 29):
        ModelBudget(tmp_path / "usage.json", LIMITS, lambda day=day: f"2026-01-{day:02}").add("a", 1, 0)  # type: ignore[misc]
    assert ModelBudget(tmp_path / "usage.json", LIMITS, lambda: "2026-01-28").remaining("a") == Remaining(86, 1.0)
