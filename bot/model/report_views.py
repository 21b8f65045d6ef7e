"""What reports, check runs and the error history may show of a run."""

from __future__ import annotations

from typing import Literal

from bot.model.agents import Usage
from bot.model.base import CamelModel, Model
from bot.model.candidates import CandidateResult
from bot.model.checks import Annotation
from bot.model.issues import Issue
from bot.model.pipeline import Validation
from bot.model.proof import Proof
from bot.model.reasons import ExplainedStop, Reason
from bot.model.runs import Phase, RunMetadata, Status
from bot.model.setups import SetupDone


class PullRequestRef(Model):
    number: int
    url: str
    head_sha: str = ""
    draft: bool = False


class Resolution(CamelModel):
    """The change that made an error go away, proven by the same check passing (REQ-RA-311)."""

    resolved_by: str = ""
    """The login of a person or of the bot."""
    tool: str = ""
    tool_sequence: tuple[str, ...] = ()
    how: str = ""
    """A person's description (`/mendbot resolved <how>`), or the text of an imported record."""
    repo: str | None = None
    commit: str | None = None
    pull_request: int | None = None
    author: str | None = None
    run_id: str | None = None
    """The run or the command that recorded it: the same attempt of it counts as one use."""
    attempt: int | None = None
    diff_hash: str | None = None
    patch: str | None = None
    check: str | None = None
    """The check that showed the error; None if it is not known."""
    proof: Literal["proven", "covered", "unproven"] | None = None
    """The level of proof of a run of Mendbot; None for a person's change."""
    merged: bool = False
    """Whether its commit is the one with which the pull request was merged."""


class KnownError(CamelModel):
    """A resolved error of the history. `error` is normalised; `raw` is the tool's message, where this repository may
    see it; `last_used` is ISO 8601.

    `shown` counts the attempts whose agents got it as guidance, `passed` those of them that passed."""

    id: int
    error: str
    raw: str = ""
    resolution: Resolution
    use_count: int = 1
    last_used: str = ""
    shown: int = 0
    passed: int = 0
    exact: bool = True
    """False where only the loose key or the template matched."""
    by_template: bool = False
    """Whether only the template of the Drain tree matched."""

    @property
    def match(self) -> Literal["same", "similar", "template"]:
        """How close the error is to the one that was looked up."""
        return "same" if self.exact else "template" if self.by_template else "similar"


class ErrorDelta(Model):
    """How the latest validation changed the set of errors, as normalised texts, untrusted. With the first validation
    of a run, all errors are `remaining`."""

    fixed: tuple[str, ...] = ()
    remaining: tuple[str, ...] = ()
    introduced: tuple[str, ...] = ()


class Attempt(Model):
    """One attempt of a run and its result (`rules.runs.run_metadata`). An attempt without a change is `not_applied`,
    an attempt whose checks did not end is `not_checked`; both have no errors."""

    attempt: int
    agent: str = ""
    patch: str = ""
    """The hash of the change, as the error history knows it."""
    paths: tuple[str, ...] = ()
    result: Literal["passed", "failed", "not_checked", "not_applied"]
    flaky: bool = False
    error_delta: ErrorDelta | None = None
    compared: bool = True
    """False where nothing was checked before, so that all of its errors count as remaining."""
    validation: Validation | None = None
    usage: Usage | None = None
    """What its agents and models used; None where none was asked."""
    candidates: tuple[CandidateResult, ...] = ()
    """The changes among which it chose; empty where it asked for one."""
    winner: int | None = None
    """The number of the candidate that was taken."""

    @property
    def duration_ms(self) -> int:
        """The time that its checks took."""
        return sum(step.duration_ms for step in self.validation.steps) if self.validation else 0


class Conflict(Model):
    """Another group whose change conflicts with the change of this group, and the files in conflict."""

    issues: tuple[int, ...]
    pull: int | None = None
    paths: tuple[str, ...] = ()


