"""The nouns of work: repositories, issues, checks, worktrees, runs."""

from __future__ import annotations

import shlex
from datetime import datetime
from enum import StrEnum
from typing import Any, Literal

from pydantic import Field

from bot.model.base import CamelModel as CamelModel
from bot.model.base import Model as Model
from bot.model.could_not_run import CouldNotRun
from bot.model.failure_excerpts import ShownFailure
from bot.model.setups import WantedProgram

CheckName = Literal["typecheck", "lint", "test"]
Classification = Literal["lint", "type", "test", "runtime", "unknown"]
AnnotationLevel = Literal["notice", "warning", "failure"]
SandboxMode = Literal["auto", "bubblewrap", "none"]
ToolsMode = Literal["auto", "off"]
Language = Literal["en", "ko"]
GroupBy = Literal["component", "file", "label", "similarity"]

CHECK_ORDER: tuple[CheckName, ...] = ("typecheck", "lint", "test")
"""The order of `run_checks` (REQ-CHECK-004), quickest feedback first."""


class Repo(Model):
    """One repository on GitHub, as an installation of the App sees it."""

    owner: str
    name: str
    installation_id: int

    @property
    def full_name(self) -> str:
        return f"{self.owner}/{self.name}"


class Issue(Model):
    """What Mendbot reads of an issue."""

    number: int
    title: str
    body: str = ""
    labels: tuple[str, ...] = ()
    author: str = ""
    state: Literal["open", "closed"] = "open"


class Group(Model):
    """Issues that are fixed together, and why (spec F)."""

    key: str
    issues: tuple[int, ...]
    suggested_branch: str
    reasons: tuple[str, ...] = ()


class Annotation(Model):
    """One finding at a place in the tree; lines count from 1, `path` is relative to the tree."""

    path: str
    start_line: int
    end_line: int
    level: AnnotationLevel
    message: str
    title: str = ""
    rule: str = ""


class ShellCommand(Model):
    """Something to run in the tree. A string runs as `sh -c STRING`, a tuple as argv (contract, Particulars).

    `report` is the path, relative to the tree, of the JUnit or SARIF file that it writes. `directory`, relative too, is
    where it goes by itself before it starts: what it prints is to be read from there. `needs` says of a command that
    was detected what the project must have installed: a tool in its Python environment, `node` for its packages.
    `programs` are those that it calls and that the machine may lack."""

    run: str | tuple[str, ...]
    timeout_s: float
    report: str | None = None
    directory: str = ""
    needs: str = ""
    programs: tuple[WantedProgram, ...] = ()

    @property
    def argv(self) -> tuple[str, ...]:
        return ("sh", "-c", self.run) if isinstance(self.run, str) else self.run

    @property
    def text(self) -> str:
        """The command as a person would type it."""
        if isinstance(self.run, str):
            return self.run
        return " ".join(shlex.quote(word) if " " in word else word for word in self.run)


class CheckResult(Model):
    """One check's verdict (spec A). `output` and `error` are cut, masked and free of ANSI."""

    check: str
    passed: bool
    output: str = ""
    error: str | None = None
    duration_ms: int = 0
    command: str = ""
    exit_code: int | None = None
    timed_out: bool = False
    over_memory_mb: int = 0
    """The limit of memory that it went past, for which it was stopped; 0 where it did not."""
    flaky: bool = False
    classification: Classification | None = None
    annotations: tuple[Annotation, ...] = ()
    restored: tuple[str, ...] = ()
    """Files that the check had changed and that were restored after it; the first ones of `restored_count`."""
    restored_count: int = 0
    not_restored: tuple[str, ...] = ()
    """Files that it had changed and that are too large, or too many, to be restored."""
    found_in: str = ""
    """The directory that keeps what was found in the restored files."""
    could_not_run: CouldNotRun | None = None
    failures: tuple[ShownFailure, ...] = ()
    """The failures that the whole log shows, in its order; the first ones of `failure_count`."""
    failure_count: int = 0


