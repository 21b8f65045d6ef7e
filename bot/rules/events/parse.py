"""From a webhook's JSON to one of a closed set of events, reading only what some rule looks at.
Dispatch is a literal table of (event, action); what is not in it becomes `Ignored`, and dicts end here."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Literal

from bot.config import POLICY_PATH
from bot.model import Issue, Repo
from bot.rules.events.installation import installation
from bot.rules.events.json_reader import Reader
from bot.rules.events.merge_queue import merge_group, merge_group_destroyed
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
    InstallationChanged,
    IssueClosed,
    IssueLabeled,
    IssueOpened,
    IssueReopened,
    IssueUnlabeled,
    Ping,
    PullRequestChanged,
    PullRequestClosed,
    PullRequestOpened,
    PullRequestReopened,
    PullRequestSynchronized,
    Push,
    ThreadUnlocked,
)

_MOST_COMMITS = 2048
_PULL_CHANGES = ("ready_for_review", "converted_to_draft", "edited", "labeled", "unlabeled")


def parse(name: str, payload: Mapping[str, Any]) -> Event:
    """The event that a delivery tells of; `name` is its `X-GitHub-Event`.

    Raises ValueError, one sentence, for an event of the table whose payload lacks what is read of it or lies about its
    shape. Never any other exception, and never for an (event, action) outside the table (T6)."""
    action = payload.get("action")
    read = _TABLE.get((name, action if isinstance(action, str) else None))
    if read is not None:
        return read(Reader(payload))
    event_name = f"{name}.{action}" if isinstance(action, str) else name
    return Ignored(f"Mendbot does nothing on {event_name[:100]!r} events", _repository_or_none(payload))


def repository_key(event: Event) -> str:
    """What must be handled in order: the repository's name in lower case (GitHub's names ignore case), else the
    installation, else the App itself."""
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
        return Reader(payload).child("repository").full_name("full_name")
    except ValueError:
        return None  # many events have no repository; an ignored one owes nothing


def _sent(payload: Reader) -> dict[str, Any]:
    owner, _, name = payload.child("repository").full_name("full_name").partition("/")
    installation = payload.child_or_none("installation")
    sender = payload.child("sender")
    return {
        "repo": Repo(owner=owner, name=name, installation_id=installation.number("id") if installation else 0),
        "sender": sender.login("login"),
        "sender_is_bot": sender.name_or_none("type") == "Bot",
    }


def _on_issue(payload: Reader) -> dict[str, Any]:
    issue = payload.child("issue")
    user = issue.child_or_none("user")
    noun = Issue(
        number=issue.number("number"),
        title=issue.prose("title"),
        body=issue.prose("body"),
        labels=tuple(label.name("name") for label in issue.children("labels") if label.has("name")),
        author=user.name("login") if user else "",
        state="closed" if issue.name_or_none("state") == "closed" else "open",
    )
    return {**_sent(payload), "issue": noun, "at": issue.moment("updated_at")}


def _labeled(payload: Reader) -> Event:
    label = payload.child_or_none("label")
    if label is None:
        return Ignored("the payload names no label", _repository_or_none(payload.value))
    return IssueLabeled(**_on_issue(payload), label=label.name("name"))


def _unlabeled(payload: Reader) -> Event:
    label = payload.child_or_none("label")
    return IssueUnlabeled(**_on_issue(payload), label=label.name("name") if label else None)


def _gone(how: Literal["closed", "deleted", "transferred"]) -> Callable[[Reader], Event]:
    return lambda payload: IssueClosed(**_on_issue(payload), how=how)


def _unlocked(thread: Literal["issue", "pull_request"]) -> Callable[[Reader], Event]:
    return lambda payload: ThreadUnlocked(
        **_sent(payload),
        number=payload.child(thread).number("number"),
        is_pull_request=thread == "pull_request",
    )


def _comment(payload: Reader) -> dict[str, Any]:
    issue, comment = payload.child("issue"), payload.child("comment")
    return {**_written(payload, issue, comment, "issue_comment"), "is_pull_request": issue.has("pull_request")}


def _review_comment(payload: Reader) -> dict[str, Any]:
    pull, comment = payload.child("pull_request"), payload.child("comment")
    return {**_written(payload, pull, comment, "review_comment"), "is_pull_request": True}


def _review(payload: Reader) -> dict[str, Any]:
    pull, review = payload.child("pull_request"), payload.child("review")
    return {**_written(payload, pull, review, "review"), "is_pull_request": True}


def _submitted(payload: Reader) -> Event:
    return CommentCreated(**{**_review(payload), "at": payload.child("review").moment("submitted_at")})


def _written(payload: Reader, thread: Reader, text: Reader, kind: CommentKind) -> dict[str, Any]:
    author, opener = text.child_or_none("user"), thread.child_or_none("user")
    return {
        **_sent(payload),
        "number": thread.number("number"),
        "kind": kind,
        "comment_id": text.number("id"),
        "author": author.name("login") if author else "",
        "opened_by": opener.name("login") if opener else "",
        "body": text.prose("body"),
        "at": text.moment("updated_at") or text.moment("created_at"),
    }


def _edited(read: Callable[[Reader], dict[str, Any]]) -> Callable[[Reader], Event]:
    def parse_edit(payload: Reader) -> Event:
        changes = payload.child_or_none("changes")
        body = changes.child_or_none("body") if changes else None
        return CommentEdited(**read(payload), previous=body.prose("from") if body else None)

    return parse_edit


def _on_pull(payload: Reader) -> dict[str, Any]:
    pull = payload.child("pull_request")
    head, user = pull.child("head"), pull.child_or_none("user")
    head_repo = head.child_or_none("repo")
    return {
        **_sent(payload),
        "number": pull.number("number"),
        "head_sha": head.sha("sha"),
        "head_repo": head_repo.full_name("full_name") if head_repo else None,
        "base_ref": pull.child("base").name("ref"),
        "author": user.name("login") if user else "",
        "draft": pull.flag("draft"),
        "at": pull.moment("updated_at"),
    }


def _pull_changed(how: str) -> Callable[[Reader], Event]:
    return lambda payload: PullRequestChanged(**_on_pull(payload), how=how)


def _on_check_run(payload: Reader) -> dict[str, Any]:
    run = payload.child("check_run")
    return {
        **_sent(payload),
        "check_run_id": run.number("id"),
        "name": run.name("name"),
        "head_sha": run.sha("head_sha"),
        "external_id": run.prose("external_id"),
    }


def _on_suite(payload: Reader) -> dict[str, Any]:
    suite = payload.child("check_suite")
    return {**_sent(payload), "head_sha": suite.sha("head_sha"), "head_branch": suite.name_or_none("head_branch")}


def _action_requested(payload: Reader) -> Event:
    identifier = payload.child("requested_action").name("identifier")
    return CheckRunRequestedAction(**_on_check_run(payload), identifier=identifier)


def _push(payload: Reader) -> Event:
    ref = payload.name("ref")
    default = payload.child("repository").name_or_none("default_branch")
    return Push(
        **_sent(payload),
        ref=ref,
        after=payload.sha("after"),
        to_default_branch=default is not None and ref == f"refs/heads/{default}",
        touches_policy=_touches_policy(payload),
    )


def _touches_policy(payload: Reader) -> bool:
    """GitHub lists at most 2,048 commits with their files, and none for a forced push back: then it may have."""
    commits = payload.children("commits")
    named = (path for commit in commits for key in ("added", "modified", "removed") for path in commit.texts(key))
    return not commits or len(commits) >= _MOST_COMMITS or POLICY_PATH in named


_TABLE: Mapping[tuple[str, str | None], Callable[[Reader], Event]] = {
    ("issues", "labeled"): _labeled,
    ("issues", "unlabeled"): _unlabeled,
    ("issues", "opened"): lambda payload: IssueOpened(**_on_issue(payload)),
    ("issues", "closed"): _gone("closed"),
    ("issues", "deleted"): _gone("deleted"),
    ("issues", "transferred"): _gone("transferred"),
    ("issues", "reopened"): lambda payload: IssueReopened(**_on_issue(payload)),
    ("issues", "unlocked"): _unlocked("issue"),
    ("pull_request", "unlocked"): _unlocked("pull_request"),
    ("issue_comment", "created"): lambda payload: CommentCreated(**_comment(payload)),
    ("issue_comment", "edited"): _edited(_comment),
    ("pull_request_review", "submitted"): _submitted,
    ("pull_request_review", "edited"): _edited(_review),
    ("pull_request_review_comment", "created"): lambda payload: CommentCreated(**_review_comment(payload)),
    ("pull_request_review_comment", "edited"): _edited(_review_comment),
    ("pull_request", "opened"): lambda payload: PullRequestOpened(**_on_pull(payload)),
    ("pull_request", "synchronize"): lambda payload: PullRequestSynchronized(**_on_pull(payload)),
    ("pull_request", "reopened"): lambda payload: PullRequestReopened(**_on_pull(payload)),
    ("pull_request", "closed"): lambda payload: PullRequestClosed(**_on_pull(payload)),
    **{("pull_request", how): _pull_changed(how) for how in _PULL_CHANGES},
    ("check_run", "rerequested"): lambda payload: CheckRunRerequested(**_on_check_run(payload)),
    ("check_run", "requested_action"): _action_requested,
    ("check_suite", "requested"): lambda payload: CheckSuiteRequested(**_on_suite(payload)),
    ("check_suite", "rerequested"): lambda payload: CheckSuiteRerequested(**_on_suite(payload)),
    ("merge_group", "checks_requested"): merge_group,
    ("merge_group", "destroyed"): merge_group_destroyed,
    ("installation", "created"): installation,
    ("installation", "deleted"): installation,
    ("installation", "suspend"): installation,
    ("installation", "unsuspend"): installation,
    ("installation", "new_permissions_accepted"): installation,
    ("installation_repositories", "added"): installation,
    ("installation_repositories", "removed"): installation,
    ("push", None): _push,
    ("ping", None): lambda _payload: Ping(),
}
