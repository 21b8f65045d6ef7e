"""Runs to report on the stand-in, and what stands there then."""

from __future__ import annotations

from bot.model import Status
from bot.store.runs.runs import Draft
from tests.workflows.conftest import NAME, Harness


def started() -> Draft:
    return Draft(type="session_started", key="session_started")


def finished(
    status: Status, reason: str = "max_iterations", details: str = "Reached maximum iterations (3/3)"
) -> Draft:
    stop = None if status is Status.SUCCESS else {"reason": reason, "details": details}
    data = {"status": status, "stop": stop, "salvageRef": None}
    return Draft(type="session_finished", key="session_finished", data=data)


def labels(at: Harness, number: int) -> set[str]:
    return set(at.github.world.issue(NAME, number).labels)


def comments(at: Harness, number: int) -> list[str]:
    return [comment.body for comment in at.github.world.comments(NAME, number)]
