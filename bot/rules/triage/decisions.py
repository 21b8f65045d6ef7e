"""What may be decided about an event, and what deciding needs to know: the nouns of triage.

Each decision has its reason, which the list of deliveries shows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from bot.model import Issue, Repo
from bot.model.commands import SlashCommand
from bot.model.pulls import PullRequest
from bot.model.reasons import Reason
from bot.rules.events.types import CommentKind
from bot.rules.reasons import make_reason

WRITE_ACCESS = frozenset({"admin", "maintain", "write"})
"""GitHub's roles that may push (GitHub docs, "Repository roles for an organization")."""


def carries(labels: Sequence[str], label: str) -> bool:
    """Whether that label is among these: GitHub's labels ignore case."""
    return any(own.casefold() == label.casefold() for own in labels)


@dataclass(frozen=True, slots=True)
class Needs:
    """What `decide` would look at, so that nothing else is asked for: the sender's permission, the issue as it is now
    and the pull request as it is now (all of GitHub), and whether an open run or a waiting candidate has the issue (of
    the store)."""

    permission: bool = False
    issue: bool = False
    open_run: bool = False
    pull: int | None = None
    """The number of a pull request whose author may do what others need write access for."""


@dataclass(frozen=True, slots=True)
class Facts:
    """What is known when an event is judged. `app_login` is our own (`slug[bot]`); `sender_permission` None means that
    nobody could say, which denies; `issue` is its state on GitHub now, None where it wasn't asked (the event's own
    picture then counts); `open_run` covers waiting candidates too, and `open_since` is the `at` of its Candidate."""

    app_login: str = ""
    sender_permission: str | None = None
    issue: Issue | None = None
    open_run: bool = False
    open_since: datetime | None = None
    pull: PullRequest | None = None


@dataclass(frozen=True, slots=True)
class QueueIssue:
    """Let the issue wait for its quiet period and then be grouped; keep `at` as the candidate's `open_since`, and `by`,
    the login of whoever put the label."""

    repo: Repo
    issue_number: int
    because: Reason
    at: datetime | None = None
    by: str = ""


@dataclass(frozen=True, slots=True)
class CancelRun:
    """Stop the open run of this issue, or withdraw it where it still waits."""

    repo: Repo
    issue_number: int
    because: Reason


@dataclass(frozen=True, slots=True)
class StopInstallation:
    """Cancel, without a further call to GitHub, what runs for these repositories; None means the installation's all."""

    installation_id: int
    repositories: tuple[str, ...] | None
    because: Reason


@dataclass(frozen=True, slots=True)
class SyncPull:
    """Bring the checks of a pull request to what it is on GitHub now. `head` is a head that the event told of, with the
    moment at which GitHub saw it."""

    repo: Repo
    number: int
    because: Reason
    head: tuple[str, datetime | None] | None = None


@dataclass(frozen=True, slots=True)
class SyncCommit:
    """The same for every open pull request of that head; `again` runs all checks once more."""

    repo: Repo
    sha: str
    because: Reason
    again: bool = False


@dataclass(frozen=True, slots=True)
class CheckMergeGroup:
    """Check what a merge queue is about to merge: `head_sha` against `base_sha`."""

    repo: Repo
    head_sha: str
    head_ref: str
    base_sha: str
    base_ref: str
    because: Reason


@dataclass(frozen=True, slots=True)
class DropMergeGroup:
    """Stop the checks of a commit that a merge queue has no more use for."""

    repo: Repo
    head_sha: str
    because: Reason


@dataclass(frozen=True, slots=True)
class ButtonPressed:
    """Somebody with the right to asks something of one check run: `identifier` names the button, `rerun` is GitHub's
    own *Re-run*."""

    repo: Repo
    run_id: str
    check: str
    identifier: str
    by: str
    because: Reason
    head_sha: str
    check_run_id: int
    trusted: bool = True
    """By write access; otherwise the button is *Fix*, which the author of a branch of the repository may press, too."""


@dataclass(frozen=True, slots=True)
class RunCommands:
    """Do what a comment asks for. Its author was allowed to ask it when the decision was made."""

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
    """By write access; otherwise as the author of the pull request, who may use some verbs alone."""


@dataclass(frozen=True, slots=True)
class JudgePolicy:
    """Read the configuration that a commit of the default branch holds, and say there what is wrong with it."""

    repo: Repo
    sha: str
    because: Reason


@dataclass(frozen=True, slots=True)
class ReleaseReports:
    """Tell what nobody could be told: of these repositories (None means the installation's all), or of one thread of
    theirs. `installation_id` is the one to speak for from now on."""

    installation_id: int
    repositories: tuple[str, ...] | None
    number: int | None
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
    | JudgePolicy
    | ReleaseReports
    | Ignore
)


def no_write_access(by: str, facts: Facts, repo: Repo) -> Reason:
    """Why somebody's wish counts for nothing here."""
    return make_reason("event.no_write_access", by=by, permission=facts.sender_permission or "?", repo=repo.full_name)
