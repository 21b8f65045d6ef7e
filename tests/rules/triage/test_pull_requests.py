"""Pull requests and buttons: an event is a hint to look, and whoever presses is judged by what he may do now (T9)."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from bot.config import Policy
from bot.model import Repo
from bot.reports.locale.reasons import english
from bot.rules.events.types import (
    CheckRunRequestedAction,
    CheckRunRerequested,
    CheckSuiteRequested,
    CheckSuiteRerequested,
    Event,
    PullRequestChanged,
    PullRequestClosed,
    PullRequestOpened,
    PullRequestReopened,
    PullRequestSynchronized,
)
from bot.rules.reasons import make_reason
from bot.rules.triage.decide import decide, needs
from bot.rules.triage.decisions import ButtonPressed, Decision, Facts, Ignore, Needs, SyncCommit, SyncPull

REPO = Repo(owner="o", name="r", installation_id=3)
NOBODYS = REPO.model_copy(update={"installation_id": 0})
NOW = datetime(2026, 5, 1, tzinfo=UTC)
BOT = "mendbot[bot]"
SHA = "6dcb09b5b57875f334f61aebed695e2e4193db5e"
SENT: dict[str, Any] = {"repo": REPO, "sender": "ann", "sender_is_bot": False}
PULL: dict[str, Any] = {
    **SENT, "number": 8, "head_sha": SHA, "head_repo": "fork/r", "base_ref": "main", "author": "eve", "draft": False,
    "at": NOW,
}  # fmt: skip
RUN: dict[str, Any] = {
    **SENT, "check_run_id": 41, "name": "mendbot / test", "head_sha": SHA, "external_id": "pull-0123456789"
}  # fmt: skip
SUITE: dict[str, Any] = {**SENT, "head_sha": SHA, "head_branch": None}


def said(event: Event, permission: str | None = "write") -> Decision:
    (decision,) = decide(event, Policy(), Facts(app_login=BOT, sender_permission=permission))
    return decision


def button(identifier: str = "rerun_failed", **changes: Any) -> CheckRunRequestedAction:
    return CheckRunRequestedAction(**{**RUN, **changes}, identifier=identifier)


@pytest.mark.parametrize(
    ("event", "words", "tells_head"),
    [
        (PullRequestOpened(**PULL), "opened", True),
        (PullRequestSynchronized(**PULL), "synchronize", True),
        (PullRequestReopened(**PULL), "reopened", True),
        (PullRequestClosed(**PULL), "closed", False),
        (PullRequestChanged(**PULL, how="ready_for_review"), "ready_for_review", False),
        (PullRequestChanged(**PULL, how="unlabeled"), "unlabeled", False),
    ],
)
def test_whatever_happens_to_a_pull_request_is_a_hint_to_look(event: Event, words: str, tells_head: bool) -> None:
    assert said(event) == SyncPull(
        REPO, 8, make_reason("event.pull", number=8, action=words), (SHA, NOW) if tells_head else None
    )
    # who did it, and whether that can be told, changes nothing: the look asks GitHub itself
    assert said(replace(event, sender=BOT), None) == said(event)  # type: ignore[type-var]
    assert needs(event, Policy()) == Needs()


def test_a_head_whose_moment_is_unknown_is_told_of_without_it() -> None:
    found = said(PullRequestSynchronized(**{**PULL, "at": None}))
    assert isinstance(found, SyncPull)
    assert found.head == (SHA, None)


@pytest.mark.parametrize("permission", ["write", "read", None])
def test_a_pushed_commit_is_looked_at_whoever_pushed_it(permission: str | None) -> None:
    pushed = CheckSuiteRequested(**SUITE)
    assert said(pushed, permission) == SyncCommit(REPO, SHA, make_reason("event.head_pushed", sha=SHA[:12]))
    assert needs(pushed, Policy(), BOT) == Needs()


@pytest.mark.parametrize("permission", ["admin", "maintain", "write", "triage", "read", "none", "owner", None])
def test_only_write_access_has_checks_run_again(permission: str | None) -> None:
    allowed = permission in ("admin", "maintain", "write")
    presses: list[Event] = [
        CheckRunRerequested(**RUN),
        button("rerun_failed"),
        button("cancel"),
        CheckSuiteRerequested(**SUITE),
    ]
    for event in presses:
        decision = said(event, permission)
        assert isinstance(decision, ButtonPressed | SyncCommit) == allowed, decision
        assert ("ann" if permission else "permission: ?") in english(decision.because)
        assert needs(event, Policy(), BOT) == Needs(permission=True)


def test_re_run_all_looks_at_the_commit_again() -> None:
    found = said(CheckSuiteRerequested(**SUITE))
    assert isinstance(found, SyncCommit)
    assert (found.sha, found.again) == (SHA, True)


@pytest.mark.parametrize(
    ("event", "identifier"),
    [
        (CheckRunRerequested(**RUN), "rerun"),
        *((button(name), name) for name in ("rerun_failed", "fix", "cancel")),
    ],
)
def test_a_press_names_the_run_the_check_and_who_pressed(event: Event, identifier: str) -> None:
    found = said(event)
    assert isinstance(found, ButtonPressed)
    assert (found.run_id, found.check, found.identifier) == ("pull-0123456789", "test", identifier)
    assert (found.by, found.head_sha, found.check_run_id, found.trusted) == ("ann", SHA, 41, True)


@pytest.mark.parametrize("permission", ["read", None])
def test_fix_alone_may_be_pressed_by_others_and_is_marked_so(permission: str | None) -> None:
    """Whether it is the author of a branch of the repository is asked when it is done (`pulls.buttons`)."""
    found = said(button("fix"), permission)
    assert isinstance(found, ButtonPressed)
    assert not found.trusted


@pytest.mark.parametrize(
    ("event", "because"),
    [
        (button("self_destruct"), "no button `self_destruct`"),
        (button("x" * 300), "no button `xxx"),
        (button(name="build"), "`build` is not Mendbot's"),
        (button(name="Mendbot / test"), "is not Mendbot's"),
        (CheckRunRerequested(**{**RUN, "name": "lint" * 100}), "is not Mendbot's"),
        (button("fix", sender=BOT), "requested by Mendbot itself"),
        (button("fix", sender="Mendbot[bot]"), "requested by Mendbot itself"),
        (button("fix", repo=NOBODYS), "names no installation"),
        (CheckSuiteRequested(**{**SUITE, "repo": NOBODYS}), "names no installation"),
        (CheckSuiteRerequested(**{**SUITE, "sender": BOT}), "requested by Mendbot itself"),
    ],
)
def test_a_press_that_is_not_for_us_is_ignored_in_few_words(event: Event, because: str) -> None:
    decision = said(event)
    assert isinstance(decision, Ignore)
    assert because in english(decision.because)
    assert len(english(decision.because)) < 150


def test_nobody_is_looked_up_for_a_press_that_is_ignored_anyway() -> None:
    for event in (button(sender=BOT), button(repo=NOBODYS)):
        assert needs(event, Policy(), BOT) == Needs()
