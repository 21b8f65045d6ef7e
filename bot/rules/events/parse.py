"""Parses the JSON of a webhook into one of a closed set of events, with only the fields that some rule reads. A
literal table of (event, action) decides; anything else becomes `Ignored`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any, Literal, TypeVar

from pydantic import ValidationError

from bot.config import POLICY_PATH
from bot.model import Issue, Repo
from bot.model.github_json import CommentJson, GitHubModel, ThreadJson
from bot.rules.events import payloads
from bot.rules.events.types import (
    CheckRunRequestedAction,
    CheckRunRerequested,
    CheckSuiteRequested,
    CheckSuiteRerequested,
    CommentCreated,
    CommentEdited,
    CommentKind,
    Event,
    Ignored,
    InstallationChange,
    InstallationChanged,
    IssueClosed,
    IssueEdited,
    IssueLabeled,
    IssueOpened,
    IssueReopened,
    IssueUnlabeled,
    MergeGroupDestroyed,
    MergeGroupRequested,
    Ping,
    PullRequestChanged,
    PullRequestClosed,
    PullRequestOpened,
    PullRequestReopened,
    PullRequestSynchronized,
    Push,
    ThreadUnlocked,
)
from bot.rules.reasons import make_reason

_MAX_COMMITS = 2048
_PULL_CHANGES = ("ready_for_review", "converted_to_draft", "edited", "labeled", "unlabeled")
_BRANCHES = "refs/heads/"

Sent = tuple[Repo, str, bool]
OnIssue = tuple[Repo, str, bool, Issue, datetime | None]
OnThread = tuple[Repo, str, bool, int, bool, CommentKind, int, str, str, str, datetime | None]
OnPull = tuple[Repo, str, bool, int, str, str | None, str, str, bool, datetime | None]
OnCheckRun = tuple[Repo, str, bool, int, str, str, str]


def parse(name: str, payload: Mapping[str, Any]) -> Event:
    """The event of a delivery; `name` is its `X-GitHub-Event`.

    Raises ValueError, with one sentence, for an event of the table whose payload lacks a field or has one of another
    type. It raises no other exception, and none for an (event, action) outside the table (T6)."""
    action = payload.get("action")
    read = _TABLE.get((name, action if isinstance(action, str) else None))
    if read is None:
        event_name = f"{name}.{action}" if isinstance(action, str) else name
        reason = make_reason("event.unknown", event=repr(event_name[:100]))
        return Ignored(reason, _repository_or_none(payload))
    try:
        return read(payload)
    except ValidationError as error:
        raise ValueError(_refusal(error)) from None


def repository_key(event: Event) -> str:
    """The key of events that are handled in order: the repository's name in lower case (GitHub's names ignore case),
    else the installation, else the App itself."""
    match event:
        case InstallationChanged(installation_id=number):
            return f"installation:{number}"
        case Ping():
            return "app"
        case Ignored(repository=repository):
            return repository.lower() if repository else "app"
        case _:
            return event.repo.full_name.lower()


def _repository_or_none(payload: Mapping[str, Any]) -> str | None:
    try:
        return payloads.RepositoryPayload.model_validate(payload).repository.full_name
    except ValidationError:
        return None  # many events have no repository; an ignored one owes nothing


def _refusal(error: ValidationError) -> str:
    """The first field that is wrong, and how."""
    first = error.errors(include_url=False, include_context=False)[0]
    member = ""
    for part in first["loc"]:
        member += f"[{part}]" if isinstance(part, int) else f".{part}"
    missing = first["type"] == "missing" or first["input"] is None
    how = "is missing" if missing else first["msg"].removeprefix("Value error, ").replace("Input should", "should")
    return f"the payload's {member.lstrip('.')} {how}"


def _on_issue(payload: payloads.IssuePayload) -> OnIssue:
    issue = payload.issue
    value = Issue(
        number=issue.number,
        title=issue.title,
        body=issue.body,
        labels=tuple(label.name for label in issue.labels if label.name),
        author=issue.author,
        state="closed" if issue.state == "closed" else "open",
    )
    return *payload.sent, value, issue.updated_at


def _labeled(payload: payloads.IssuePayload) -> Event:
    if payload.label is None:
        return Ignored(make_reason("event.no_label"), payload.repository.full_name)
    return IssueLabeled(*_on_issue(payload), payload.label.name)


def _on_thread(sent: Sent, thread: ThreadJson, text: CommentJson, kind: CommentKind) -> OnThread:
    author = text.user.login if text.user else ""
    is_pull_request = kind != "issue_comment" or thread.pull_request is not None
    at = text.updated_at or text.created_at
    return *sent, thread.number, is_pull_request, kind, text.id, author, thread.author, text.body, at


def _issue_comment(payload: payloads.IssueCommentPayload) -> OnThread:
    return _on_thread(payload.sent, payload.issue, payload.comment, "issue_comment")


def _review_comment(payload: payloads.ReviewCommentPayload) -> OnThread:
    return _on_thread(payload.sent, payload.pull_request, payload.comment, "review_comment")


def _review(payload: payloads.ReviewPayload) -> OnThread:
    return _on_thread(payload.sent, payload.pull_request, payload.review, "review")


def _submitted(payload: payloads.ReviewPayload) -> Event:
    return replace(CommentCreated(*_review(payload)), at=payload.review.submitted_at)


def _on_pull(payload: payloads.PullPayload) -> OnPull:
    pull = payload.pull_request
    head_repo = pull.head.repo.full_name if pull.head.repo else None
    return *payload.sent, pull.number, pull.head.sha, head_repo, pull.base.ref, pull.author, pull.draft, pull.updated_at


def _on_check_run(payload: payloads.CheckRunPayload) -> OnCheckRun:
    run = payload.check_run
    return *payload.sent, run.id, run.name, run.head_sha, run.external_id


def _on_suite(payload: payloads.CheckSuitePayload) -> tuple[Repo, str, bool, str, str | None]:
    return *payload.sent, payload.check_suite.head_sha, payload.check_suite.head_branch


def _group_requested(payload: payloads.GroupRequestedPayload) -> Event:
    group = payload.merge_group
    head_ref, base_ref = group.head_ref.removeprefix(_BRANCHES), group.base_ref.removeprefix(_BRANCHES)
    return MergeGroupRequested(*payload.sent, group.head_sha, head_ref, group.base_sha, base_ref)


def _push(payload: payloads.PushPayload) -> Event:
    default = payload.repository.default_branch
    to_default = default is not None and payload.ref == f"{_BRANCHES}{default}"
    return Push(*payload.sent, payload.ref, payload.after, to_default, _touches_policy(payload))


def _touches_policy(payload: payloads.PushPayload) -> bool:
    """Whether the push may change the configuration. GitHub lists at most 2,048 commits with their files, and none
    for a push back to an older commit; then it may."""
    commits = payload.commits
    return not commits or len(commits) >= _MAX_COMMITS or any(POLICY_PATH in commit.paths for commit in commits)


Read = TypeVar("Read", bound=GitHubModel)
Row = Callable[[Mapping[str, Any]], Event]


def _row(model: type[Read], event: Callable[[Read], Event]) -> Row:
    return lambda payload: event(model.model_validate(payload))


def _issue(event: Callable[[payloads.IssuePayload], Event]) -> Row:
    return _row(payloads.IssuePayload, event)


def _gone(how: Literal["closed", "deleted", "transferred"]) -> Row:
    return _issue(lambda payload: IssueClosed(*_on_issue(payload), how))


def _created(model: type[Read], on_thread: Callable[[Read], OnThread]) -> Row:
    return _row(model, lambda payload: CommentCreated(*on_thread(payload)))


def _edited(model: type[Edited], on_thread: Callable[[Edited], OnThread]) -> Row:
    return _row(model, lambda payload: CommentEdited(*on_thread(payload), payload.previous))


Edited = TypeVar("Edited", bound=payloads.EditPayload)


def _pull(event: Callable[..., Event], *more: str) -> Row:
    return _row(payloads.PullPayload, lambda payload: event(*_on_pull(payload), *more))


def _installation(
    change: InstallationChange, model: type[payloads.InstallationPayload] = payloads.InstallationPayload
) -> Row:
    return _row(model, lambda payload: InstallationChanged(payload.installation.id, change, payload.names))


_TABLE: Mapping[tuple[str, str | None], Row] = {
    ("issues", "labeled"): _issue(_labeled),
    ("issues", "unlabeled"): _issue(
        lambda payload: IssueUnlabeled(*_on_issue(payload), payload.label.name if payload.label else None)
    ),
    ("issues", "opened"): _issue(lambda payload: IssueOpened(*_on_issue(payload))),
    ("issues", "edited"): _row(
        payloads.IssueEditPayload, lambda payload: IssueEdited(*_on_issue(payload), payload.previous)
    ),
    ("issues", "closed"): _gone("closed"),
    ("issues", "deleted"): _gone("deleted"),
    ("issues", "transferred"): _gone("transferred"),
    ("issues", "reopened"): _issue(lambda payload: IssueReopened(*_on_issue(payload))),
    ("issues", "unlocked"): _row(
        payloads.IssueThreadPayload, lambda payload: ThreadUnlocked(*payload.sent, payload.issue.number, False)
    ),
    ("pull_request", "unlocked"): _row(
        payloads.PullThreadPayload, lambda payload: ThreadUnlocked(*payload.sent, payload.pull_request.number, True)
    ),
    ("issue_comment", "created"): _created(payloads.IssueCommentPayload, _issue_comment),
    ("issue_comment", "edited"): _edited(payloads.IssueCommentPayload, _issue_comment),
    ("pull_request_review", "submitted"): _row(payloads.ReviewPayload, _submitted),
    ("pull_request_review", "edited"): _edited(payloads.ReviewPayload, _review),
    ("pull_request_review_comment", "created"): _created(payloads.ReviewCommentPayload, _review_comment),
    ("pull_request_review_comment", "edited"): _edited(payloads.ReviewCommentPayload, _review_comment),
    ("pull_request", "opened"): _pull(PullRequestOpened),
    ("pull_request", "synchronize"): _pull(PullRequestSynchronized),
    ("pull_request", "reopened"): _pull(PullRequestReopened),
    ("pull_request", "closed"): _pull(PullRequestClosed),
    **{("pull_request", how): _pull(PullRequestChanged, how) for how in _PULL_CHANGES},
    ("check_run", "rerequested"): _row(
        payloads.CheckRunPayload, lambda payload: CheckRunRerequested(*_on_check_run(payload))
    ),
    ("check_run", "requested_action"): _row(
        payloads.ActionPayload,
        lambda payload: CheckRunRequestedAction(*_on_check_run(payload), payload.requested_action.identifier),
    ),
    ("check_suite", "requested"): _row(
        payloads.CheckSuitePayload, lambda payload: CheckSuiteRequested(*_on_suite(payload))
    ),
    ("check_suite", "rerequested"): _row(
        payloads.CheckSuitePayload, lambda payload: CheckSuiteRerequested(*_on_suite(payload))
    ),
    ("merge_group", "checks_requested"): _row(payloads.GroupRequestedPayload, _group_requested),
    ("merge_group", "destroyed"): _row(
        payloads.GroupDestroyedPayload,
        lambda payload: MergeGroupDestroyed(*payload.sent, payload.merge_group.head_sha, payload.reason or ""),
    ),
    ("installation", "created"): _installation("created", payloads.InstallationCreatedPayload),
    ("installation", "deleted"): _installation("deleted"),
    ("installation", "suspend"): _installation("suspended"),
    ("installation", "unsuspend"): _installation("unsuspended"),
    ("installation", "new_permissions_accepted"): _installation("permissions"),
    ("installation_repositories", "added"): _installation("added", payloads.RepositoriesAddedPayload),
    ("installation_repositories", "removed"): _installation("removed", payloads.RepositoriesRemovedPayload),
    ("push", None): _row(payloads.PushPayload, _push),
    ("ping", None): lambda _payload: Ping(),
}
