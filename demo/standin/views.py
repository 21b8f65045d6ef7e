"""What a person sees of the world: frozen copies that any thread may keep."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from demo.standin.json.account import maybe_stamp, stamp
from demo.standin.json.check import suite_state
from demo.standin.records import CheckRun, Comment, Delivery, Issue, Pull, Review, ReviewComment


@dataclass(frozen=True, slots=True)
class CommentView:
    id: int
    body: str
    author: str
    created_at: str
    updated_at: str
    reactions: tuple[tuple[str, str], ...]
    """Each with who gave it: `("eyes", "mendbot[bot]")`."""
    url: str


@dataclass(frozen=True, slots=True)
class ReviewView:
    """A review, which takes no reactions."""

    id: int
    body: str
    author: str
    state: str
    commit_sha: str
    url: str


@dataclass(frozen=True, slots=True)
class ReviewCommentView:
    id: int
    body: str
    author: str
    path: str
    line: int
    created_at: str
    updated_at: str
    reactions: tuple[tuple[str, str], ...]
    url: str


@dataclass(frozen=True, slots=True)
class IssueView:
    number: int
    title: str
    body: str
    author: str
    state: str
    labels: tuple[str, ...]
    comments: tuple[CommentView, ...]
    url: str


@dataclass(frozen=True, slots=True)
class PullView:
    number: int
    title: str
    body: str
    author: str
    state: str
    merged: bool
    draft: bool
    mergeable: bool | None
    head: str
    base: str
    head_sha: str
    closes: tuple[int, ...]
    labels: tuple[str, ...]
    comments: tuple[CommentView, ...]
    url: str


@dataclass(frozen=True, slots=True)
class CheckRunView:
    id: int
    name: str
    head_sha: str
    status: str
    conclusion: str | None
    external_id: str
    title: str
    summary: str
    text: str
    annotations: tuple[dict[str, Any], ...]
    actions: tuple[dict[str, Any], ...]
    details_url: str
    started_at: str
    completed_at: str
    app: str
    suite_status: str
    url: str


@dataclass(frozen=True, slots=True)
class DeliveryView:
    id: int
    guid: str
    event: str
    action: str | None
    status: str
    status_code: int
    redelivery: bool
    delivered_at: str | None
    payload: bytes
    headers: dict[str, str]


def comment_view(comment: Comment, page: str) -> CommentView:
    return CommentView(
        id=comment.id,
        body=comment.body,
        author=comment.user.login,
        created_at=stamp(comment.created_at),
        updated_at=stamp(comment.updated_at),
        reactions=_reactions(comment),
        url=f"{page}#issuecomment-{comment.id}",
    )


def _reactions(comment: Comment | ReviewComment) -> tuple[tuple[str, str], ...]:
    return tuple((one.content, one.user.login) for one in comment.reactions)


def review_view(review: Review, page: str) -> ReviewView:
    return ReviewView(
        id=review.id,
        body=review.body or "",
        author=review.user.login,
        state=review.state,
        commit_sha=review.commit_sha,
        url=f"{page}#pullrequestreview-{review.id}",
    )


def review_comment_view(comment: ReviewComment, page: str) -> ReviewCommentView:
    return ReviewCommentView(
        id=comment.id,
        body=comment.body,
        author=comment.user.login,
        path=comment.path,
        line=comment.line,
        created_at=stamp(comment.created_at),
        updated_at=stamp(comment.updated_at),
        reactions=_reactions(comment),
        url=f"{page}#discussion_r{comment.id}",
    )


def issue_view(issue: Issue, page: str) -> IssueView:
    return IssueView(
        number=issue.number,
        title=issue.title,
        body=issue.body or "",
        author=issue.user.login,
        state=issue.state,
        labels=tuple(label.name for label in issue.labels),
        comments=tuple(comment_view(comment, page) for comment in issue.comments),
        url=page,
    )


def pull_view(pull: Pull, page: str) -> PullView:
    issue = issue_view(pull.issue, page)
    return PullView(
        number=issue.number,
        title=issue.title,
        body=issue.body,
        author=issue.author,
        state=issue.state,
        merged=pull.merged_at is not None,
        draft=pull.draft,
        mergeable=pull.mergeable,
        head=pull.head_ref,
        base=pull.base_ref,
        head_sha=pull.head_sha,
        closes=pull.closes,
        labels=issue.labels,
        comments=issue.comments,
        url=page,
    )


def run_view(run: CheckRun, page: str) -> CheckRunView:
    return CheckRunView(
        id=run.id,
        name=run.name,
        head_sha=run.suite.head_sha,
        status=run.status,
        conclusion=run.conclusion,
        external_id=run.external_id,
        title=run.title or "",
        summary=run.summary or "",
        text=run.text or "",
        annotations=tuple(run.annotations),
        actions=tuple(run.actions),
        details_url=run.details_url or page,
        started_at=stamp(run.started_at),
        completed_at=maybe_stamp(run.completed_at) or "",
        app=run.suite.app.slug,
        suite_status=suite_state(run.suite)[0],
        url=page,
    )


def delivery_view(delivery: Delivery) -> DeliveryView:
    return DeliveryView(
        id=delivery.id,
        guid=delivery.guid,
        event=delivery.event,
        action=delivery.action,
        status=delivery.status,
        status_code=delivery.status_code,
        redelivery=delivery.redelivery,
        delivered_at=maybe_stamp(delivery.delivered_at),
        payload=delivery.payload,
        headers=dict(delivery.request_headers),
    )
