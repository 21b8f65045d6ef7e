"""The closed set of events that Mendbot reacts to: frozen, and no larger than what some rule reads.
Who matches over `Event` ends with `assert_never`, so that a new event can't be forgotten anywhere."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from bot.model import Issue, Repo
from bot.model.reasons import Reason


@dataclass(frozen=True, slots=True)
class _Sent:
    """Who did it, and where. `repo.installation_id` is 0 where the payload names none: it isn't from the App's hook."""

    repo: Repo
    sender: str
    sender_is_bot: bool


@dataclass(frozen=True, slots=True)
class _OnIssue(_Sent):
    """`at` is the issue's `updated_at` in this payload: it gives the order of events where arrival doesn't."""

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
    """It may carry labels already: issue forms set them for anyone (T10)."""


@dataclass(frozen=True, slots=True)
class IssueClosed(_OnIssue):
    """Closed, or gone from this repository."""

    how: Literal["closed", "deleted", "transferred"]


@dataclass(frozen=True, slots=True)
class IssueReopened(_OnIssue):
    """Open again, with whatever labels it kept."""


@dataclass(frozen=True, slots=True)
class ThreadUnlocked(_Sent):
    """The conversation of an issue or a pull request is open to the App again."""

    number: int
    is_pull_request: bool


CommentKind = Literal["issue_comment", "review_comment", "review"]
"""A comment in a thread, one at a line of a pull request, or the text of a review as a whole."""


@dataclass(frozen=True, slots=True)
class _OnThread(_Sent):
    """`number` is the thread's, an issue's or a pull request's, `opened_by` who opened it; `body` is raw Markdown. The
    text is its `author`'s, but what happened to it is the `sender`'s doing. `at` is when it was written."""

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
    """Its head moved."""


@dataclass(frozen=True, slots=True)
class PullRequestReopened(_OnPull):
    """Open again."""


@dataclass(frozen=True, slots=True)
class PullRequestChanged(_OnPull):
    """Something else about it that decides whether it is checked: a draft or no more, its labels, its base."""

    how: str


@dataclass(frozen=True, slots=True)
class PullRequestClosed(_OnPull):
    """Merged or not."""


@dataclass(frozen=True, slots=True)
class _OnCheckRun(_Sent):
    """`external_id` is what its maker calls it: the id of one of Mendbot's runs, if it is Mendbot's."""

    check_run_id: int
    name: str
    head_sha: str
    external_id: str


@dataclass(frozen=True, slots=True)
class CheckRunRerequested(_OnCheckRun):
    """Somebody pressed *Re-run* on one check."""


@dataclass(frozen=True, slots=True)
class CheckRunRequestedAction(_OnCheckRun):
    """`identifier` names the button that was pressed."""

    identifier: str


@dataclass(frozen=True, slots=True)
class _OnSuite(_Sent):
    """All checks of one commit; a commit on a fork's branch has no `head_branch` here."""

    head_sha: str
    head_branch: str | None


@dataclass(frozen=True, slots=True)
class CheckSuiteRequested(_OnSuite):
    """A commit was pushed that wants checking."""


@dataclass(frozen=True, slots=True)
class CheckSuiteRerequested(_OnSuite):
    """Somebody pressed *Re-run all checks*."""


@dataclass(frozen=True, slots=True)
class MergeGroupRequested(_Sent):
    """The merge queue made a commit of pull requests and its base, and waits for the required checks of it. `head_ref`
    and `base_ref` are branches of the repository; `base_sha` is what the group is merged onto."""

    head_sha: str
    head_ref: str
    base_sha: str
    base_ref: str


@dataclass(frozen=True, slots=True)
class MergeGroupDestroyed(_Sent):
    """The queue has no more use for that commit; `reason` is `merged`, `dequeued`, `invalidated`, or empty."""

    head_sha: str
    reason: str


InstallationChange = Literal["created", "deleted", "suspended", "unsuspended", "permissions", "added", "removed"]


@dataclass(frozen=True, slots=True)
class InstallationChanged:
    """`repositories` are the full names it is about; None means whatever the installation has."""

    installation_id: int
    change: InstallationChange
    repositories: tuple[str, ...] | None


@dataclass(frozen=True, slots=True)
class Push(_Sent):
    """`after` is the commit that `ref` points to now, all zeros where the ref was deleted."""

    ref: str
    after: str
    to_default_branch: bool
    touches_policy: bool
    """Whether the repository's configuration may have changed with it."""


@dataclass(frozen=True, slots=True)
class Ping:
    """GitHub asks whether somebody listens."""


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
