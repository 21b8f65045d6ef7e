"""Runs: their status, their phases, the artifacts of these, and the metadata of a run that is over."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import Any, Literal

from pydantic import Field

from bot.model.base import CamelModel, Model
from bot.model.proof import Proof


class Status(StrEnum):
    """The state of a run or session; the last three are final (REQ-RUN-002)."""

    QUEUED = "queued"
    RUNNING = "running"
    SUCCESS = "success"
    FAILED = "failed"
    CANCELLED = "cancelled"

    @property
    def final(self) -> bool:
        return self in (Status.SUCCESS, Status.FAILED, Status.CANCELLED)


class Phase(StrEnum):
    """The phases of a run, in order; implementation and validation alternate (REQ-RUN-002).

    In reproduction an agent writes a failing test first; only a run whose checks passed before has it."""

    PLANNING = "planning"
    ARCHITECTURE = "architecture"
    DESIGN = "design"
    REPRODUCTION = "reproduction"
    IMPLEMENTATION = "implementation"
    VALIDATION = "validation"
    REVIEW = "review"
    PACKAGING = "packaging"


class StopReason(Model):
    """Why a run stopped: a name that programs may compare, and details for people (REQ-STOP-001)."""

    reason: str
    details: str


class Artifact(CamelModel):
    """A stored record of a phase; `data` is the result of the phase as JSON."""

    id: str
    session_id: str
    phase: Phase
    iteration: int | None = None
    created_at: datetime
    data: dict[str, Any] = Field(default_factory=dict)


class AttemptMetadata(Model):
    """One attempt in the metadata of a run; `before` and `after` are fingerprints of the errors that were open."""

    attempt: int
    agent: str | None
    patch: str | None
    before: tuple[str, ...] | None
    before_count: int
    after: tuple[str, ...] | None
    after_count: int
    fixed: int
    remaining: int
    introduced: int
    result: Literal["passed", "failed", "not_checked", "not_applied"]
    flaky: bool
    duration_ms: int = Field(serialization_alias="durationMs")


class RunMetadata(Model):
    """How a run ended, for programs; `rules.runs.run_metadata` makes it and documents its JSON."""

    version: Literal[1] = 1
    run: str
    repo: str | None
    issues: tuple[int, ...]
    decision: Literal["fixed", "unproven", "needs-human", "cancelled"]
    shown: bool | None
    proof: Proof | None
    reason: str
    details: str
    base: str | None
    commit: str | None
    best_attempt: int | None
    most_attempts: int
    attempts_left_out: int
    attempts: tuple[AttemptMetadata, ...]

    def as_json(self) -> dict[str, Any]:
        """The JSON; only a run whose checks passed has `shown` and `proof`."""
        absent = {name for name in ("shown", "proof") if getattr(self, name) is None}
        return self.model_dump(mode="json", by_alias=True, exclude=absent)
