"""The budgets of models: tokens and US dollars of one run, of one repository's day and of the day.

They are checked before each call; a call that is under way counts when it has ended. Dollars count where the cost is
known. On a day, tokens count where it is not, so that no call is without a limit."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from bot.model import Usage
from bot.model.agents import Spent, SpentSoFar
from bot.model.reasons import Reason
from bot.rules.reasons import make_reason

ReadSpent = Callable[[str, str], Awaitable[SpentSoFar]]
"""Reads what was used, for a day (UTC, as `2026-01-31`) and a run."""


@dataclass(frozen=True, slots=True)
class ModelLimits:
    """The maximal tokens and US dollars of one run, and of all runs on one day (UTC); those of one repository's day are
    None where it has no limit of its own."""

    run_tokens: int
    day_tokens: int
    run_cost: float
    day_cost: float
    place_day_tokens: int | None = None
    place_day_cost: float | None = None


@dataclass(frozen=True, slots=True)
class Remaining:
    """What a call may still use."""

    tokens: int
    cost: float


async def _nothing(_: str, __: str) -> SpentSoFar:
    return SpentSoFar()


def _now() -> datetime:
    return datetime.now(UTC)


@dataclass(frozen=True, slots=True)
class ModelBudget:
    """The limits for the agents of one run, and what was used so far.

    `read` reads what is stored. What this object's own calls used is counted beside it, as it is stored when their
    agent has ended."""

    limits: ModelLimits
    read: ReadSpent = _nothing
    now: Callable[[], datetime] = _now
    _own: list[Usage] = field(default_factory=list)

    async def remaining(self, run_id: str) -> Remaining | Reason:
        """What a call of the run may still use, or the limit that is reached."""
        spent, limits = await self._spent(run_id), self.limits
        for kind, used, limit in (
            ("run_tokens", spent.run.tokens, limits.run_tokens),
            ("run_cost", spent.run.cost_usd, limits.run_cost),
        ):
            if used >= limit:
                return make_reason(f"model.{kind}", limit=f"{limit:,}")
        reached = self._reached(spent)
        if reached is not None:
            return reached
        tokens = [limits.run_tokens - spent.run.tokens, limits.day_tokens - spent.day.unpriced_tokens]
        cost = [limits.run_cost - spent.run.cost_usd, limits.day_cost - spent.day.cost_usd]
        if limits.place_day_tokens is not None:
            tokens.append(limits.place_day_tokens - spent.place_day.unpriced_tokens)
        if limits.place_day_cost is not None:
            cost.append(limits.place_day_cost - spent.place_day.cost_usd)
        return Remaining(tokens=min(tokens), cost=round(min(cost), 6))

    async def used_up(self, run_id: str) -> Reason | None:
        """The budget of the day that is used up; None while there is none."""
        return self._reached(await self._spent(run_id))

    def add(self, usage: Usage) -> None:
        """Count what a call of this object used, however it ended."""
        self._own.append(usage)

    async def _spent(self, run_id: str) -> SpentSoFar:
        stored = await self.read(f"{self.now():%Y-%m-%d}", run_id)
        own = sum((Spent.of(usage) for usage in self._own), Spent())
        return SpentSoFar(run=stored.run + own, place_day=stored.place_day + own, day=stored.day + own)

    def _reached(self, spent: SpentSoFar) -> Reason | None:
        limits, until = self.limits, f"{self.now() + timedelta(days=1):%Y-%m-%d} 00:00 UTC"
        for kind, used, limit in (
            ("repo_day_tokens", spent.place_day.unpriced_tokens, limits.place_day_tokens),
            ("repo_day_cost", spent.place_day.cost_usd, limits.place_day_cost),
            ("day_tokens", spent.day.unpriced_tokens, limits.day_tokens),
            ("day_cost", spent.day.cost_usd, limits.day_cost),
        ):
            if limit == 0:
                return make_reason(f"model.never.{kind}")
            if limit is not None and used >= limit:
                return make_reason(f"model.{kind}", limit=f"{limit:,}", until=until)
        return None
