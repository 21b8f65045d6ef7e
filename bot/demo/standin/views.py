"""What a person sees of the world: frozen copies that any thread may keep."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from bot.demo.standin.account_json import maybe_stamp
from bot.demo.standin.records import CheckRun, Comment, Delivery, Issue, Pull


@dataclass(frozen=True, slots=True)
class CommentView:
    id: int
    body: str
    author: str
    created_at: str
    updated_at: str
    reactions: tuple[str, ...]
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
        created_at=maybe_stamp(comment.created_at) or "",
        updated_at=maybe_stamp(comment.updated_at) or "",
        reactions=tuple(f"{one.user.login}:{one.content}" for one in comment.reactions),
        url=f"{page}#issuecomment-{comment.id}",
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
