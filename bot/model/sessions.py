"""A session as programs ask for it, and as they are told of it (spec D, contract *Session*)."""

from __future__ import annotations

from datetime import datetime

from pydantic import Field

from bot.model.nouns import CamelModel, Model, Phase, Proof, Status, StopReason, Validation
from bot.model.reasons import ExplainedStop

ShellOrArgv = str | tuple[str, ...]
"""A string runs as `sh -c STRING`, a list as argv (contract, Particulars)."""


class SessionRequest(CamelModel):
    """What a session is to do (REQ-RUN-001); `rules.runs.session_request.parse_request` makes and judges it.

    `repo` is an absolute path, or `owner/name` on GitHub. `agents` are agent specs, tried in order; empty means the
    repository's or the operator's."""

    repo: str
    task: str
    file_paths: tuple[str, ...] = ()
    test_command: ShellOrArgv | None = None
    validation_commands: tuple[ShellOrArgv, ...] = ()
    max_attempts: int = 3
    agents: tuple[str, ...] = ()


class Problem(CamelModel):
    """What is wrong with one field of a request, and how to fix it; `field` is its camelCase name."""

    field: str
    message: str


class ChangedFile(Model):
    """A file of a change, relative to its tree, with the lines that the change adds and removes."""

    path: str
    added: int
    removed: int


class SessionSummary(Model):
    """What a session that has ended came to, for people. `before` is the validation before any change, None where the
    checks did not run then; `after` the last one. Paths of files that Mendbot keeps are absolute."""

    status: Status
    attempt: int
    most: int
    proof: Proof | None = None
    """Of a success: what its checks have shown."""
    changed: tuple[ChangedFile, ...] = ()
    before: Validation | None = None
    after: Validation | None = None
    stop: ExplainedStop | None = None
    directory: str
    """Where the logs and the diff of each attempt are."""
    diff: str | None = None
    """The whole change, or of one that did not succeed what had been tried last."""
    best_attempt: int | None = None
    best_diff: str | None = None
    """Where an earlier attempt came further than the last."""


class Session(CamelModel):
    """A run as it stands. `phases` names every phase and its status (`pending`, `running`, `completed`, `failed` or
    `skipped`); `artifact_refs` gives each phase's latest artifact."""

    id: str
    status: Status
    repo: str
    task: str
    phases: dict[Phase, str]
    artifact_refs: dict[Phase, str] = Field(default_factory=dict)
    iteration: int = 0
    max_attempts: int = 3
    stop_reason: StopReason | None = None
    shown: bool | None = None
    """Of a success: whether a check failed before the change and passes with it. Else None."""
    branch: str | None = None
    pull_request: str | None = None
    changed_paths: tuple[str, ...] = ()
    waiting_for: str | None = None
    created_at: datetime
    ended_at: datetime | None = None
