"""The row of a run of checks as its table holds it, and what appended events make of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from bot.model import Model
from bot.model.pull_check_events import PullCheckEvent, PullFinished, PullStarted
from bot.model.pulls import PullStatus
from bot.rules.pulls.spec import PullCheckSpec
from bot.store.database.database import now_ms
from bot.store.database.tables import pull_runs

OPEN: tuple[PullStatus, ...] = ("queued", "running")


class PullCheckRow(Model):
    """A run of checks: what it was asked, and what the outside wants of it; times are epoch milliseconds."""

    id: str
    spec: PullCheckSpec
    status: PullStatus
    cancel_because: str | None
    created_at: int
    ended_at: int | None
    version: int
    reported: int


def read_pull(row: Any) -> PullCheckRow:
    """The run of a row of `pull_runs`."""
    names = ("id", "status", "cancel_because", "created_at", "ended_at", "version", "reported")
    return PullCheckRow(spec=PullCheckSpec.model_validate(row["spec"]), **{name: row[name] for name in names})


def pull_values(fresh: Sequence[PullCheckEvent], status: str) -> dict[str, Any]:
    """What these new events change in the row of a run of that status; what has ended stays as it ended."""
    values: dict[str, Any] = {"version": pull_runs.c.version + 1}
    for event in fresh:
        if isinstance(event, PullStarted) and status == "queued":
            status = values["status"] = "running"
        elif isinstance(event, PullFinished) and status in OPEN:
            status = values["status"] = event.status
            values["ended_at"] = now_ms()
    return values
