"""Decides what an event means for a repository: start an issue, stop a run, or nothing, each with its reason. Trust
is the permission of the event's sender, read from GitHub at the time of use; unknown means no (T9, T10)."""

from __future__ import annotations

from typing import Literal, assert_never

from bot.config import Policy
from bot.model import Issue
from bot.model.reasons import Reason
from bot.rules.events.types import (
    CheckRunRequestedAction,
    CheckRunRerequested,
    CheckSuiteRequested,
    CheckSuiteRerequested,
    CommentCreated,
    CommentEdited,
    Event,
    Ignored,
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
from bot.rules.triage.comments import comment_needs, on_comment
from bot.rules.triage.dashboard import edit_needs, on_edit
from bot.rules.triage.decisions import (
    WRITE_ACCESS,
    CancelRun,
    Decision,
    Facts,
    Ignore,
    JudgePolicy,
    Needs,
    QueueIssue,
    StopInstallation,
    carries,
    no_write_access,
)
from bot.rules.triage.pull_requests import check_needs, on_check, on_merge_group, on_pull
from bot.rules.triage.regained_access import on_return, on_unlock


def needs(event: Event, policy: Policy, app_login: str = "") -> Needs:
    """The facts that the decision about `event` needs; none where it is ignored in any case."""
    match event:
        case IssueLabeled() if _plain_refusal(event, policy, app_login) is not None:
            return Needs()
        case IssueLabeled() if _same(event.label, policy.skip_label):
            return Needs(open_run=True)
        case IssueLabeled():
            return Needs(permission=True, issue=True, open_run=True)
        case IssueUnlabeled():
            return Needs(open_run=_takes_trigger_off(event, policy) and not _own(event.sender, app_login))
        case IssueClosed():
            return Needs(open_run=True)
        case IssueEdited():
            return edit_needs(event, app_login)
        case CommentCreated() | CommentEdited():
            return comment_needs(event, policy, app_login)
        case CheckRunRerequested() | CheckRunRequestedAction() | CheckSuiteRequested() | CheckSuiteRerequested():
            return check_needs(event, app_login)
        case _:
            return Needs()


def decide(event: Event, policy: Policy, facts: Facts) -> tuple[Decision, ...]:
    """The decisions about `event`, at least one. The same facts always give the same decisions. Where events come
    late, the issue's present state and `open_since` decide (threats.md 3)."""
    match event:
        case IssueLabeled():
            return (_on_label(event, policy, facts),)
        case IssueUnlabeled():
            return (_on_unlabel(event, policy, facts),)
        case IssueClosed():
            because = make_reason(f"stop.issue_{event.how}", number=event.issue.number, by=event.sender)
            return (_stop(event, facts, because),)
        case IssueEdited():
            return (on_edit(event, facts),)
        case IssueOpened():
            return (Ignore(make_reason("event.opened")),)
        case IssueReopened():
            return (Ignore(make_reason("event.reopened", label=policy.trigger_label)),)
        case ThreadUnlocked():
            return on_unlock(event)
        case CommentCreated() | CommentEdited():
            return (on_comment(event, policy, facts),)
        case PullRequestOpened() | PullRequestSynchronized() | PullRequestReopened():
            return (on_pull(event),)
        case PullRequestClosed() | PullRequestChanged():
            return (on_pull(event),)
        case CheckRunRerequested() | CheckRunRequestedAction() | CheckSuiteRequested() | CheckSuiteRerequested():
            return (on_check(event, facts),)
        case MergeGroupRequested() | MergeGroupDestroyed():
            return (on_merge_group(event),)
        case InstallationChanged():
            return _on_installation(event)
        case Push():
            return (_on_push(event, facts),)
        case Ping():
            return (Ignore(make_reason("event.ping")),)
        case Ignored():
            return (Ignore(event.because),)
        case _:
            assert_never(event)


def _same(left: str, right: str) -> bool:
    return left.casefold() == right.casefold()  # GitHub's labels and logins ignore case


def _own(login: str, app_login: str) -> bool:
    return app_login != "" and _same(login, app_login)


def unfit(issue: Issue, policy: Policy) -> Literal["issue_closed", "issue_skipped"] | None:
    """Why Mendbot does not work on an issue in this state (spec G.1); None if it does."""
    if issue.state != "open":
        return "issue_closed"
    return "issue_skipped" if carries(issue.labels, policy.skip_label) else None


def _unfit(issue: Issue, policy: Policy) -> Reason | None:
    match unfit(issue, policy):
        case "issue_closed":
            return make_reason("event.issue_closed", number=issue.number)
        case "issue_skipped":
            return make_reason("event.issue_skipped", number=issue.number, label=policy.skip_label)
        case None:
            return None


def _plain_refusal(event: IssueLabeled, policy: Policy, app_login: str) -> Reason | None:
    """Why a label has no effect, if the event alone shows it."""
    if _own(event.sender, app_login):
        return make_reason("event.own_label", label=event.label)
    if event.repo.installation_id == 0:
        return make_reason("event.no_installation")
    if _same(event.label, policy.skip_label):
        return None
    if not _same(event.label, policy.trigger_label):
        return make_reason("event.other_label", label=event.label, trigger=policy.trigger_label)
    return _unfit(event.issue, policy)


def _on_label(event: IssueLabeled, policy: Policy, facts: Facts) -> Decision:
    refusal = _plain_refusal(event, policy, facts.app_login)
    if refusal is not None:
        return Ignore(refusal)
    number = event.issue.number
    if _same(event.label, policy.skip_label):
        because = make_reason("stop.skipped", by=event.sender, label=policy.skip_label, number=number)
        return _stop(event, facts, because)
    if facts.issue is not None:
        refusal = _unfit(facts.issue, policy)
        if refusal is not None:
            return Ignore(refusal)
        if not carries(facts.issue.labels, policy.trigger_label):
            return Ignore(make_reason("event.label_gone", label=policy.trigger_label, number=number))
    if facts.sender_permission is None:
        return Ignore(make_reason("event.permission_unknown", by=event.sender))
    if facts.sender_permission not in WRITE_ACCESS:
        return Ignore(no_write_access(event.sender, facts, event.repo))
    if facts.open_run:
        return Ignore(make_reason("event.already_open", number=number))
    return QueueIssue(
        event.repo,
        number,
        make_reason("event.labeled", by=event.sender, label=event.label, number=number),
        at=event.at,
        by=event.sender,
    )


def _takes_trigger_off(event: IssueUnlabeled, policy: Policy) -> bool:
    if event.label is not None:
        return _same(event.label, policy.trigger_label)
    return not carries(event.issue.labels, policy.trigger_label)


def _on_unlabel(event: IssueUnlabeled, policy: Policy, facts: Facts) -> Decision:
    if not _takes_trigger_off(event, policy):
        if event.label is None:
            return Ignore(make_reason("event.deleted_label", trigger=policy.trigger_label))
        return Ignore(make_reason("event.other_label", label=event.label, trigger=policy.trigger_label))
    if _own(event.sender, facts.app_login):
        return Ignore(make_reason("event.own_unlabel", label=policy.trigger_label))
    number, label = event.issue.number, policy.trigger_label
    return _stop(event, facts, make_reason("stop.unlabelled", by=event.sender, label=label, number=number))


def _stop(event: IssueLabeled | IssueUnlabeled | IssueClosed, facts: Facts, because: Reason) -> Decision:
    """Everyone who can close or unlabel the issue may stop its run: stopping needs no write access of its own."""
    if not facts.open_run:
        return Ignore(make_reason("event.no_run", why=because))
    if event.at is not None and facts.open_since is not None and event.at < facts.open_since:
        return Ignore(make_reason("event.too_old", why=because))
    return CancelRun(event.repo, event.issue.number, because)


def _on_installation(event: InstallationChanged) -> tuple[Decision, ...]:
    match event.change:
        case "deleted" | "suspended":
            because = make_reason(f"event.installation_{event.change}")
            return (StopInstallation(event.installation_id, None, because),)
        case "removed":
            names = event.repositories or ()
            because = make_reason("event.left", repositories=", ".join(names))
            return (StopInstallation(event.installation_id, names, because),)
        case "created" | "unsuspended" | "permissions" | "added":
            return on_return(event)
        case _:
            assert_never(event.change)


def _on_push(event: Push, facts: Facts) -> Decision:
    if _own(event.sender, facts.app_login):
        return Ignore(make_reason("event.own_push"))
    if not event.to_default_branch:
        return Ignore(make_reason("event.other_branch"))
    if not event.after.strip("0"):
        return Ignore(make_reason("event.branch_deleted"))
    if event.touches_policy and event.repo.installation_id:
        return JudgePolicy(event.repo, event.after, make_reason("event.pushed", by=event.sender))
    return Ignore(make_reason("event.default_branch"))
