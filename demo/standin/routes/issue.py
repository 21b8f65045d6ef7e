"""The routes of issues, their labels, comments and reactions. Pull requests are issues here too, as on GitHub."""

from __future__ import annotations

from typing import Any

from demo.standin.actions import thread as act
from demo.standin.answers import Answer, ApiError, invalid, malformed, not_found, permit, require
from demo.standin.records import Comment, Issue, Json
from demo.standin.routes.reaction import reactions
from demo.standin.routes.table import Call, Endpoint, page_of

READ = (("issues", "read"), ("pull_requests", "read"))
WRITE = (("issues", "write"), ("pull_requests", "write"))
ISSUES_WRITE = (("issues", "write"),)


def _issue(call: Call) -> Issue:
    return call.hooks.state.issue(call.repo, call.number("issue_number"))


def _comment(call: Call) -> Comment:
    comment = call.hooks.state.comments.get(call.number("comment_id"))
    if comment is None or comment.issue.repo is not call.repo:
        raise not_found()
    return comment


def _labels(call: Call, issue: Issue) -> list[Json]:
    return [call.hooks.state.threads.label(issue.repo, label) for label in issue.labels]


def _names(given: Any) -> list[str]:
    """Label names as GitHub takes them: text, or objects with a `name`."""
    if not isinstance(given, list):
        raise malformed('"labels" must be an array.')
    names = [item.get("name") if isinstance(item, dict) else item for item in given]
    if not all(isinstance(name, str) for name in names):
        raise malformed('Each of "labels" must be a string or an object with a "name".')
    return [str(name) for name in names]


async def get_issue(call: Call) -> Answer:
    return Answer(call.hooks.state.threads.single_issue(_issue(call)))


async def list_issues(call: Call) -> Answer:
    query = call.query
    state = query.get("state", "open")
    if state not in ("open", "closed", "all"):
        raise invalid("Issue", "state", "invalid")
    wanted = {name.strip().lower() for name in query.get("labels", "").split(",") if name.strip()}
    found = [
        issue
        for issue in act.since(list(call.repo.issues.values()), query.get("since"))
        if state in ("all", issue.state)
        and wanted <= {label.name.lower() for label in issue.labels}
        and query.get("creator", issue.user.login).lower() == issue.user.login.lower()
    ]
    sort = query.get("sort", "created")
    keys = {"updated": "updated_at", "created": "created_at"}
    found.sort(key=lambda issue: (getattr(issue, keys.get(sort, "created_at")), issue.number))
    if query.get("direction", "desc") == "desc":
        found.reverse()
    shown, headers = page_of(call, found)
    return Answer([call.hooks.state.threads.issue(issue) for issue in shown], headers=headers)


async def create_issue(call: Call) -> Answer:
    if not call.repo.has_issues:
        raise ApiError(410, "Issues are disabled for this repo")
    body = require(call.body, title=str)
    permit(body, body=str)
    names = _names(body.get("labels") or [])
    issue = act.open_issue(call.hooks, call.repo, call.actor, body["title"], body.get("body"), names)
    threads = call.hooks.state.threads
    return Answer(threads.single_issue(issue), 201, {"Location": threads.issue_url(issue)})


async def update_issue(call: Call) -> Answer:
    body, issue = require(call.body), _issue(call)
    permit(body, title=str, body=str, state=str, state_reason=str, labels=list)
    if body.get("state", "open") not in ("open", "closed"):
        raise invalid("Issue", "state", "invalid")
    if body.get("state_reason") not in (None, "completed", "not_planned", "duplicate", "reopened"):
        raise invalid("Issue", "state_reason", "invalid")
    names = _names(body["labels"]) if body.get("labels") is not None else None
    act.edit(call.hooks, issue, call.actor, body)
    if names is not None:
        act.set_labels(call.hooks, issue, names, call.actor)
    if body.get("state") == "closed":
        act.close(call.hooks, issue, call.actor, body.get("state_reason") or "completed")
    elif body.get("state") == "open":
        act.reopen(call.hooks, issue, call.actor)
    return Answer(call.hooks.state.threads.single_issue(issue))


async def list_issue_labels(call: Call) -> Answer:
    shown, headers = page_of(call, _labels(call, _issue(call)))
    return Answer(shown, headers=headers)


