"""The nouns of checking a pull request: the request itself, what failed on it and whose failure it is, the buttons."""

from __future__ import annotations

from datetime import datetime
from typing import Literal

from bot.model.nouns import Model, ValidationStep
from bot.model.reasons import ExplainedStop
from bot.model.report_views import KnownError
from bot.model.setups import SetupDone

Verdict = Literal["new", "flaky", "also_on_base"]
PullStatus = Literal["queued", "running", "done", "cancelled"]
CheckRunStatus = Literal["queued", "in_progress", "completed"]


class PullRequest(Model):
    """A pull request as it is on GitHub now. Refs may look like options: never into an argv (T17)."""

    number: int
    title: str = ""
    author: str = ""
    state: Literal["open", "closed"] = "open"
    merged: bool = False
    merge_commit_sha: str | None = None
    draft: bool = False
    head_sha: str
    head_ref: str = ""
    head_repo: str | None = None
    """`owner/name`; None where the fork is gone."""
    base_ref: str = ""
    base_sha: str = ""
    body: str = ""
    labels: tuple[str, ...] = ()
    updated_at: datetime | None = None


class Rate(Model):
    """How often a check was flaky among its runs here so far, this one included."""

    flaky: int = 0
    runs: int = 0


class FailureHistory(Model):
    """How often a repository's checks failed with one error, this time included; `since` is when first, ISO 8601."""

    times: int = 0
    since: str = ""


class Failure(Model):
    """One failure of a failed check, by its error as `rules.failures.errors` normalises it (untrusted), and whose it
    is."""

    error: str
    verdict: Verdict
    test: str = ""
    """The test that failed, by its runner's name for it; empty where it is none, or the runner names none."""
    said: str = ""
    """What is wrong in the tool's own words; empty where they were not kept."""
    seen: FailureHistory | None = None
    known: KnownError | None = None
    """What the history says of how it was resolved before."""


class CheckStatus(Model):
    """One check of a pull request's head. A completed one has `step`, or `kept_from`: the run whose result stands, as
    nothing was run again; or neither, where it was not to be run (`because` says why)."""

    name: str
    status: CheckRunStatus = "queued"
    step: ValidationStep | None = None
    failures: tuple[Failure, ...] = ()
    rate: Rate | None = None
    """Where the check was flaky."""
    kept_from: str = ""
    because: str = ""

    @property
    def new(self) -> tuple[Failure, ...]:
        return tuple(one for one in self.failures if one.verdict == "new")

    @property
    def conclusion(self) -> str:
        """GitHub's conclusion, once it is completed. A failure that nobody judged counts as new, and one kept from an
        earlier run as it was then."""
        step = self.step
        if step.skipped if step else not self.failures and (self.because != "" or not self.kept_from):
            return "skipped"
        if self.new or (step is not None and not step.passed and not self.failures):
            return "timed_out" if step is not None and step.timed_out else "failure"
        flaky = step is not None and step.flaky
        return "neutral" if self.failures or flaky else "success"


class PullCheckReport(Model):
    """All that reports may tell of the checks of one head of a pull request."""

    run_id: str
    repo: str
    github_url: str
    """GitHub's pages, without a slash at the end: links are made with it."""
    number: int
    title: str = ""
    author: str = ""
    head_sha: str
    base_sha: str = ""
    """The commit that this head is compared with: where it left its base branch."""
    from_fork: bool = False
    status: PullStatus = "queued"
    checks: tuple[CheckStatus, ...] = ()
    stop: ExplainedStop | None = None
    """Why it ended early: superseded, cancelled, closed, or a fault."""
    past: tuple[KnownError, ...] = ()
    """What the history knows of errors in the files that the pull request changes."""
    setup: tuple[SetupDone, ...] = ()
    """The steps of the head's setup that has ended."""
    sandbox: str = ""
    duration_ms: int = 0
    fixable: bool = False
    """Whether *Fix* may be offered: something new failed, and the limit of pushes is not reached."""


class CheckAction(Model):
    """A button on a check run; GitHub allows 20, 40 and 20 characters (REST, check runs, `actions`)."""

    label: str
    description: str
    identifier: str
