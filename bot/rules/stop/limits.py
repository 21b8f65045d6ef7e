"""When a run must end: its hard limits, and the first one that it has reached (REQ-STOP-001, 005).
The limits are checked after every attempt, so that a run without supervision ends."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from bot.errors import ConfigError
from bot.model.reasons import ExplainedStop
from bot.repo_config.configuration_keys import StopPolicy
from bot.rules.reasons import make_reason

_MINUTE_MS = 60_000
_DEFAULTS = StopPolicy()


@dataclass(frozen=True, slots=True)
class StopConditions:
    """The limits of one run, by default those of the configuration; a count that reaches its limit ends the run."""

    max_iterations: int = _DEFAULTS.max_iterations
    max_duration_ms: int = _DEFAULTS.max_duration_ms
    no_progress_threshold: int = _DEFAULTS.no_progress_threshold


DEFAULT_STOP_CONDITIONS = StopConditions()


@dataclass(frozen=True, slots=True)
class LoopState:
    """How far a run has come. `started_at` is an aware datetime (a naive one is read as UTC); of the time since then,
    the pauses of `paused_ms` do not count."""

    iterations: int
    started_at: datetime
    no_progress_count: int = 0
    paused_ms: int = 0


def limit_reached(state: LoopState, conditions: StopConditions, now: datetime) -> ExplainedStop | None:
    """The first limit reached, in the order iterations, duration, progress; None below all limits (REQ-STOP-001).

    A clock that went backwards counts as no time."""
    if state.iterations >= conditions.max_iterations:
        figures = {"done": state.iterations, "most": conditions.max_iterations}
        return ExplainedStop.of("max_iterations", make_reason("max_iterations", **figures))
    passed_ms = (_aware(now) - _aware(state.started_at)).total_seconds() * 1000
    elapsed_ms = max(0.0, passed_ms - state.paused_ms)
    if elapsed_ms >= conditions.max_duration_ms:
        return _out_of_time(elapsed_ms, state.paused_ms, conditions)
    if state.no_progress_count >= conditions.no_progress_threshold:
        return ExplainedStop.of("no_progress", make_reason("no_progress", count=state.no_progress_count))
    return None


def _out_of_time(elapsed_ms: float, paused_ms: int, conditions: StopConditions) -> ExplainedStop:
    figures = {"done": _minutes(elapsed_ms, conditions), "most": _minutes(conditions.max_duration_ms, conditions)}
    if not paused_ms:
        return ExplainedStop.of("max_duration", make_reason("max_duration", **figures))
    paused = _minutes(paused_ms, conditions, short=paused_ms < _MINUTE_MS)
    return ExplainedStop.of("max_duration", make_reason("max_duration.paused", **figures, paused=paused))


def load_stop_conditions(config: object = None) -> StopConditions:
    """The conditions of `config.ralph` (mappings or objects with attributes); the default for each one missing or None.

    Raises ConfigError with its reason for a value that is no whole number of zero or more (REQ-STOP-005)."""
    section = _get(config, "ralph")
    return StopConditions(
        max_iterations=_limit(section, "max_iterations", DEFAULT_STOP_CONDITIONS.max_iterations),
        max_duration_ms=_limit(section, "max_duration_ms", DEFAULT_STOP_CONDITIONS.max_duration_ms),
        no_progress_threshold=_limit(section, "no_progress_threshold", DEFAULT_STOP_CONDITIONS.no_progress_threshold),
    )


def loop_run_to_state(run: object) -> LoopState:
    """The state of a stored run with `iterations`, and `started_at` as ISO 8601 text (also with Z) or datetime.

    The record has no count of iterations without progress, so that starts at 0 (REQ-STOP-005).
    Raises ValueError where `started_at` is no date."""
    started_at = _get(run, "started_at")
    if isinstance(started_at, str):
        started_at = datetime.fromisoformat(started_at.strip())
    if not isinstance(started_at, datetime):
        raise ValueError(f"started_at must be an ISO 8601 date, not {started_at!r}")
    return LoopState(iterations=int(_get(run, "iterations") or 0), started_at=_aware(started_at))


def _get(source: object, name: str) -> Any:
    if isinstance(source, Mapping):
        return source.get(name)
    return getattr(source, name, None)


def _limit(section: object, name: str, default: int) -> int:
    value = _get(section, name)
    if value is None:
        return default
    # bool is an int to Python, but `max_iterations: yes` is a mistake
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise ConfigError(because=make_reason("stop_condition", name=name, value=repr(value)))
    return value


def _aware(moment: datetime) -> datetime:
    return moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)


def _minutes(milliseconds: float, conditions: StopConditions, *, short: bool = False) -> str:
    # whole minutes, but "0min/0min" would be no information where the limit is under a minute
    if conditions.max_duration_ms >= _MINUTE_MS and not short:
        return str(int(milliseconds // _MINUTE_MS))
    return f"{milliseconds / _MINUTE_MS:.2f}"