async def add_labels(call: Call) -> Answer:
    issue = _issue(call)
    given = call.body.get("labels") if isinstance(call.body, dict) else call.body
    act.add_labels(call.hooks, issue, _names(given), call.actor)
    return Answer(_labels(call, issue))


async def set_labels(call: Call) -> Answer:
    issue = _issue(call)
    given = call.body.get("labels", []) if isinstance(call.body, dict) else call.body
    act.set_labels(call.hooks, issue, _names(given), call.actor)
    return Answer(_labels(call, issue))


async def remove_label(call: Call) -> Answer:
    issue = _issue(call)
    act.remove_label(call.hooks, issue, call.params["name"], call.actor)
    return Answer(_labels(call, issue))


async def remove_labels(call: Call) -> Answer:
    act.set_labels(call.hooks, _issue(call), [], call.actor)
    return Answer(None, 204)


async def list_labels(call: Call) -> Answer:
    repo = call.repo
    shown, headers = page_of(call, list(repo.labels.values()))
    return Answer([call.hooks.state.threads.label(repo, label) for label in shown], headers=headers)


async def create_label(call: Call) -> Answer:
    body = require(call.body, name=str)
    permit(body, color=str, description=str)
    repo, threads = call.repo, call.hooks.state.threads
    color = body.get("color") or "ededed"
    label = act.create_label(call.hooks, repo, body["name"], color, body.get("description"))
    shown = threads.label(repo, label)
    return Answer(shown, 201, {"Location": shown["url"]})


async def get_label(call: Call) -> Answer:
    return Answer(call.hooks.state.threads.label(call.repo, act.find_label(call.repo, call.params["name"])))


async def list_comments(call: Call) -> Answer:
    shown, headers = page_of(call, act.since(_issue(call).comments, call.query.get("since")))
    return Answer([call.hooks.state.threads.comment(comment) for comment in shown], headers=headers)


async def create_comment(call: Call) -> Answer:
    body = require(call.body, body=str)
    comment = act.add_comment(call.hooks, _issue(call), call.actor, body["body"])
    threads = call.hooks.state.threads
    return Answer(threads.comment(comment), 201, {"Location": threads.comment_url(comment)})


async def get_comment(call: Call) -> Answer:
    return Answer(call.hooks.state.threads.comment(_comment(call)))


async def update_comment(call: Call) -> Answer:
    comment = _comment(call)
    act.edit_comment(call.hooks, comment, call.actor, require(call.body, body=str)["body"])
    return Answer(call.hooks.state.threads.comment(comment))


async def delete_comment(call: Call) -> Answer:
    act.delete_comment(call.hooks, _comment(call), call.actor)
    return Answer(None, 204)


_REPO = "/repos/{owner}/{repo}"
_ISSUE = _REPO + "/issues/{issue_number}"
_COMMENT = _REPO + "/issues/comments/{comment_id}"

ENDPOINTS = (
    Endpoint("GET", _COMMENT, get_comment, READ),
    Endpoint("PATCH", _COMMENT, update_comment, WRITE),
    Endpoint("DELETE", _COMMENT, delete_comment, WRITE),
    *reactions(_COMMENT, _comment, READ, WRITE),
    Endpoint("GET", _REPO + "/issues", list_issues, READ),
    Endpoint("POST", _REPO + "/issues", create_issue, ISSUES_WRITE),
    Endpoint("GET", _ISSUE, get_issue, READ),
    Endpoint("PATCH", _ISSUE, update_issue, WRITE),
    Endpoint("GET", _ISSUE + "/labels", list_issue_labels, READ),
    Endpoint("POST", _ISSUE + "/labels", add_labels, WRITE),
    Endpoint("PUT", _ISSUE + "/labels", set_labels, WRITE),
    Endpoint("DELETE", _ISSUE + "/labels", remove_labels, WRITE),
    Endpoint("DELETE", _ISSUE + "/labels/{name}", remove_label, WRITE),
    Endpoint("GET", _ISSUE + "/comments", list_comments, READ),
    Endpoint("POST", _ISSUE + "/comments", create_comment, WRITE),
    Endpoint("GET", _REPO + "/labels", list_labels, READ),
    Endpoint("POST", _REPO + "/labels", create_label, WRITE),
    Endpoint("GET", _REPO + "/labels/{name}", get_label, READ),
)
