"""Runs to report on the stand-in, and what stands there then."""

from __future__ import annotations

from bot.model import Status
from bot.model.events.run_event import RunEvent
from bot.model.events.runs import SessionStarted
from tests.run_events import run_event
from tests.workflows.conftest import NAME, Harness


def started() -> RunEvent:
    return SessionStarted(task="")


def finished(
    status: Status, reason: str = "max_iterations", details: str = "Reached maximum iterations (3/3)"
) -> RunEvent:
    stop = None if status is Status.SUCCESS else {"reason": reason, "details": details}
    return run_event("session_finished", status=status, stop=stop)


def labels(at: Harness, number: int) -> set[str]:
    return set(at.github.world.issue(NAME, number).labels)


def comments(at: Harness, number: int) -> list[str]:
    return [comment.body for comment in at.github.world.comments(NAME, number)]
