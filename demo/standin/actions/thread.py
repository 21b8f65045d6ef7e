"""What can be done to issues, labels and comments, by a person or by the App, and the webhooks it causes.

Every change is made whole before its webhook is queued; nothing here waits, so nothing comes between."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from demo.standin.answers import ApiError, invalid, not_found
from demo.standin.json.account import stamp
from demo.standin.json.thread import REACTIONS
from demo.standin.records import Comment, Issue, Json, Label, Reaction, Repository, ReviewComment, User
from demo.standin.webhooks import Hooks

MAX_BODY = 65_536
"""Characters in an issue's or a comment's body (threats.md 4)."""

MAX_TITLE = 256
MAX_LABELS = 100


def tell(hooks: Hooks, issue: Issue, action: str, sender: User, **more: Any) -> None:
    """`issues` or `pull_request`, whichever the thread is, with the thread as it is now."""
    threads = hooks.state.threads
    if issue.pull:
        body: Json = {"number": issue.number, "pull_request": threads.pull(issue.pull)}
        hooks.emit("pull_request", action, issue.repo, sender, body | more)
    else:
        hooks.emit("issues", action, issue.repo, sender, {"issue": threads.issue(issue), **more})


def check_text(resource: str, title: str | None, body: str | None) -> None:
    """Refuse empty titles and overlong texts, as GitHub does."""
    if title is not None and not title.strip():
        raise invalid(resource, "title", "missing_field")
    if title is not None and len(title) > MAX_TITLE:
        raise invalid(resource, "title", "custom", f"title is too long (maximum is {MAX_TITLE} characters)")
    if body is not None and len(body) > MAX_BODY:
        raise invalid(resource, "body", "custom", f"body is too long (maximum is {MAX_BODY} characters)")


def open_issue(
    hooks: Hooks, repo: Repository, author: User, title: str, body: str | None, labels: Sequence[str] = ()
) -> Issue:
    check_text("Issue", title, body)
    issue = new_thread(hooks, repo, author, title, body)
    issue.labels = [ensure_label(hooks, repo, name) for name in dict.fromkeys(labels)]
    tell(hooks, issue, "opened", author)
    for label in issue.labels:
        tell(hooks, issue, "labeled", author, label=hooks.state.threads.label(repo, label))
    return issue


def new_thread(hooks: Hooks, repo: Repository, author: User, title: str, body: str | None) -> Issue:
    """The next number of the repository; issues and pull requests share the sequence."""
    state, now = hooks.state, hooks.state.now()
    number = max(repo.issues, default=0) + 1
    issue = Issue(state.new_id(), number, repo, title, body, author, now, now)
    repo.issues[number] = issue
    return issue


def find_label(repo: Repository, name: str) -> Label:
    try:
        return repo.labels[name.lower()]
    except KeyError:
        raise not_found() from None


def ensure_label(hooks: Hooks, repo: Repository, name: str) -> Label:
    """The repository's label of that name whatever its case; made if there is none, as GitHub does."""
    if not name.strip() or len(name) > 50:
        raise invalid("Label", "name", "invalid")
    if name.lower() not in repo.labels:
        repo.labels[name.lower()] = Label(hooks.state.new_id(), name)
    return repo.labels[name.lower()]


def create_label(
    hooks: Hooks, repo: Repository, name: str, color: str = "ededed", description: str | None = None
) -> Label:
    if name.lower() in repo.labels:
        raise invalid("Label", "name", "already_exists")
    label = ensure_label(hooks, repo, name)
    label.color, label.description = color.lstrip("#"), description
    return label


def add_labels(hooks: Hooks, issue: Issue, names: Sequence[str], actor: User) -> None:
    """Put labels on; one webhook for each that was not there."""
    labels = [ensure_label(hooks, issue.repo, name) for name in dict.fromkeys(names)]
    if len({*issue.labels, *labels}) > MAX_LABELS:
        raise invalid("Issue", "labels", "custom", f"an issue has at most {MAX_LABELS} labels")
    for label in labels:
        if label not in issue.labels:
            issue.labels.append(label)
            issue.updated_at = hooks.state.now()
            tell(hooks, issue, "labeled", actor, label=hooks.state.threads.label(issue.repo, label))


def remove_label(hooks: Hooks, issue: Issue, name: str, actor: User) -> None:
    label = issue.repo.labels.get(name.lower())
    if label is None or label not in issue.labels:
        raise ApiError(404, "Label does not exist")
    issue.labels.remove(label)
    issue.updated_at = hooks.state.now()
    tell(hooks, issue, "unlabeled", actor, label=hooks.state.threads.label(issue.repo, label))


