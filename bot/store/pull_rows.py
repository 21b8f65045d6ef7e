"""The row of a run of checks as its table holds it, and what appended events make of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

from pydantic import TypeAdapter

from bot.model import Noun
from bot.model.pulls import PullStatus
from bot.rules.pull_spec import PullSpec
from bot.store.database import now_ms
from bot.store.run_rows import Draft
from bot.store.tables import pull_runs

OPEN: tuple[PullStatus, ...] = ("queued", "running")
_FINAL: TypeAdapter[Literal["done", "cancelled"]] = TypeAdapter(Literal["done", "cancelled"])


class PullRow(Noun):
    """A run of checks: what it was asked, and what the outside wants of it; times are epoch milliseconds."""

    id: str
    spec: PullSpec
    status: PullStatus
    cancel_because: str | None
    waiting_for: str | None
    created_at: int
    ended_at: int | None
    version: int
    reported: int


def read_pull(row: Any) -> PullRow:
    """The run of a row of `pull_runs`."""
    names = ("id", "status", "cancel_because", "waiting_for", "created_at", "ended_at", "version", "reported")
    return PullRow(spec=PullSpec.model_validate(row["spec"]), **{name: row[name] for name in names})


def pull_values(fresh: Sequence[Draft], status: str) -> dict[str, Any]:
    """What these new events change in the row of a run of that status; what has ended stays as it ended.

    Raises ValueError for an end that is none."""
    values: dict[str, Any] = {"version": pull_runs.c.version + 1, "waiting_for": None}
    for draft in fresh:
        if draft.type == "pull_started" and status == "queued":
            status = values["status"] = "running"
        elif draft.type == "pull_finished" and status in OPEN:
            status = values["status"] = _FINAL.validate_python(draft.data["status"])
            values["ended_at"] = now_ms()
    return values
