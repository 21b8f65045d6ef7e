"""The nouns of durable work: what is asked of the engine, and what a call of a job came to. They stand apart from it,
so that who drives a run by hand (`mendbot fix`) need not load an engine."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from enum import StrEnum
from typing import Any, Literal

from pydantic import Field

from bot.model.nouns import Model

JobState = Literal["unknown", "waiting", "running", "ended"]
JobArgs = dict[str, Any]


class JobName(StrEnum):
    """The kinds of jobs; `bot/workflows/job_table.py` says what does each."""

    FIX = "fix"
    SETTLE = "settle"
    PULL = "pull"
    SETTLE_PULL = "settle_pull"
    COMMAND = "command"


class StepResult(Model):
    """What one call of a job came to. `wait_s` is slept durably before the next; `fault` counts towards giving up."""

    done: bool
    wait_s: float = 0.0
    fault: bool = False


JobStep = Callable[[JobArgs, int], Awaitable[StepResult]]


class Job(Model):
    """An intent: `id` is made from what is wanted, so wanting it twice is wanting it once."""

    kind: str
    id: str
    partition: str
    args: JobArgs = Field(default_factory=dict)


class Queue(Model):
    """A queue: jobs at once in this process, and at once for one partition (a repository)."""

    name: str
    at_once: int
    per_partition: int
    poll_s: float = 0.25
