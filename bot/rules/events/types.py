"""The closed set of events that Mendbot reacts to: frozen, with only the fields that some rule reads. A `match` over
`Event` ends with `assert_never`, so that no new event is forgotten."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from bot.model import Issue, Repo
from bot.model.reasons import Reason


@dataclass(frozen=True, slots=True)
class _Sent:
    """The sender and the repository. `repo.installation_id` is 0 where the payload names none: it is not from the
    App's webhook."""

    repo: Repo
    sender: str
    sender_is_bot: bool


@dataclass(frozen=True, slots=True)
class _OnIssue(_Sent):
    """`at` is the issue's `updated_at` in this payload: it shows the order of events that arrive in another order."""

    issue: Issue
    at: datetime | None


@dataclass(frozen=True, slots=True)
class IssueLabeled(_OnIssue):
    label: str


@dataclass(frozen=True, slots=True)
class IssueUnlabeled(_OnIssue):
    """`label` is None where GitHub leaves it out, as it may when the label itself was deleted."""

    label: str | None


@dataclass(frozen=True, slots=True)
class IssueOpened(_OnIssue):
    """A new issue, perhaps with labels: issue forms set them for anyone (T10)."""


@dataclass(frozen=True, slots=True)
class IssueClosed(_OnIssue):
    """The issue was closed, deleted or transferred."""

    how: Literal["closed", "deleted", "transferred"]


@dataclass(frozen=True, slots=True)
class IssueEdited(_OnIssue):
    """`previous` is the body before the edit; None where the body did not change."""

    previous: str | None


@dataclass(frozen=True, slots=True)
class IssueReopened(_OnIssue):
    """The issue was reopened; it keeps its labels."""


@dataclass(frozen=True, slots=True)
class ThreadUnlocked(_Sent):
    """The conversation of an issue or a pull request was unlocked, so the App may comment again."""

    number: int
    is_pull_request: bool


CommentKind = Literal["issue_comment", "review_comment", "review", "dashboard"]
"""A comment in a thread, one at a line of a pull request, the text of a review as a whole, or a box of
the dashboard issue."""


@dataclass(frozen=True, slots=True)
class _OnThread(_Sent):
    """`number` is that of the issue or pull request, `opened_by` its author; `body` is raw Markdown. `author` wrote
    the comment, `sender` caused the event. `at` is the time of the comment."""

    number: int
    is_pull_request: bool
    kind: CommentKind
    comment_id: int
    author: str
    opened_by: str
    body: str
    at: datetime | None


@dataclass(frozen=True, slots=True)
class CommentCreated(_OnThread):
    """A new comment."""


@dataclass(frozen=True, slots=True)
class CommentEdited(_OnThread):
    """`previous` is the body before the edit; None where the payload names no change of the body."""

    previous: str | None


@dataclass(frozen=True, slots=True)
class _OnPull(_Sent):
    """`head_repo` is a full name, None where the fork is gone. Refs may look like options: never into an argv (T17).
    `at` is the pull request's `updated_at`, which for a new head is when GitHub saw it."""

    number: int
    head_sha: str
    head_repo: str | None
    base_ref: str
    author: str
    draft: bool
    at: datetime | None


@dataclass(frozen=True, slots=True)
class PullRequestOpened(_OnPull):
    """A new pull request."""


@dataclass(frozen=True, slots=True)
class PullRequestSynchronized(_OnPull):
    """The pull request has a new head commit."""


@dataclass(frozen=True, slots=True)
class PullRequestReopened(_OnPull):
    """The pull request was reopened."""


@dataclass(frozen=True, slots=True)
class PullRequestChanged(_OnPull):
    """Another change that decides whether it is checked: draft state, labels, base branch."""

    how: str


@dataclass(frozen=True, slots=True)
class PullRequestClosed(_OnPull):
    """The pull request was merged, or closed without."""


@dataclass(frozen=True, slots=True)
class _OnCheckRun(_Sent):
    """`external_id` is set by the creator of the check run; for one of Mendbot's, it is the id of the run."""

    check_run_id: int
    name: str
    head_sha: str
    external_id: str


@dataclass(frozen=True, slots=True)
class CheckRunRerequested(_OnCheckRun):
    """A person clicked *Re-run* on one check run."""


@dataclass(frozen=True, slots=True)
class CheckRunRequestedAction(_OnCheckRun):
    """A person clicked a button of a check run; `identifier` names it."""

    identifier: str


@dataclass(frozen=True, slots=True)
class _OnSuite(_Sent):
    """All checks of one commit; a commit on a fork's branch has no `head_branch` here."""

    head_sha: str
    head_branch: str | None


@dataclass(frozen=True, slots=True)
class CheckSuiteRequested(_OnSuite):
    """A commit was pushed that needs checks."""


@dataclass(frozen=True, slots=True)
class CheckSuiteRerequested(_OnSuite):
    """A person clicked *Re-run all checks*."""


@dataclass(frozen=True, slots=True)
class MergeGroupRequested(_Sent):
    """The merge queue merged pull requests onto its base, and waits for the required checks of that commit.
    `head_ref` and `base_ref` are branches of the repository; `base_sha` is the commit below the group."""

    head_sha: str
    head_ref: str
    base_sha: str
    base_ref: str


@dataclass(frozen=True, slots=True)
class MergeGroupDestroyed(_Sent):
    """The merge queue dropped that commit; `reason` is `merged`, `dequeued`, `invalidated`, or empty."""

    head_sha: str
    reason: str


InstallationChange = Literal["created", "deleted", "suspended", "unsuspended", "permissions", "added", "removed"]


@dataclass(frozen=True, slots=True)
class InstallationChanged:
    """`repositories` are the full names of the repositories concerned; None means all of the installation."""

    installation_id: int
    change: InstallationChange
    repositories: tuple[str, ...] | None


@dataclass(frozen=True, slots=True)
class Push(_Sent):
    """`after` is the commit of `ref` now, all zeros where the ref was deleted."""

    ref: str
    after: str
    to_default_branch: bool
    touches_policy: bool
    """Whether the push may have changed the repository's configuration."""


@dataclass(frozen=True, slots=True)
class Ping:
    """GitHub tests the webhook."""


@dataclass(frozen=True, slots=True)
class Ignored:
    """An event that no rule reads, for the reason `because`."""

    because: Reason
    repository: str | None = None


Event = (
    IssueLabeled
    | IssueUnlabeled
    | IssueOpened
    | IssueClosed
    | IssueEdited
    | IssueReopened
    | ThreadUnlocked
    | CommentCreated
    | CommentEdited
    | PullRequestOpened
    | PullRequestSynchronized
    | PullRequestReopened
    | PullRequestChanged
    | PullRequestClosed
    | CheckRunRerequested
    | CheckRunRequestedAction
    | CheckSuiteRequested
    | CheckSuiteRerequested
    | MergeGroupRequested
    | MergeGroupDestroyed
    | InstallationChanged
    | Push
    | Ping
    | Ignored
)
