"""Pull requests: the request itself, the status of its checks with their failures, and the buttons of check runs."""

from __future__ import annotations

from datetime import datetime
from typing import Literal

from bot.model.base import Model
from bot.model.pipeline import ValidationStep
from bot.model.reasons import ExplainedStop, Reason
from bot.model.report_views import KnownError
from bot.model.setups import SetupDone

Verdict = Literal["new", "new_flaky", "flaky_before", "existing", "not_reached", "unsure"]
"""Whose failure it is, as `rules.pulls.evidence` decides."""
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


class FlakyRate(Model):
    """How often a check was flaky in its runs in this repository so far, this one included."""

    flaky: int = 0
    runs: int = 0


class FailureHistory(Model):
    """How often a repository's checks failed with one error, now included; `since` is the first time, ISO 8601."""

    times: int = 0
    since: str = ""


class RunCounts(Model):
    """How many runs of a test failed and passed."""

    failed: int = 0
    passed: int = 0

    @property
    def total(self) -> int:
        return self.failed + self.passed

    def __add__(self, other: RunCounts) -> RunCounts:
        return RunCounts(failed=self.failed + other.failed, passed=self.passed + other.passed)


NO_RUNS = RunCounts()


class Failure(Model):
    """One failure of a failed check: its error as `rules.failures.errors` normalises it (untrusted), and whether the
    pull request caused it."""

    error: str
    verdict: Verdict
    head: RunCounts = NO_RUNS
    """Its runs on the head commit."""
    base: RunCounts = NO_RUNS
    """Its runs on the merge base."""
    before: RunCounts = NO_RUNS
    """Its remembered runs on other commits of the base branch."""
    base_absent: bool = False
    """Whether the merge base does not have the test."""
    touched: bool = False
    """Whether the pull request alters the test, or the test executes a line that it changes."""
    test: str = ""
    """The name of the failed test; empty where it is no test, or the runner prints no name."""
    said: str = ""
    """The tool's own message; empty where it was not stored."""
    seen: FailureHistory | None = None
    known: KnownError | None = None
    """How the error was resolved before, from the error history."""

    @property
    def own(self) -> bool:
        """Whether the pull request caused it, so that the check fails and *Fix* may work on it."""
        return self.verdict == "new" or (self.verdict == "new_flaky" and self.touched)


class FailedOf(Model):
    """How many tests of a check failed, of how many that ran."""

    failed: int
    ran: int


class CheckStatus(Model):
    """One check of a pull request's head commit. A completed check has `step` if it ran, or `kept_from`: the earlier
    run whose result is still valid. It has neither if it was not to be run, for the reason `because`."""

    name: str
    status: CheckRunStatus = "queued"
    step: ValidationStep | None = None
    failures: tuple[Failure, ...] = ()
    rate: FlakyRate | None = None
    """Where the check was flaky."""
    kept_from: str = ""
    because: str = ""
    looked_for: tuple[Reason, ...] = ()
    """Where a command was looked for in vain, of a check without one."""

    unmeasured: Reason | None = None
    """Why it is unknown whether the failing tests execute a changed line, where that could have mattered."""
    broken_setup: FailedOf | None = None
    """Where most tests failed and nothing shows that the pull request is the cause: no failure has a verdict."""

    @property
    def new(self) -> tuple[Failure, ...]:
        """The failures that the pull request caused."""
        return tuple(failure for failure in self.failures if failure.own)

    @property
    def conclusion(self) -> str:
        """GitHub's conclusion, once it is completed. A failure without a verdict counts as new; a result kept from an
        earlier run keeps its verdicts."""
        step = self.step
        has_reason = self.because != "" or self.looked_for != ()
        if step.skipped if step else not self.failures and (has_reason or not self.kept_from):
            return "skipped"
        if self.new or (step is not None and not step.passed and not self.failures):
            return "timed_out" if step is not None and step.timed_out else "failure"
        flaky = step is not None and step.flaky
        return "neutral" if self.failures or flaky else "success"


class PullCheckReport(Model):
    """All that reports may publish about the checks of one head commit of a pull request."""

    run_id: str
    page_url: str = ""
    """The address of the run's page; empty where the operator gave none."""
    repo: str
    github_url: str
    """The address of GitHub's pages, without a slash at the end, for links."""
    number: int
    title: str = ""
    author: str = ""
    head_sha: str
    base_sha: str = ""
    """The commit that the head commit is compared with: the merge base."""
    from_fork: bool = False
    status: PullStatus = "queued"
    checks: tuple[CheckStatus, ...] = ()
    stop: ExplainedStop | None = None
    """Why it ended early: superseded, cancelled, closed, or a fault."""
    past: tuple[KnownError, ...] = ()
    """Known errors in the files that the pull request changes, from the error history."""
    setup: tuple[SetupDone, ...] = ()
    """The steps of the setup of the head commit, once it has ended."""
    sandbox: Reason | None = None
    duration_ms: int = 0
    fixable: bool = False
    """Whether the *Fix* button is shown: there is a new failure, and the limit of pushes is not reached."""


class CheckAction(Model):
    """A button on a check run; GitHub allows 20, 40 and 20 characters (REST, check runs, `actions`)."""

    label: str
    description: str
    identifier: str
