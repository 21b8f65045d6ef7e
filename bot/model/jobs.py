"""Durable jobs: what the engine runs, and the result of each call. These types need no engine, so that
`mendbot fix` can drive a run without one."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from enum import StrEnum
from typing import Any, Literal

from pydantic import Field

from bot.model.base import Model

JobState = Literal["unknown", "waiting", "running", "ended"]
JobArgs = dict[str, Any]


class JobName(StrEnum):
    """The kinds of jobs; `bot/workflows/job_table.py` has the function of each."""

    FIX = "fix"
    SETTLE = "settle"
    PULL = "pull"
    SETTLE_PULL = "settle_pull"
    COMMAND = "command"
    ONBOARD = "onboard"
    OPEN_PULLS = "open_pulls"


class StepResult(Model):
    """The result of one call of a job. The next call waits for `wait_s`, durably; `fault` counts towards giving up."""

    done: bool
    wait_s: float = 0.0
    fault: bool = False


JobStep = Callable[[JobArgs, int], Awaitable[StepResult]]


class Job(Model):
    """A job to enqueue: `id` is made from its purpose, so enqueueing it twice is enqueueing it once."""

    kind: str
    id: str
    partition: str
    args: JobArgs = Field(default_factory=dict)


class Queue(Model):
    """A queue: how many jobs run at once in this process, and how many for one partition (a repository)."""

    name: str
    at_once: int
    per_partition: int
    poll_s: float = 0.25
