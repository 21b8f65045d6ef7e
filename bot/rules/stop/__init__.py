"""When a run must stop: limits, progress, trajectory."""

from bot.rules.stop.limits import (
    DEFAULT_STOP_CONDITIONS,
    LoopState,
    StopConditions,
    StopReason,
    load_stop_conditions,
    loop_run_to_state,
    should_stop,
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
