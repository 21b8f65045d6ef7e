"""What events about pull requests and their checks mean. An event is a hint that something changed: what it is now is
asked of GitHub, so that their order does not matter (threats.md 3, *Out of order*)."""

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
)

PullEvent = PullRequestOpened | PullRequestSynchronized | PullRequestReopened | PullRequestClosed | PullRequestChanged
CheckEvent = CheckRunRerequested | CheckRunRequestedAction | CheckSuiteRequested | CheckSuiteRerequested

RERUN = "rerun"
"""What GitHub's own *Re-run* at one check run asks for."""
BUTTONS = frozenset({"rerun_failed", "fix", "cancel"})
PREFIX = "mendbot / "

_HAPPENED = {
    PullRequestOpened: "was opened",
    PullRequestSynchronized: "has a new head",
    PullRequestReopened: "was reopened",
    PullRequestClosed: "was closed",
}
_NEW_HEAD = (PullRequestOpened, PullRequestSynchronized, PullRequestReopened)
_NOT_OURS = "the payload names no installation: it is not from the App's own webhook"


def on_pull(event: PullEvent) -> Decision:
    """A pull request changed: look at it."""
    if event.repo.installation_id == 0:
        return Ignore(_NOT_OURS)
    how = event.how.replace("_", " ") if isinstance(event, PullRequestChanged) else _HAPPENED[type(event)]
    head = (event.head_sha, event.at) if isinstance(event, _NEW_HEAD) else None
    return SyncPull(event.repo, event.number, f"pull request #{event.number} {how}", head)


def on_merge_group(event: MergeGroupRequested | MergeGroupDestroyed) -> Decision:
    """A merge queue waits for its checks, or no more. What it merges people with write access have put there."""
    if event.repo.installation_id == 0:
        return Ignore(_NOT_OURS)
    sha = event.head_sha[:12]
    if isinstance(event, MergeGroupDestroyed):
        because = f"the merge group {sha} is gone" + (f": {event.reason}" if event.reason else "")
        return DropMergeGroup(event.repo, event.head_sha, because)
    return CheckMergeGroup(
        repo=event.repo,
        head_sha=event.head_sha,
        head_ref=event.head_ref,
        base_sha=event.base_sha,
        base_ref=event.base_ref,
        because=f"the merge queue of {event.base_ref} wants the checks of {sha}",
    )


def check_needs(event: CheckEvent, app_login: str) -> Needs:
    """Whoever presses a button is looked up when it is pressed (T9)."""
    if isinstance(event, CheckSuiteRequested) or event.repo.installation_id == 0 or _own(event.sender, app_login):
        return Needs()
    return Needs(permission=True)


def on_check(event: CheckEvent, facts: Facts) -> Decision:
    """A commit wants its checks, or somebody pressed *Re-run* or a button of ours."""
    if event.repo.installation_id == 0:
        return Ignore(_NOT_OURS)
    if isinstance(event, CheckSuiteRequested):
        return SyncCommit(event.repo, event.head_sha, f"{event.head_sha[:12]} was pushed")
    if _own(event.sender, facts.app_login):
        return Ignore("asked for by Mendbot itself")
    trusted = facts.sender_permission in WRITE_ACCESS
    fix = isinstance(event, CheckRunRequestedAction) and event.identifier == "fix"
    if not trusted and not fix:
        return Ignore(_refused(event, facts))
    if isinstance(event, CheckSuiteRerequested):
        because = f"{event.sender} asked for all checks of {event.head_sha[:12]} again"
        return SyncCommit(event.repo, event.head_sha, because, again=True)
    if not event.name.startswith(PREFIX):
        return Ignore(f"the check run {event.name[:60]!r} is not Mendbot's")
    identifier = event.identifier if isinstance(event, CheckRunRequestedAction) else RERUN
    if identifier not in {*BUTTONS, RERUN}:
        return Ignore(f"Mendbot has no button {identifier[:40]!r}")
    return ButtonPressed(
        repo=event.repo,
        run_id=event.external_id,
        check=event.name.removeprefix(PREFIX),
        identifier=identifier,
        by=event.sender,
        because=f"{event.sender} pressed {identifier} at {event.name}",
        head_sha=event.head_sha,
        check_run_id=event.check_run_id,
        trusted=trusted,
    )


def _refused(event: CheckEvent, facts: Facts) -> str:
    has = f"has {facts.sender_permission!r} access" if facts.sender_permission else "could not be looked up"
    return f"{event.sender} {has} in {event.repo.full_name}; write access is needed for that"


def _own(login: str, app_login: str) -> bool:
    return app_login != "" and login.casefold() == app_login.casefold()
