"""The nouns of telling: what a report, a check run or the error history may show."""

from __future__ import annotations

from typing import Any, Literal

from bot.model.nouns import Annotation, CamelModel, Issue, Model, Phase, Proof, Status, Validation
from bot.model.reasons import ExplainedStop, Reason
from bot.model.setups import SetupDone


class PullRequestRef(Model):
    number: int
    url: str
    head_sha: str = ""
    draft: bool = False


class Resolution(CamelModel):
    """What made an error go away, proven by the same check passing (REQ-RA-311); its JSON begins as the seed's."""

    resolved_by: str = ""
    """A login, or the bot's."""
    tool: str = ""
    tool_sequence: tuple[str, ...] = ()
    how: str = ""
    """In a person's words (`/mendbot resolved <how>`), or whatever an older record says."""
    repo: str | None = None
    commit: str | None = None
    pull_request: int | None = None
    author: str | None = None
    run_id: str | None = None
    """The run, or the command, that proved or said it: what the same attempt of it says again is one use."""
    attempt: int | None = None
    diff_hash: str | None = None
    patch: str | None = None


class KnownError(CamelModel):
    """A resolved error of the history; `error` is normalised, `raw` as the tool printed it where that may be told here,
    `last_used` ISO 8601.

    `shown` counts how often it was told before an attempt, `passed` how many of those attempts passed."""

    id: int
    error: str
    raw: str = ""
    resolution: Resolution
    use_count: int = 1
    last_used: str = ""
    shown: int = 0
    passed: int = 0
    exact: bool = True
    """False where only the loose key matched."""


class ErrorDelta(Model):
    """What came of the errors with the latest validation, as normalised texts, untrusted. With the first one of a run,
    where there is nothing to compare with, all of them remain."""

    fixed: tuple[str, ...] = ()
    remaining: tuple[str, ...] = ()
    introduced: tuple[str, ...] = ()


class Attempt(Model):
    """One attempt of a run and what came of it (`rules.runs.certificate`). An attempt without a change is
    `not_applied`, one whose checks did not come to their end `not_checked`; neither has errors to tell of."""

    attempt: int
    agent: str = ""
    patch: str = ""
    """The hash of the change, as the error history knows it."""
    paths: tuple[str, ...] = ()
    result: Literal["passed", "failed", "not_checked", "not_applied"]
    flaky: bool = False
    moved: ErrorDelta | None = None
    compared: bool = True
    """False where nothing had been checked before, so that all of its errors count as remaining."""
    validation: Validation | None = None

    @property
    def duration_ms(self) -> int:
        """What its checks took."""
        return sum(step.duration_ms for step in self.validation.steps) if self.validation else 0


class Conflict(Model):
    """Another group whose change would not merge with this one's, and in which files."""

    issues: tuple[int, ...]
    pull: int | None = None
    paths: tuple[str, ...] = ()


class Loss(Model):
    """What of a run's unfinished change could not be kept: `files`, printable, and how many `more`; none named is all
    of it. `because` is English, for the log."""

    files: tuple[str, ...] = ()
    more: int = 0
    because: str = ""


class RunView(Model):
    """All that a report may tell about one run; made from its facts by `store.runs.runs`."""

    run_id: str
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
    proof: Proof = "shown"
    """Of a run that ended green: what its checks have shown of the change (`rules.runs.proof`)."""
    validations: tuple[Validation, ...] = ()
    troubles: tuple[Reason, ...] = ()
    """Why changes were not applied."""
    evidence: str = ""
    """The first error block of the last failing step (`rules.failures.errors`); empty lets reports cut the step's
    output."""
    setup: tuple[SetupDone, ...] = ()
    """The steps of the setup that has ended."""
    chosen: tuple[tuple[str, str], ...] = ()
    """The commands that check the project, masked, each with the file that it was chosen by, or ""."""
    left: tuple[str, ...] = ()
    """Errors of the base that the task does not name, in their tools' own words: they were left alone."""
    left_count: int = 0
    left_out: tuple[str, ...] = ()
    """Checks that could not run on the base, and were left out."""
    changed_paths: tuple[str, ...] = ()
    stop: ExplainedStop | None = None
    commit_sha: str | None = None
    pull: PullRequestRef | None = None
    fixes_pull: Literal["", "branch", "fork"] = ""
    """Whose pull request's branch it is for, the repository's own or a fork's; empty where it opens one of its own."""
    salvage_ref: str | None = None
    """Where the unfinished change is kept, in a repository that the operator alone can reach."""
    unfinished: str = ""
    """That change as git's diff, masked; empty where there is none or it is too long."""
    loss: Loss | None = None
    sandbox: str = ""
    trigger_label: str = "auto-fix"
    duration_ms: int = 0
    task: str = ""
    """What a session was asked for, untrusted; a group's task is what its issues say."""
    guidance: tuple[KnownError, ...] = ()
    """What the error history knew before the latest attempt."""
    recognised: tuple[tuple[Annotation, KnownError], ...] = ()
    """Findings of the latest validation that the history knows (`rules.history.recognition`)."""
    movement: ErrorDelta | None = None
    """None until something was checked."""
    what_ran: Literal["", "compared", "unnamed", "not_before"] = ""
    """Whether the tests after the last change were compared with those before it, by name; empty where none ran."""
    notes: tuple[Reason, ...] = ()
    """What a person should look at in the change."""
    tried: tuple[Attempt, ...] = ()
    """Every attempt that is over, also those that came to no change."""
    conflicts: tuple[Conflict, ...] = ()
    seen: tuple[tuple[str, int, str], ...] = ()
    """Errors, normalised, with how often the repository's checks failed with each, this run included, and since when
    (ISO 8601)."""
    printed: tuple[tuple[str, str], ...] = ()
    """Errors, normalised, each in its tool's own words: what people are shown of it."""
    waited_ms: int = 0
    """How long a queued run has waited so far; 0 where nobody asked."""
    certificate: dict[str, Any] | None = None
    """Of a run that is over: the account for programs of how it ended (`rules.runs.certificate`)."""


class CheckOutput(Model):
    """A check run's output; `summary` and `text` are at most 65,535 bytes each (GitHub's checks API)."""

    title: str
    summary: str
    text: str = ""
    annotations: tuple[Annotation, ...] = ()
