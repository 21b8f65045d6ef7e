"""The decisions about events, and the facts that they need.

Each decision has its reason, which the list of deliveries shows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from bot.model import Issue, Repo
from bot.model.commands import SlashCommand
from bot.model.dashboard import BoxCommand
from bot.model.pulls import PullRequest
from bot.model.reasons import Reason
from bot.rules.events.types import CommentKind
from bot.rules.reasons import make_reason

WRITE_ACCESS = frozenset({"admin", "maintain", "write"})
"""GitHub's roles that may push (GitHub docs, "Repository roles for an organization")."""


def carries(labels: Sequence[str], label: str) -> bool:
    """Whether the label is among these; GitHub's labels ignore case."""
    return any(own.casefold() == label.casefold() for own in labels)


@dataclass(frozen=True, slots=True)
class Needs:
    """The facts that `decide` reads, so that no others are fetched. The sender's permission, the present issue and
    the present pull request come from GitHub. Whether an open run or a queued issue exists comes from the store."""

    permission: bool = False
    issue: bool = False
    open_run: bool = False
    pull: int | None = None
    """The number of a pull request whose author may do things that otherwise need write access."""


@dataclass(frozen=True, slots=True)
class Facts:
    """The facts for a decision. `app_login` is Mendbot's own (`slug[bot]`). `sender_permission` None means unknown,
    which denies. `issue` is the present issue on GitHub; None means that the event's own copy counts. `open_run`
    includes queued issues, and `open_since` is the `at` of their label."""

    app_login: str = ""
    sender_permission: str | None = None
    issue: Issue | None = None
    open_run: bool = False
    open_since: datetime | None = None
    pull: PullRequest | None = None


@dataclass(frozen=True, slots=True)
class QueueIssue:
    """Queue the issue for its quiet period and for grouping. `at` is kept as `open_since`; `by` is the login of the
    person who added the label."""

    repo: Repo
    issue_number: int
    because: Reason
    at: datetime | None = None
    by: str = ""


@dataclass(frozen=True, slots=True)
class CancelRun:
    """Stop the open run of this issue, or remove it from the queue."""

    repo: Repo
    issue_number: int
    because: Reason


@dataclass(frozen=True, slots=True)
class StopInstallation:
    """Cancel all work for these repositories without a further call to GitHub; None means all of the installation."""

    installation_id: int
    repositories: tuple[str, ...] | None
    because: Reason


@dataclass(frozen=True, slots=True)
class SyncPull:
    """Start or stop the checks of a pull request according to its present state on GitHub. `head` is the head commit
    of the event, with the time at which GitHub saw it."""

    repo: Repo
    number: int
    because: Reason
    head: tuple[str, datetime | None] | None = None


@dataclass(frozen=True, slots=True)
class SyncCommit:
    """Start or stop the checks of every open pull request with that head commit; `again` re-runs all checks."""

    repo: Repo
    sha: str
    because: Reason
    again: bool = False


@dataclass(frozen=True, slots=True)
class CheckMergeGroup:
    """Check the commit of a merge queue: `head_sha` against `base_sha`."""

    repo: Repo
    head_sha: str
    head_ref: str
    base_sha: str
    base_ref: str
    because: Reason


@dataclass(frozen=True, slots=True)
class DropMergeGroup:
    """Stop the checks of a commit that a merge queue has dropped."""

    repo: Repo
    head_sha: str
    because: Reason


@dataclass(frozen=True, slots=True)
class ButtonPressed:
    """A person with the right to do so clicked a button on a check run: `identifier` names the button, `rerun` is
    GitHub's own *Re-run*."""

    repo: Repo
    run_id: str
    check: str
    identifier: str
    by: str
    because: Reason
    head_sha: str
    check_run_id: int
    trusted: bool = True
    """The person has write access; without it the button is *Fix*, which the author of a branch of the repository
    may click."""


@dataclass(frozen=True, slots=True)
class RunCommands:
    """Run the commands of a comment, which its author was allowed to use at the time of the decision."""

    repo: Repo
    number: int
    is_pull: bool
    kind: CommentKind
    comment_id: int
    by: str
    commands: tuple[SlashCommand, ...]
    at: datetime | None
    because: Reason
    trusted: bool = True
    """The author has write access; otherwise it is the author of the pull request, who may use some verbs only."""


@dataclass(frozen=True, slots=True)
class RunBoxes:
    """Run the commands of the boxes that a person with write access ticked on the dashboard issue `number`."""

    repo: Repo
    number: int
    by: str
    boxes: tuple[BoxCommand, ...]
    at: datetime | None
    because: Reason


@dataclass(frozen=True, slots=True)
class JudgePolicy:
    """Validate the configuration of a commit of the default branch, and report its problems there."""

    repo: Repo
    sha: str
    because: Reason


@dataclass(frozen=True, slots=True)
class ReleaseReports:
    """Publish the reports that could not be published: of these repositories (None means all of the installation),
    or of one thread. `installation_id` is the installation to use from now on."""

    installation_id: int
    repositories: tuple[str, ...] | None
    number: int | None
    because: Reason


@dataclass(frozen=True, slots=True)
class WelcomeRepositories:
    """The App was installed on these repositories: each gets an onboarding issue, and its pull requests wait."""

    installation_id: int
    repositories: tuple[str, ...]
    because: Reason


@dataclass(frozen=True, slots=True)
class Ignore:
    """Nothing to do; `because` is shown in the list of deliveries."""

    because: Reason


Decision = (
    QueueIssue
    | CancelRun
    | StopInstallation
    | SyncPull
    | SyncCommit
    | CheckMergeGroup
    | DropMergeGroup
    | ButtonPressed
    | RunCommands
    | RunBoxes
    | JudgePolicy
    | ReleaseReports
    | WelcomeRepositories
    | Ignore
)


def no_write_access(by: str, facts: Facts, repo: Repo) -> Reason:
    """The reason that `by` has no write access."""
    return make_reason("event.no_write_access", by=by, permission=facts.sender_permission or "?", repo=repo.full_name)
