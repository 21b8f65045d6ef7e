"""When a run must stop: limits, progress, trajectory. The functions that others embed word their reasons in English."""

from datetime import UTC, datetime

from bot.errors import ConfigError
from bot.model import StopReason
from bot.reports.locale.reasons import english, user_error
from bot.rules.reasons import error_reason
from bot.rules.stop import limits
from bot.rules.stop.limits import DEFAULT_STOP_CONDITIONS, LoopState, StopConditions, loop_run_to_state

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
    stop = limits.limit_reached(state, conditions, now or datetime.now(UTC))
    return StopReason(reason=stop.reason, details=english(stop.details)) if stop else None


def load_stop_conditions(config: object = None) -> StopConditions:
    """As `rules.stop.limits.load_stop_conditions`, with the message of its ConfigError in English."""
    try:
        return limits.load_stop_conditions(config)
    except ConfigError as error:
        raise user_error(error_reason(error), ConfigError) from None
