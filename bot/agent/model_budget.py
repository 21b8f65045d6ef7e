"""What language models have used, in a file of the home: tokens and US dollars by day and by run.

A file serves several processes on one home, and needs no table in the database. The limits are checked before each
call; a call that is under way counts when it has ended."""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from bot.model.reasons import Reason
from bot.rules.reasons import make_reason

FILE = "model-usage.json"
_DAYS_KEPT = 14

_Table = dict[str, dict[str, list[float]]]
"""Tokens and dollars by day and run."""


@dataclass(frozen=True, slots=True)
class ModelLimits:
    """The most that models may use: tokens and US dollars of one run, and of all runs on one day (UTC)."""

    run_tokens: int
    day_tokens: int
    run_cost: float
    day_cost: float


@dataclass(frozen=True, slots=True)
class Remaining:
    """What a call may still use."""

    tokens: int
    cost: float


def utc_day() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%d")


@dataclass(frozen=True, slots=True)
class ModelBudget:
    """The limits, and what was used so far according to the file."""

    path: Path
    limits: ModelLimits
    day: Callable[[], str] = utc_day

    def remaining(self, run_id: str) -> Remaining | Reason:
        """What the run may still use today, or the limit that it has reached."""
        with self._table() as table:
            today = table.get(self.day(), {})
            run = [used.get(run_id, [0, 0]) for used in table.values()]
        run_tokens, run_cost = (sum(each[at] for each in run) for at in (0, 1))
        day_tokens, day_cost = (sum(each[at] for each in today.values()) for at in (0, 1))
        limits = self.limits
        for kind, used, limit in (
            ("run_tokens", run_tokens, limits.run_tokens),
            ("day_tokens", day_tokens, limits.day_tokens),
            ("run_cost", run_cost, limits.run_cost),
            ("day_cost", day_cost, limits.day_cost),
        ):
            if used >= limit:
                return make_reason(f"model.{kind}", limit=f"{limit:,}")
        return Remaining(
            tokens=int(min(limits.run_tokens - run_tokens, limits.day_tokens - day_tokens)),
            cost=min(limits.run_cost - run_cost, limits.day_cost - day_cost),
        )

    def add(self, run_id: str, tokens: int, cost: float) -> None:
        """Count what a call has used, however it ended."""
        with self._table(write=True) as table:
            used = table.setdefault(self.day(), {}).setdefault(run_id, [0, 0])
            used[0] += tokens
            used[1] = round(used[1] + cost, 6)

    @contextmanager
    def _table(self, *, write: bool = False) -> Iterator[_Table]:
        """The table under a lock; written back if `write`. An unreadable file counts as empty."""
        flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
        with os.fdopen(os.open(self.path, flags, 0o600), "r+", encoding="utf-8") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            table = _parsed(file.read())
            yield table
            if write:
                file.seek(0)
                file.truncate()
                json.dump({day: table[day] for day in sorted(table)[-_DAYS_KEPT:]}, file)


def _parsed(text: str) -> _Table:
    try:
        data: Any = json.loads(text)
        return {
            str(day): {str(run): [float(used[0]), float(used[1])] for run, used in runs.items()}
            for day, runs in data.items()
        }
    except (ValueError, TypeError, LookupError, AttributeError):
        return {}