def set_labels(hooks: Hooks, issue: Issue, names: Sequence[str], actor: User) -> None:
    """Make these the labels, as PUT and PATCH do."""
    wanted = {name.lower() for name in names}
    for label in tuple(issue.labels):
        if label.name.lower() not in wanted:
            remove_label(hooks, issue, label.name, actor)
    add_labels(hooks, issue, names, actor)


def edit(hooks: Hooks, issue: Issue, actor: User, changes: Json, other: Json | None = None) -> None:
    """New `title` and `body`, where they are given and differ; `other` changes, made already, are told with them."""
    before = {name: getattr(issue, name) for name in ("title", "body")}
    changed = {name: value for name, value in changes.items() if name in before and value != before[name]}
    check_text("PullRequest" if issue.pull else "Issue", changed.get("title"), changed.get("body"))
    if changed or other:
        issue.title = changed.get("title", issue.title)
        issue.body = changed.get("body", issue.body)
        issue.updated_at = hooks.state.now()
        said = {name: {"from": before[name] or ""} for name in changed}
        tell(hooks, issue, "edited", actor, changes=said | (other or {}))


def close(hooks: Hooks, issue: Issue, actor: User, reason: str = "completed") -> None:
    """Close a thread; one that is closed stays as it is."""
    if issue.state == "closed":
        return
    now = hooks.state.now()
    issue.state, issue.closed_at, issue.updated_at, issue.closed_by = "closed", now, now, actor
    issue.state_reason = None if issue.pull else reason
    tell(hooks, issue, "closed", actor)


def reopen(hooks: Hooks, issue: Issue, actor: User) -> None:
    if issue.state == "open":
        return
    if issue.pull and issue.pull.merged_at:
        raise invalid("PullRequest", "state", "custom", "state cannot be changed. The pull request is merged.")
    issue.state, issue.closed_at, issue.closed_by = "open", None, None
    issue.state_reason = None if issue.pull else "reopened"
    issue.updated_at = hooks.state.now()
    tell(hooks, issue, "reopened", actor)


def _check_comment(body: str) -> None:
    if not body.strip():
        raise invalid("IssueComment", "data", "unprocessable", "Body cannot be blank")
    if len(body) > MAX_BODY:
        message = f"Body is too long (maximum is {MAX_BODY} characters)"
        raise invalid("IssueComment", "data", "unprocessable", message)


def _tell_comment(hooks: Hooks, comment: Comment, action: str, actor: User, **more: Any) -> None:
    threads = hooks.state.threads
    body = {"issue": threads.issue(comment.issue), "comment": threads.comment(comment)}
    hooks.emit("issue_comment", action, comment.issue.repo, actor, body | more)


def add_comment(hooks: Hooks, issue: Issue, author: User, body: str) -> Comment:
    _check_comment(body)
    state, now = hooks.state, hooks.state.now()
    comment = Comment(state.new_id(), issue, body, author, now, now)
    issue.comments.append(comment)
    state.comments[comment.id] = comment
    issue.updated_at = now
    _tell_comment(hooks, comment, "created", author)
    return comment


def edit_comment(hooks: Hooks, comment: Comment, actor: User, body: str) -> None:
    _check_comment(body)
    before, comment.body, comment.updated_at = comment.body, body, hooks.state.now()
    _tell_comment(hooks, comment, "edited", actor, changes={"body": {"from": before}})


def delete_comment(hooks: Hooks, comment: Comment, actor: User) -> None:
    comment.issue.comments.remove(comment)
    del hooks.state.comments[comment.id]
    _tell_comment(hooks, comment, "deleted", actor)


def react(hooks: Hooks, comment: Comment | ReviewComment, user: User, content: str) -> tuple[Reaction, bool]:
    """-> the reaction and whether it is new; one account has each reaction once."""
    if content not in REACTIONS:
        raise invalid("Reaction", "content", "invalid")
    for reaction in comment.reactions:
        if reaction.user is user and reaction.content == content:
            return reaction, False
    reaction = Reaction(hooks.state.new_id(), user, content, hooks.state.now())
    comment.reactions.append(reaction)
    hooks.state.pulse.beat()
    return reaction, True


def take_back(hooks: Hooks, comment: Comment | ReviewComment, user: User, number: int) -> None:
    """Remove the account's own reaction of that id."""
    mine = [one for one in comment.reactions if one.id == number and one.user is user]
    if not mine:
        raise not_found()
    comment.reactions.remove(mine[0])
    hooks.state.pulse.beat()


def since(items: Sequence[Any], moment: str | None) -> list[Any]:
    """Those updated at `moment` (ISO 8601) or later."""
    return [item for item in items if not moment or stamp(item.updated_at) >= moment]
