"""Decides about events of pull requests and their checks. An event only shows that something changed; the present
state is read from GitHub, so the order of events does not matter (threats.md 3, *Out of order*)."""

from __future__ import annotations

from bot.rules.events.types import (
    CheckRunRequestedAction,
    CheckRunRerequested,
    CheckSuiteRequested,
    CheckSuiteRerequested,
    MergeGroupDestroyed,
    MergeGroupRequested,
    PullRequestChanged,
    PullRequestClosed,
    PullRequestOpened,
    PullRequestReopened,
    PullRequestSynchronized,
)
from bot.rules.reasons import make_reason
from bot.rules.triage.decisions import (
    WRITE_ACCESS,
    ButtonPressed,
    CheckMergeGroup,
    Decision,
    DropMergeGroup,
    Facts,
    Ignore,
    Needs,
    SyncCommit,
    SyncPull,
    no_write_access,
)

PullEvent = PullRequestOpened | PullRequestSynchronized | PullRequestReopened | PullRequestClosed | PullRequestChanged
CheckEvent = CheckRunRerequested | CheckRunRequestedAction | CheckSuiteRequested | CheckSuiteRerequested

RERUN = "rerun"
"""The identifier of GitHub's own *Re-run* of one check run."""
BUTTONS = frozenset({"rerun_failed", "fix", "cancel"})
PREFIX = "mendbot / "

_HAPPENED = {
    PullRequestOpened: "opened",
    PullRequestSynchronized: "synchronize",
    PullRequestReopened: "reopened",
    PullRequestClosed: "closed",
}
_NEW_HEAD = (PullRequestOpened, PullRequestSynchronized, PullRequestReopened)


def on_pull(event: PullEvent) -> Decision:
    """A pull request changed: synchronize its checks."""
    if event.repo.installation_id == 0:
        return Ignore(make_reason("event.no_installation"))
    how = event.how if isinstance(event, PullRequestChanged) else _HAPPENED[type(event)]
    head = (event.head_sha, event.at) if isinstance(event, _NEW_HEAD) else None
    return SyncPull(event.repo, event.number, make_reason("event.pull", number=event.number, action=how), head)


def on_merge_group(event: MergeGroupRequested | MergeGroupDestroyed) -> Decision:
    """A merge queue needs checks of a commit, or has dropped it. People with write access put the pull requests
    there."""
    if event.repo.installation_id == 0:
        return Ignore(make_reason("event.no_installation"))
    sha = event.head_sha[:12]
    if isinstance(event, MergeGroupDestroyed):
        because = make_reason("event.group_gone", sha=sha, why=event.reason or "?")
        return DropMergeGroup(event.repo, event.head_sha, because)
    return CheckMergeGroup(
        repo=event.repo,
        head_sha=event.head_sha,
        head_ref=event.head_ref,
        base_sha=event.base_sha,
        base_ref=event.base_ref,
        because=make_reason("event.group", branch=event.base_ref, sha=sha),
    )


def check_needs(event: CheckEvent, app_login: str) -> Needs:
    """The permission of the person who clicks a button is read at that time (T9)."""
    if isinstance(event, CheckSuiteRequested) or event.repo.installation_id == 0 or _own(event.sender, app_login):
        return Needs()
    return Needs(permission=True)


def on_check(event: CheckEvent, facts: Facts) -> Decision:
    """A commit needs its checks, or a person clicked *Re-run* or a button of Mendbot's."""
    if event.repo.installation_id == 0:
        return Ignore(make_reason("event.no_installation"))
    if isinstance(event, CheckSuiteRequested):
        return SyncCommit(event.repo, event.head_sha, make_reason("event.head_pushed", sha=event.head_sha[:12]))
    if _own(event.sender, facts.app_login):
        return Ignore(make_reason("event.own_request"))
    trusted = facts.sender_permission in WRITE_ACCESS
    fix = isinstance(event, CheckRunRequestedAction) and event.identifier == "fix"
    if not trusted and not fix:
        return Ignore(no_write_access(event.sender, facts, event.repo))
    if isinstance(event, CheckSuiteRerequested):
        because = make_reason("event.rerun_all", by=event.sender, sha=event.head_sha[:12])
        return SyncCommit(event.repo, event.head_sha, because, again=True)
    if not event.name.startswith(PREFIX):
        return Ignore(make_reason("event.other_check", name=event.name[:60]))
    identifier = event.identifier if isinstance(event, CheckRunRequestedAction) else RERUN
    if identifier not in {*BUTTONS, RERUN}:
        return Ignore(make_reason("event.no_button", name=identifier[:40]))
    return ButtonPressed(
        repo=event.repo,
        run_id=event.external_id,
        check=event.name.removeprefix(PREFIX),
        identifier=identifier,
        by=event.sender,
        because=make_reason("event.button", by=event.sender, name=identifier, check=event.name),
        head_sha=event.head_sha,
        check_run_id=event.check_run_id,
        trusted=trusted,
    )


def _own(login: str, app_login: str) -> bool:
    return app_login != "" and login.casefold() == app_login.casefold()
