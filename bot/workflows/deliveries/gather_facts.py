"""Reads the facts that the decision about an event needs: the policy, the sender's permission, GitHub's state now."""

from __future__ import annotations

import asyncio
import re
from datetime import datetime

from bot.config import Policy
from bot.model import Issue, Repo
from bot.model.pulls import PullRequest
from bot.rules.events.types import (
    CheckRunRequestedAction,
    CheckRunRerequested,
    CheckSuiteRerequested,
    CommentCreated,
    CommentEdited,
    Event,
    IssueClosed,
    IssueEdited,
    IssueLabeled,
    IssueUnlabeled,
)
from bot.rules.triage import decide as issues
from bot.rules.triage.decisions import WRITE_ACCESS, Facts, Needs
from bot.workflows.context import Context
from bot.workflows.repo_config import get_policy

_ON_ISSUES = (IssueLabeled, IssueUnlabeled, IssueClosed)
_COMMENTS = (CommentCreated, CommentEdited)
_BUTTONS = (CheckRunRerequested, CheckRunRequestedAction, CheckSuiteRerequested)
_COMMANDED = re.compile(r"(?:\A|[\r\n])[^\w/\r\n]*/[a-zA-Z]")
"""A line that may be a command, in any short form and behind any invisible characters. Most comments have none and cost
no request."""


async def get_facts(context: Context, event: Event, login: str) -> tuple[Policy, Facts]:
    """The policy, where the decision depends on it, and the facts that `triage.decide` needs."""
    if isinstance(event, _COMMENTS):
        return await _of_comment(context, event, login)
    policy = await _policy(context, event, login)
    if isinstance(event, _BUTTONS):
        return policy, await _permission_and_pull(context, event, issues.needs(event, policy, login), login)
    if isinstance(event, IssueEdited):
        may = issues.needs(event, policy, login).permission
        permission = await context.github.repository(event.repo).permission(event.sender) if may else None
        return policy, Facts(app_login=login, sender_permission=permission)
    if not isinstance(event, _ON_ISSUES):
        return policy, Facts(app_login=login)
    needs = issues.needs(event, policy, login)
    issue: Issue | None = None
    permission = None
    client = context.github.repository(event.repo)
    if needs.permission:
        permission = await client.permission(event.sender)
    if needs.issue:
        issue = await client.issue(event.issue.number)
    is_open, since = await open_work(context, event.repo, event.issue.number) if needs.open_run else (False, None)
    facts = Facts(app_login=login, sender_permission=permission, issue=issue, open_run=is_open, open_since=since)
    return policy, facts


async def _of_comment(context: Context, event: CommentCreated | CommentEdited, login: str) -> tuple[Policy, Facts]:
    """The policy (for its short forms) and the permission are read concurrently, as a person waits for the reaction."""
    nothing = Facts(app_login=login)
    if not _COMMANDED.search(event.body) or event.repo.installation_id == 0:
        return Policy(), nothing
    plain = issues.needs(event, Policy(), login)
    if not plain.permission:
        if event.sender_is_bot or event.sender.casefold() == login.casefold():
            return Policy(), nothing
        policy, _ = await get_policy(context, event.repo)
        needs = issues.needs(event, policy, login)
        return policy, await _permission_and_pull(context, event, needs, login)
    (policy, _), facts = await asyncio.gather(
        get_policy(context, event.repo), _permission_and_pull(context, event, plain, login)
    )
    return policy, facts


async def _permission_and_pull(
    context: Context,
    event: CommentCreated | CommentEdited | CheckRunRerequested | CheckRunRequestedAction | CheckSuiteRerequested,
    needs: Needs,
    login: str,
) -> Facts:
    client = context.github.repository(event.repo)
    permission = await client.permission(event.sender) if needs.permission else None
    pull: PullRequest | None = None
    if needs.pull is not None and permission not in WRITE_ACCESS:
        pull = await client.pull(needs.pull)
    return Facts(app_login=login, sender_permission=permission, pull=pull)


async def _policy(context: Context, event: Event, login: str) -> Policy:
    """The repository's policy, where the decision depends on it; for the App's own events it never does."""
    if not isinstance(event, _ON_ISSUES) or event.sender == login or event.repo.installation_id == 0:
        return Policy()
    if isinstance(event, IssueClosed) and not (await open_work(context, event.repo, event.issue.number))[0]:
        return Policy()  # no request for the many issues that Mendbot does not work on
    return (await get_policy(context, event.repo))[0]


async def open_work(context: Context, repo: Repo, issue: int) -> tuple[bool, datetime | None]:
    """Whether a run works on an issue or it waits for one, and since when it was labelled."""
    row = await context.stores.runs.open_run(repo, issue)
    if row is None:
        return await context.stores.candidates.waiting(repo, issue)
    return True, await context.stores.runs.labelled_since(row.id, issue)