class Loss(Model):
    """The part of a run's unfinished change that could not be saved: `files`, printable, and the number of `more`
    files. Without any file, all of it is lost. `because` is English, for the log."""

    files: tuple[str, ...] = ()
    more: int = 0
    because: str = ""


class RunView(Model):
    """All that a report may publish about one run; `workflows.reporting.run_view` makes it."""

    run_id: str
    page_url: str = ""
    """The address of the run's page; empty where the operator gave none."""
    repo: str
    issues: tuple[Issue, ...]
    key: str
    reasons: tuple[Reason, ...] = ()
    branch: str = ""
    base_sha: str = ""
    status: Status = Status.QUEUED
    phase: Phase | None = None
    waiting_for: Reason | None = None
    attempt: int = 0
    max_attempts: int = 3
    agents: tuple[str, ...] = ()
    baseline: Validation | None = None
    proof: Proof | None = None
    """What is shown of a change with which all checks passed (`rules.runs.proof`); None without such a change."""
    validations: tuple[Validation, ...] = ()
    rejections: tuple[Reason, ...] = ()
    """Why changes were not applied."""
    evidence: str = ""
    """The first error block of the last failing step (`rules.failures.errors`); where it is empty, reports cut the
    step's output."""
    setup: tuple[SetupDone, ...] = ()
    """The steps of the setup, once it has ended."""
    chosen: tuple[tuple[str, str], ...] = ()
    """The commands that check the project, masked, each with the file that it was chosen by, or with ""."""
    left: tuple[str, ...] = ()
    """Errors of the base that the task does not name and that were left alone, in their tools' own words."""
    left_count: int = 0
    left_out: tuple[str, ...] = ()
    """Checks that were left out, as they could not run on the base."""
    changed_paths: tuple[str, ...] = ()
    stop: ExplainedStop | None = None
    commit_sha: str | None = None
    pull: PullRequestRef | None = None
    fixes_pull: Literal["", "branch", "fork"] = ""
    """The pull request that the run fixes has its branch in the repository (`branch`) or in a fork; empty for a run
    that opens its own pull request."""
    salvage_ref: str | None = None
    """The ref of the unfinished change, in a repository that only the operator can reach."""
    unfinished: str = ""
    """The unfinished change as git's diff, masked; empty where there is none or it is too long."""
    loss: Loss | None = None
    sandbox: Reason | None = None
    trigger_label: str = "auto-fix"
    duration_ms: int = 0
    task: str = ""
    """The task of a session, untrusted; the task of a group is in its issues."""
    guidance: tuple[KnownError, ...] = ()
    """The known errors that the latest attempt got from the error history."""
    recognised: tuple[tuple[Annotation, KnownError], ...] = ()
    """Findings of the latest validation that the error history knows (`rules.history.recognition`)."""
    error_delta: ErrorDelta | None = None
    """None until the first check has ended."""
    what_ran: Literal["", "compared", "unnamed", "not_before"] = ""
    """Whether the tests after the last change were compared with those before it, by name; empty where none ran."""
    notes: tuple[Reason, ...] = ()
    """Parts of the change that a person should review."""
    attempts: tuple[Attempt, ...] = ()
    """Every attempt that is over, also those without a change."""
    conflicts: tuple[Conflict, ...] = ()
    seen: tuple[tuple[str, int, str], ...] = ()
    """Normalised errors, each with the number of failures of the repository's checks with it, this run included, and
    the time of the first one (ISO 8601)."""
    printed: tuple[tuple[str, str], ...] = ()
    """Normalised errors, each with the tool's own message, which people see."""
    waited_ms: int = 0
    """How long a queued run has waited so far; 0 where this was not read."""
    metadata: RunMetadata | None = None
    """How a run ended, for programs (`rules.runs.run_metadata`); None while it is not over."""
    usage: Usage | None = None
    """What all agents and models of the run used; None before the first has ended."""


class CheckOutput(Model):
    """A check run's output; `summary` and `text` are at most 65,535 bytes each (GitHub's checks API)."""

    title: str
    summary: str
    text: str = ""
    annotations: tuple[Annotation, ...] = ()