class CheckProgress(Model):
    """A check of `run_checks` as it begins or, with its `result`, as it has ended; `attempt` counts from 1."""

    check: str
    attempt: int
    command: str
    result: CheckResult | None = None


class PreviousError(Model):
    """A failure of an attempt before the one reported (REQ-CHECK-007)."""

    attempt: int
    check: str
    error: str
    timestamp: datetime


class RunChecksResult(Model):
    """The answer of `run_checks`; `attempt` counts from 1 to at most 3. `not_run` names the checks that were asked for
    and not run, as one before them had failed (fail-fast)."""

    passed: bool
    results: tuple[CheckResult, ...] = ()
    not_run: tuple[str, ...] = ()
    attempt: int = 1
    max_retries_exceeded: bool = False
    previous_errors: tuple[PreviousError, ...] = ()
    error: str | None = None


class WorktreeInfo(Model):
    path: str
    branch: str
    issues: tuple[int, ...] = ()


class ManageWorktreeResult(Model):
    """The answer of `manage_worktree` (spec B)."""

    action: str
    success: bool
    worktree_path: str | None = None
    branch: str = ""
    error: str | None = None
    worktrees: tuple[WorktreeInfo, ...] | None = None


class Status(StrEnum):
    """A session's state; the last three are final (REQ-RUN-002)."""

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
    """Why a run stopped: a name that programs may compare and details for people (REQ-STOP-001)."""

    reason: str
    details: str


class SuiteCounts(Model):
    """How many tests a runner says there were."""

    passed: int = 0
    failed: int = 0
    skipped: int = 0

    @property
    def ran(self) -> int:
        """Those that came to a verdict of their own."""
        return self.passed + self.failed


class ValidationStep(CamelModel):
    """One command of one validation; `stage` is typecheck, lint, test or custom."""

    command: str
    stage: str
    passed: bool
    skipped: bool = False
    exit_code: int | None = None
    timed_out: bool = False
    over_memory_mb: int = 0
    """The limit of memory that it went past, for which it was stopped; 0 where it did not."""
    flaky: bool = False
    tolerated: bool = False
    """It failed with nothing that is the pull request's own, which counts as passed (spec H)."""
    duration_ms: int = 0
    output: str = ""
    classification: Classification | None = None
    annotations: tuple[Annotation, ...] = ()
    restored: tuple[str, ...] = ()
    """Files that the check had changed and that were restored after it; the first ones of `restored_count`."""
    restored_count: int = 0
    could_not_run: CouldNotRun | None = None
    """Why the command never got to judge anything; it failed then."""
    failures: tuple[ShownFailure, ...] = ()
    """The failures that the whole log shows, in its order; the first ones of `failure_count`."""
    failure_count: int = 0
    listed_files: tuple[str, ...] = ()
    """Of a check that failed: files that its log names alone on a line, as `gofmt -l` does."""
    test_counts: SuiteCounts = SuiteCounts()
    """The test runner's own figures, of the check `test`."""

    @property
    def cut_short(self) -> bool:
        """Whether it was stopped at a limit before its end, so that what it did not show may be there all the same."""
        return self.timed_out or self.over_memory_mb > 0


class Validation(CamelModel):
    """The outcome of one pass of the validation pipeline (REQ-RUN-004..006)."""

    passed: bool
    summary: str
    classification: Classification | None = None
    steps: tuple[ValidationStep, ...] = ()


class Artifact(CamelModel):
    """A stored record of a phase; `data` holds what the phase left."""

    id: str
    session_id: str
    phase: Phase
    iteration: int | None = None
    created_at: datetime
    data: dict[str, Any] = Field(default_factory=dict)


Proof = Literal["shown", "green", "unchecked", "luck", "style_only"]
"""What a run that ended green has shown of its change (`rules.runs.proof`); only `shown` is a fix."""
