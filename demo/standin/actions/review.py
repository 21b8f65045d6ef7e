"""What can be done in reviews of pull requests: say something of the whole, or of one line of the diff.

A single comment on a line comes, as on GitHub, in a review of its own that says nothing, so two webhooks tell of it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from demo.standin.actions.thread import MAX_BODY, tell
from demo.standin.answers import ApiError, invalid
from demo.standin.records import Pull, Review, ReviewComment, ReviewState, User
from demo.standin.webhooks import Hooks

_HUNK = re.compile(r"@@ -\d+(?:,\d+)? \+(\d+)(?:,\d+)? @@")


def submit(hooks: Hooks, pull: Pull, author: User, body: str | None, state: ReviewState = "commented") -> Review:
    """A review of the pull request's head as it is now; only an approval may be without words."""
    if body is not None:
        _check(body, empty=state == "approved")
    return _submit(hooks, pull, author, body or None, state)


def _submit(hooks: Hooks, pull: Pull, author: User, body: str | None, state: ReviewState) -> Review:
    now = hooks.state.now()
    review = Review(hooks.state.new_id(), pull, body, author, state, pull.head_sha, now, now)
    pull.reviews.append(review)
    if author in pull.reviewers:
        pull.reviewers.remove(author)
    hooks.state.reviews[review.id] = review
    pull.issue.updated_at = now
    _tell_review(hooks, review, "submitted", author)
    return review


def request(hooks: Hooks, pull: Pull, logins: Sequence[str], sender: User) -> None:
    """Ask for reviews; one webhook for each that was not asked for already."""
    repo, users = pull.issue.repo, [hooks.state.users.get(login.lower()) for login in logins]
    if any(user is pull.issue.user for user in users):
        raise ApiError(422, "Review cannot be requested from pull request author.")
    people = [user for user in users if user is not None and hooks.state.role(repo, user) != "none"]
    if len(people) < len(users):
        raise ApiError(
            422,
            "Reviews may only be requested from collaborators. One or more of the users or teams you specified is not "
            f"a collaborator of the {repo.full_name} repository.",
        )
    for user in people:
        if user not in pull.reviewers:
            pull.reviewers.append(user)
            pull.issue.updated_at = hooks.state.now()
            tell(hooks, pull.issue, "review_requested", sender, requested_reviewer=hooks.state.accounts.user(user))


def withdraw(hooks: Hooks, pull: Pull, logins: Sequence[str], sender: User) -> None:
    """Ask no more for the reviews of these."""
    names = {login.lower() for login in logins}
    for user in [one for one in pull.reviewers if one.login.lower() in names]:
        pull.reviewers.remove(user)
        accounts = hooks.state.accounts
        tell(hooks, pull.issue, "review_request_removed", sender, requested_reviewer=accounts.user(user))


def edit(hooks: Hooks, review: Review, actor: User, body: str) -> None:
    _check(body)
    before, review.body, review.updated_at = review.body, body, hooks.state.now()
    _tell_review(hooks, review, "edited", actor, changes={"body": {"from": before or ""}})


async def comment(hooks: Hooks, pull: Pull, author: User, body: str, place: tuple[str, int]) -> ReviewComment:
    """A comment on a line of the new side, which must be in the diff; `place` is its path and number."""
    _check(body)
    path, line = place
    hunk, position = await _find_line(pull, path, line)
    review = _submit(hooks, pull, author, None, "commented")
    now = hooks.state.now()
    made = ReviewComment(hooks.state.new_id(), review, body, author, path, line, position, hunk, now, now)
    pull.review_comments.append(made)
    hooks.state.review_comments[made.id] = made
    _tell_comment(hooks, made, "created", author)
    return made


def edit_comment(hooks: Hooks, comment: ReviewComment, actor: User, body: str) -> None:
    _check(body)
    before, comment.body, comment.updated_at = comment.body, body, hooks.state.now()
    _tell_comment(hooks, comment, "edited", actor, changes={"body": {"from": before}})


def delete_comment(hooks: Hooks, comment: ReviewComment, actor: User) -> None:
    """Take it back; the empty review around it goes with it."""
    comment.pull.review_comments.remove(comment)
    del hooks.state.review_comments[comment.id]
    comment.pull.reviews.remove(comment.review)
    del hooks.state.reviews[comment.review.id]
    _tell_comment(hooks, comment, "deleted", actor)


def _check(body: str, *, empty: bool = False) -> None:
    if not body.strip() and not empty:
        raise invalid("PullRequestReview", "body", "missing_field", "Body can't be blank")
    if len(body) > MAX_BODY:
        raise invalid("PullRequestReview", "body", "custom", f"body is too long (maximum is {MAX_BODY} characters)")


async def _find_line(pull: Pull, path: str, line: int) -> tuple[str, int]:
    """The diff's hunk down to a line of the new side, and the line's place in the file's whole diff, from 1."""
    files = await pull.issue.repo.git.diff(pull.base_sha, pull.head_sha, patches=True)
    patch = next((file.patch for file in files if file.path == path), None) or ""
    start, number = 0, 0
    lines = patch.split("\n")
    for at, text in enumerate(lines):
        head = _HUNK.match(text)
        if head:
            start, number = at, int(head[1]) - 1
        elif text[:1] in ("+", " "):
            number += 1
            if number == line:
                return "\n".join(lines[start : at + 1]), at
    raise invalid("PullRequestReviewComment", "line", "custom", "line must be part of the diff")


def _tell_review(hooks: Hooks, review: Review, action: str, sender: User, **more: Any) -> None:
    state = hooks.state
    parts = {"review": state.reviewing.review_event(review), "pull_request": state.threads.listed_pull(review.pull)}
    hooks.emit("pull_request_review", action, review.pull.issue.repo, sender, parts | more)


def _tell_comment(hooks: Hooks, comment: ReviewComment, action: str, sender: User, **more: Any) -> None:
    state = hooks.state
    parts = {"comment": state.reviewing.comment(comment), "pull_request": state.threads.listed_pull(comment.pull)}
    hooks.emit("pull_request_review_comment", action, comment.pull.issue.repo, sender, parts | more)
