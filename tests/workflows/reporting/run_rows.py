"""Rows and events of runs, made without running anything."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from bot.model import RunEvent, Status
from bot.rules.reasons import make_reason
from bot.rules.runs.spec import RunSpec
from bot.store.runs.runs import RunRow
from tests.run_events import run_event

STAGE = {"name": "lint", "command": {"run": "ruff check .", "timeout_s": 20}}


def row() -> RunRow:
    spec = RunSpec(workspace="/srv/shop", goal="Count from 1", key="session", agents=("command",))
    return RunRow(
        id="session-1",
        spec=spec,
        status=Status.RUNNING,
        branch=None,
        waiting_for=None,
        cancel_because=None,
        created_at=0,
        version=1,
        reported=0,
    )


def event(at: int, kind: str, phase: str | None = None, iteration: int | None = None, **data: Any) -> RunEvent:
    return run_event(kind, phase, iteration, id=at, ts=datetime(2026, 11, 1, tzinfo=UTC), **data)


def begun() -> list[RunEvent]:
    planned: dict[str, Any] = {
        "baseSha": "b" * 40,
        "branch": "",
        "sandbox": make_reason("sandbox.none"),
        "stages": [STAGE],
        "snapshot": "t0",
    }
    return [event(1, "session_started"), event(2, "phase_started", "planning", **planned)]
