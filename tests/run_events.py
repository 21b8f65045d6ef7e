"""Events of runs and of pull checks as a row keeps them: what a test leaves out has a value that says nothing."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from bot.model.events.pull_checks import PULL_CHECK_EVENTS, PullCheckEvent
from bot.model.events.run_event import RUN_EVENTS, RunEvent
from bot.rules.reasons import quoted

_REASONS = frozenset({"message", "details", "refused", "refusals", "notes", "stop"})
NOON = datetime(2026, 11, 1, 12, tzinfo=UTC)
_STEP = {"command": "c", "stage": "test", "passed": True}
_SETUP = {"command": "", "steps": (), "exitCode": 0, "durationMs": 0, "log": "", "snapshot": "s1", "stages": ()}
_CHECK = {"index": 0, "stage": "test", "iteration": 1}
_BEGUN = {
    "baseSha": "b" * 40,
    "branch": "",
    "sandbox": {"kind": "sandbox.none"},
    "snapshot": "s0",
    "stages": (),
    "setup": {},
}
_CHANGE = {"agent": "command", "paths": (), "allPaths": (), "snapshot": "t1", "ref": "", "patchHash": "h"}
_LEAST: Mapping[str, Mapping[str, Any]] = {
    "session_started": {"task": ""},
    "phase_started:planning": _BEGUN,
    "phase_completed:implementation": {"agent": "command"},
    "phase_failed:implementation": {"reason": "patch_failed", "message": ""},
    "phase_completed:validation": {"summary": ""},
    "phase_failed:validation": {"summary": ""},
    "phase_completed:review": {"snapshot": "s9", "paths": ()},
    "phase_failed:review": {"reason": "", "details": ""},
    "phase_failed:packaging": {"reason": "", "details": ""},
    "setup_started": {"command": ""},
    "setup_completed": _SETUP,
    "setup_failed": {**_SETUP, "details": ""},
    "paused": {"number": 1, "by": "ada"},
    "attempt_started": {"iteration": 1, "attempt": 1, "of": 3},
    "agent_started": {"iteration": 1, "agent": "command"},
    "agent_ended": {"iteration": 1, "agent": "command", "usage": {}, "phase": "implementation"},
    "patch_fallback_applied": {"iteration": 1},
    "changes_applied": {"iteration": 1, **_CHANGE},
    "validation_command_started": {**_CHECK, "command": "c"},
    "validation_command_completed": {**_CHECK, "step": _STEP},
    "validation_command_failed": {**_CHECK, "step": {**_STEP, "passed": False}},
    "tests_passed": {"iteration": 1, "summary": ""},
    "tests_failed": {"iteration": 1, "summary": ""},
    "conflicts_seen": {"commit": "c" * 40},
    "session_finished": {"status": "success"},
    "pull_started": {"baseSha": "b" * 40, "sandbox": {"kind": "sandbox.none"}, "stages": (), "toSetUp": False},
    "pull_setup_completed": {"stages": ()},
    "pull_check_ran": {"index": 0, "stage": "test", "step": _STEP},
}


def run_event(kind: str, phase: str | None = None, iteration: int | None = None, **data: Any) -> RunEvent:
    """An event of a run; `data` is what is stored of it, by its stored names, with `id`, `ts` and `classification`."""
    return RUN_EVENTS.validate_python(_whole(kind, phase, iteration, data))


def pull_check_event(kind: str, **data: Any) -> PullCheckEvent:
    """The same of a pull check."""
    return PULL_CHECK_EVENTS.validate_python(_whole(kind, None, None, data))


def _whole(kind: str, phase: str | None, iteration: int | None, data: Mapping[str, Any]) -> dict[str, Any]:
    given = {"ts": NOON, "type": kind, **data}
    given |= {"phase": phase} if phase is not None else {}
    given |= {"iteration": iteration} if iteration is not None else {}
    whole = {**_LEAST.get(kind, {}), **_LEAST.get(f"{kind}:{phase}", {}), **given}
    return {name: _as_reasons(value) if name in _REASONS else value for name, value in whole.items()}


def _as_reasons(value: Any) -> Any:
    """A text that a test gives where an event has a reason is somebody's words."""
    match value:
        case str():
            return quoted(value)
        case list() | tuple():
            return tuple(map(_as_reasons, value))
        case {"details": str(details), **rest}:
            return {**rest, "details": quoted(details)}
        case _:
            return value
