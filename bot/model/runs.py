"""Runs: their status, their phases, why they stopped, and the artifacts of their phases."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import Any, Literal

from pydantic import Field

from bot.model.base import CamelModel, Model

Proof = Literal["shown", "green", "unchecked", "luck", "style_only"]
"""What a run whose checks passed has proven of its change (`rules.runs.proof`); only `shown` is a fix."""


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
    """The phases of a run, in order; implementation and validation alternate (REQ-RUN-002)."""

    PLANNING = "planning"
    ARCHITECTURE = "architecture"
    DESIGN = "design"
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
