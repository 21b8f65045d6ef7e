"""When a run must stop: limits, progress, trajectory."""

from datetime import UTC, datetime

from bot.model import StopReason
from bot.reports.locale.reasons import english
from bot.rules.stop.limits import (
    DEFAULT_STOP_CONDITIONS,
    LoopState,
    StopConditions,
    limit_reached,
    load_stop_conditions,
    loop_run_to_state,
)

__all__ = [
    "DEFAULT_STOP_CONDITIONS",
    "LoopState",
    "StopConditions",
    "StopReason",
    "load_stop_conditions",
    "loop_run_to_state",
    "should_stop",
]


def should_stop(state: LoopState, conditions: StopConditions, now: datetime | None = None) -> StopReason | None:
    """As `rules.stop.limits.limit_reached`, with the details in English; `now` is the present moment by default."""
    found = limit_reached(state, conditions, now or datetime.now(UTC))
    return StopReason(reason=found.reason, details=english(found.details)) if found else None
