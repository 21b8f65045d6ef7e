"""Sessions: the request of a program, the session as the HTTP API shows it, and its summary for people (spec D)."""

from __future__ import annotations

from datetime import datetime

from pydantic import Field

from bot.model.agents import Usage
from bot.model.base import CamelModel, Model
from bot.model.pipeline import Validation
from bot.model.proof import Proof, ProofLevel
from bot.model.reasons import ExplainedStop, Reason
from bot.model.report_views import Attempt
from bot.model.runs import Phase, Status, StopReason

ShellOrArgv = str | tuple[str, ...]
"""A string runs as `sh -c STRING`, a list as argv (contract, Particulars)."""


class SessionRequest(CamelModel):
    """The request for a session (REQ-RUN-001); `rules.runs.session_request.parse_request` makes and validates it.

    `repo` is an absolute path, or `owner/name` on GitHub. `agents` are agent specs, tried in order; empty means the
    agents of the repository's or the operator's configuration. `candidates` is the limit of changes that one attempt
    asks for; None leaves it to the repository's configuration."""

    repo: str
    task: str
    file_paths: tuple[str, ...] = ()
    test_command: ShellOrArgv | None = None
    validation_commands: tuple[ShellOrArgv, ...] = ()
    max_attempts: int = 3
    agents: tuple[str, ...] = ()
    candidates: int | None = None


class Problem(Model):
    """Why one field of a request is wrong, with the fix; `field` is its camelCase name."""

    field: str
    reason: Reason


class ChangedFile(Model):
    """A file of a change, relative to its tree, with the lines that the change adds and removes."""

    path: str
    added: int
    removed: int


class SessionSummary(Model):
    """The result of a session that has ended, for people. `before` is the validation before any change, None where the
    checks did not run then; `after` is the last validation. Paths of files that Mendbot stores are absolute."""

    status: Status
    attempt: int
    most: int
    proof: Proof | None = None
    """What is shown of a change with which all checks passed."""
    changed: tuple[ChangedFile, ...] = ()
    before: Validation | None = None
    after: Validation | None = None
    refused: Reason | None = None
    """Why the last checked change was refused although its checks passed."""
    stop: ExplainedStop | None = None
    chosen: tuple[Attempt, ...] = ()
    """The attempts that chose among several changes."""
    directory: str
    """The directory of the logs and the diff of each attempt."""
    diff: str | None = None
    """The file of the whole change; of a session that did not succeed, the file of the last attempt's change."""
    best_attempt: int | None = None
    best_diff: str | None = None
    """The file of an earlier attempt that came further than the last."""
    usage: Usage | None = None
    """What all agents and models used; None where none was asked."""
    found: tuple[str, ...] = ()
    """The files of what was in the tree beside the change, such as a person's edits, before it was restored."""


class Session(CamelModel):
    """The present state of a session. `phases` has the status of every phase (`pending`, `running`, `completed`,
    `failed` or `skipped`); `artifact_refs` has the latest artifact of each phase."""

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
    """Whether the change is proven; None unless the session succeeded."""
    proof: ProofLevel | None = None
    """The level of proof of a change with which all checks passed; None without such a change."""
    evidence: Proof | None = None
    """The same with its evidence."""
    branch: str | None = None
    pull_request: str | None = None
    changed_paths: tuple[str, ...] = ()
    usage: Usage | None = None
    """What all agents and models used so far; a number that is unknown is left out."""
    waiting_for: str | None = None
    created_at: datetime
    ended_at: datetime | None = None
