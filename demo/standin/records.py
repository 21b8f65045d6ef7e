"""What exists in the world: accounts, repositories, threads, checks, deliveries, as plain mutable records.

They hold facts alone; what GitHub would say about them is made in the `*_json` modules."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal

from demo.standin.gitrepo import BareRepo, CommitInfo

Json = dict[str, Any]
Level = Literal["read", "write"]
ReviewState = Literal["commented", "approved", "changes_requested"]
Role = Literal["admin", "maintain", "write", "triage", "read", "none"]

APP_PERMISSIONS: dict[str, str] = {
    "checks": "write",
    "contents": "write",
    "issues": "write",
    "merge_queues": "read",
    "metadata": "read",
    "pull_requests": "write",
}
"""What the App asks for, and an installation grants unless told otherwise: the least the main job needs (T21)."""

APP_EVENTS = (
    *("check_run", "check_suite", "issue_comment", "issues", "merge_group", "pull_request"),
    *("pull_request_review", "pull_request_review_comment", "push"),
)


@dataclass(slots=True, eq=False)
class User:
    id: int
    login: str
    kind: Literal["User", "Bot", "Organization"]
    name: str
    created_at: datetime

    @property
    def email(self) -> str:
        return f"{self.id}+{self.login}@users.noreply.github.com"


@dataclass(slots=True)
class App:
    id: int
    slug: str
    public_key_pem: str
    webhook_secret: str
    webhook_url: str | None
    owner: User
    bot: User
    created_at: datetime
    permissions: dict[str, str] = field(default_factory=lambda: dict(APP_PERMISSIONS))
    client_secret: str = ""
    client_id: str = ""
    callback_urls: list[str] = field(default_factory=list)


@dataclass(slots=True)
class Installation:
    id: int
    account: User
    permissions: dict[str, str]
    created_at: datetime
    suspended_at: datetime | None = None


@dataclass(slots=True)
class Token:
    """An installation token; its text is nowhere kept, only its digest is, as the key to this record."""

    installation: Installation
    repository_ids: frozenset[int]
    permissions: dict[str, str]
    expires_at: datetime


@dataclass(slots=True, eq=False)
class Label:
    id: int
    name: str
    color: str = "ededed"
    description: str | None = None


@dataclass(slots=True)
class Reaction:
    id: int
    user: User
    content: str
    created_at: datetime


@dataclass(slots=True, eq=False)
class Comment:
    id: int
    issue: Issue
    body: str
    user: User
    created_at: datetime
    updated_at: datetime
    reactions: list[Reaction] = field(default_factory=list)


@dataclass(slots=True, eq=False)
class Review:
    """What a person said of a pull request as a whole; `body` None is the review that GitHub makes around a single
    comment on a line."""

    id: int
    pull: Pull
    body: str | None
    user: User
    state: ReviewState
    commit_sha: str
    submitted_at: datetime
    updated_at: datetime


@dataclass(slots=True, eq=False)
class ReviewComment:
    """A comment on one line of a pull request's diff, on the new side; `hunk` is the diff down to that line."""

    id: int
    review: Review
    body: str
    user: User
    path: str
    line: int
    position: int
    hunk: str
    created_at: datetime
    updated_at: datetime
    reactions: list[Reaction] = field(default_factory=list)

    @property
    def pull(self) -> Pull:
        return self.review.pull


@dataclass(slots=True, eq=False)
class Issue:
    """An issue; with `pull` set it is the thread of a pull request, as on GitHub."""

    id: int
    number: int
    repo: Repository
    title: str
    body: str | None
    user: User
    created_at: datetime
    updated_at: datetime
    labels: list[Label] = field(default_factory=list)
    comments: list[Comment] = field(default_factory=list)
    state: Literal["open", "closed"] = "open"
    state_reason: str | None = None
    closed_at: datetime | None = None
    closed_by: User | None = None
    pull: Pull | None = None


@dataclass(slots=True, eq=False)
class Pull:
    """The pull request's own part; the figures are measured in git whenever one of the two branches moves."""

    id: int
    issue: Issue
    head_repo: Repository
    head_ref: str
    head_sha: str
    base_ref: str
    base_sha: str
    closes: tuple[int, ...] = ()
    draft: bool = False
    merged_at: datetime | None = None
    merged_by: User | None = None
    merge_commit_sha: str | None = None
    mergeable: bool | None = None
    commits: int = 0
    additions: int = 0
    deletions: int = 0
    changed_files: int = 0
    reviewers: list[User] = field(default_factory=list)
    """Whose review is asked for and has not come."""
    reviews: list[Review] = field(default_factory=list)
    review_comments: list[ReviewComment] = field(default_factory=list)


@dataclass(slots=True, eq=False)
class CheckSuite:
    """One App's checks of one commit; `asked_again` until the App does something about a person's "Re-run"."""

    id: int
    app: App
    repo: Repository
    head_sha: str
    head_branch: str | None
    before: str | None
    commit: CommitInfo
    created_at: datetime
    updated_at: datetime
    runs: list[CheckRun] = field(default_factory=list)
    asked_again: bool = False


@dataclass(slots=True, eq=False)
class CheckRun:
    id: int
    suite: CheckSuite
    name: str
    started_at: datetime
    status: str = "queued"
    conclusion: str | None = None
    completed_at: datetime | None = None
    external_id: str = ""
    details_url: str | None = None
    title: str | None = None
    summary: str | None = None
    text: str | None = None
    annotations: list[Json] = field(default_factory=list)
    actions: list[Json] = field(default_factory=list)


@dataclass(slots=True, eq=False)
class Repository:
    id: int
    owner: User
    name: str
    git: BareRepo
    created_at: datetime
    pushed_at: datetime
    private: bool = False
    drafts: bool = True
    """Whether the owner's plan has draft pull requests; free plans have none for private repositories."""
    default_branch: str = "main"
    description: str | None = None
    fork_of: Repository | None = None
    installed: bool = True
    has_issues: bool = True
    pinned: list[Issue] = field(default_factory=list)
    roles: dict[str, Role] = field(default_factory=dict)
    labels: dict[str, Label] = field(default_factory=dict)
    issues: dict[int, Issue] = field(default_factory=dict)
    suites: list[CheckSuite] = field(default_factory=list)
    protected: list[str] = field(default_factory=list)
    next_push_refused: str | None = None

    @property
    def full_name(self) -> str:
        return f"{self.owner.login}/{self.name}"

    @property
    def runs(self) -> list[CheckRun]:
        return [run for suite in self.suites for run in suite.runs]

    @property
    def pulls(self) -> list[Pull]:
        return [issue.pull for issue in self.issues.values() if issue.pull]


@dataclass(slots=True)
class Delivery:
    """One attempt to bring one event to the App; a redelivery is another one with the same `guid`."""

    id: int
    guid: str
    event: str
    action: str | None
    payload: bytes
    repository_id: int | None
    installation_id: int | None
    created_at: datetime
    redelivery: bool = False
    delivered_at: datetime | None = None
    status: str = "pending"
    status_code: int = 0
    duration_s: float = 0.0
    request_headers: dict[str, str] = field(default_factory=dict)
    response_headers: dict[str, str] = field(default_factory=dict)
    response_body: str = ""


@dataclass(slots=True, frozen=True)
class LoggedRequest:
    """One request that reached the stand-in. `path` has no `/api` in front; tokens are masked in what is kept."""

    kind: Literal["rest", "git", "page"]
    method: str
    path: str
    query: dict[str, str]
    body: Any
    status: int
    response: Any
    response_headers: dict[str, str]
    authenticated_as: str | None
    monotonic_s: float
