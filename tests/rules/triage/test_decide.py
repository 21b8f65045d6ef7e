"""Who may start what (T9, T10, T13): everything that isn't plainly allowed is ignored, with its reason."""

from __future__ import annotations

import itertools
from dataclasses import replace
from datetime import timedelta
from typing import Any, get_args

import pytest

from bot.config import Policy
from bot.reports.locale.reasons import english
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
from bot.rules.triage.decide import decide, needs
from bot.rules.triage.decisions import (
    CancelRun,
    Facts,
    Ignore,
    JudgePolicy,
    Needs,
    QueueIssue,
    ReleaseReports,
    StopInstallation,
    SyncPull,
    WelcomeRepositories,
)
from tests.rules.triage.issue_events import BOT, NOW, OPEN, POLICY, REPO, facts, labeled, unlabeled

SHA = "6dcb09b5b57875f334f61aebed695e2e4193db5e"


def closed() -> IssueClosed:
    issue = OPEN.model_copy(update={"state": "closed"})
    return IssueClosed(repo=REPO, issue=issue, how="closed", sender="ann", sender_is_bot=False, at=NOW)


def push(**changes: Any) -> Push:
    known: dict[str, Any] = {
        "repo": REPO, "sender": "ann", "sender_is_bot": False, "ref": "refs/heads/main", "after": SHA,
        "to_default_branch": True, "touches_policy": True,
    }  # fmt: skip
    return Push(**{**known, **changes})


def test_a_label_by_someone_with_write_access_starts_the_issue() -> None:
    """G-1."""
    (decision,) = decide(labeled(), POLICY, facts())
    assert isinstance(decision, QueueIssue)
    assert (decision.repo, decision.issue_number, decision.at) == (REPO, 7, NOW)
    assert "ann" in english(decision.because)


@pytest.mark.parametrize("permission", ["admin", "maintain", "write", "triage", "read", "none", "owner", None])
def test_only_write_access_starts_anything_and_unknown_counts_as_nothing(permission: str | None) -> None:
    """G-1."""
    (decision,) = decide(labeled(), POLICY, facts(sender_permission=permission))
    assert isinstance(decision, QueueIssue) == (permission in ("admin", "maintain", "write"))
    assert ("ann" if permission else "did not report") in english(decision.because)


@pytest.mark.parametrize(
    ("event", "known", "because"),
    [
        (labeled("bug"), facts(), "not the trigger label"),
        (labeled(sender=BOT), facts(), "Mendbot itself"),
        (labeled("auto-fix-processing", sender="Mendbot[bot]"), facts(), "Mendbot itself"),
        (labeled(issue=OPEN.model_copy(update={"state": "closed"})), facts(), "is closed"),
        (labeled(issue=OPEN.model_copy(update={"labels": ("Auto-Fix-Skip",)})), facts(), "auto-fix-skip"),
        (labeled(), facts(issue=OPEN.model_copy(update={"state": "closed"})), "is closed"),
        (labeled(), facts(issue=OPEN.model_copy(update={"labels": ()})), "gone from issue #7"),
        (labeled(), facts(issue=OPEN.model_copy(update={"labels": ("auto-fix", "auto-fix-skip")})), "skip"),
        (labeled(), facts(open_run=True), "already"),
        (labeled(repo=REPO.model_copy(update={"installation_id": 0})), facts(), "installation"),
    ],
)
def test_a_label_that_must_not_start_anything_is_ignored(event: Event, known: Facts, because: str) -> None:
    """G-1."""
    (decision,) = decide(event, POLICY, known)
    assert isinstance(decision, Ignore)
    assert because in english(decision.because)


def test_labels_that_an_issue_is_opened_with_start_nothing() -> None:
    event = IssueOpened(repo=REPO, issue=OPEN, sender="ann", sender_is_bot=False, at=NOW)
    assert [type(decision) for decision in decide(event, POLICY, facts())] == [Ignore]
    assert needs(event, POLICY) == Needs()


def test_the_trigger_label_is_the_policys_and_ignores_case() -> None:
    policy = Policy(trigger_label="Mend Me")
    issue = OPEN.model_copy(update={"labels": ("mend me",)})
    assert isinstance(decide(labeled("mend me"), policy, facts(issue=issue))[0], QueueIssue)
    assert isinstance(decide(labeled("auto-fix"), policy, facts(issue=issue))[0], Ignore)


@pytest.mark.parametrize("event", [unlabeled(), unlabeled("AUTO-FIX"), closed(), labeled("auto-fix-skip")])
@pytest.mark.parametrize("permission", ["read", None])
def test_whoever_takes_the_label_off_closes_or_skips_stops_the_run(event: Event, permission: str | None) -> None:
    """G-5."""
    stopped = decide(event, POLICY, facts(open_run=True, sender_permission=permission))
    assert [(type(decision), getattr(decision, "issue_number", 0)) for decision in stopped] == [(CancelRun, 7)]
    (idle,) = decide(event, POLICY, facts())
    assert isinstance(idle, Ignore)
    assert "no run of it is open" in english(idle.because)


def test_a_deleted_trigger_label_stops_and_another_deleted_label_does_not() -> None:
    gone = unlabeled(None, issue=OPEN.model_copy(update={"labels": ()}))
    assert isinstance(decide(gone, POLICY, facts(open_run=True))[0], CancelRun)
    (ignored,) = decide(unlabeled(None), POLICY, facts(open_run=True))
    assert isinstance(ignored, Ignore) and ignored.because.kind == "event.deleted_label"


def test_our_own_bots_label_changes_never_stop_a_run() -> None:
    for event in (unlabeled(sender=BOT), labeled("auto-fix-skip", sender=BOT), unlabeled("auto-fix-processing")):
        assert isinstance(decide(event, POLICY, facts(open_run=True))[0], Ignore)


def test_an_event_older_than_the_label_that_started_the_run_does_not_stop_it() -> None:
    later = facts(open_run=True, open_since=NOW + timedelta(seconds=1))
    for event in (unlabeled(), closed(), labeled("auto-fix-skip")):
        (decision,) = decide(event, POLICY, later)
        assert isinstance(decision, Ignore)
        assert "before the label" in english(decision.because)
        assert isinstance(decide(event, POLICY, facts(open_run=True, open_since=NOW))[0], CancelRun)


def test_every_order_of_arrival_ends_as_github_stands() -> None:
    """Truth: opened, labelled, closed. Whatever comes first, nothing is left running."""
    opened = IssueOpened(repo=REPO, issue=OPEN, sender="ann", sender_is_bot=False, at=NOW)
    now = OPEN.model_copy(update={"state": "closed"})
    told: list[Event] = [opened, labeled(), closed()]
    for order in itertools.permutations(told):
        running = False
        for event in order:
            for decision in decide(event, POLICY, facts(open_run=running, issue=now)):
                running = isinstance(decision, QueueIssue) or (running and not isinstance(decision, CancelRun))
        assert not running


@pytest.mark.parametrize(("change", "names"), [("deleted", None), ("suspended", None), ("removed", ("o/r",))])
def test_an_installation_that_goes_stops_its_work(change: str, names: tuple[str, ...] | None) -> None:
    event = InstallationChanged(installation_id=3, change=change, repositories=names)  # type: ignore[arg-type]
    (decision,) = decide(event, POLICY, facts())
    assert isinstance(decision, StopInstallation)
    assert (decision.installation_id, decision.repositories) == (3, names)


@pytest.mark.parametrize("change", ["created", "unsuspended", "permissions", "added"])
def test_an_installation_that_comes_back_has_its_last_words_told(change: str) -> None:
    event = InstallationChanged(installation_id=3, change=change, repositories=("o/r",))  # type: ignore[arg-type]
    *others, decision = decide(event, POLICY, facts())
    assert isinstance(decision, ReleaseReports)
    assert (decision.installation_id, decision.repositories, decision.number) == (3, ("o/r",), None)
    # only what is newly installed is asked first
    assert [type(other) for other in others] == [WelcomeRepositories] * (change in ("created", "added"))


def test_an_unlocked_thread_has_its_last_word_told_and_a_pull_request_is_looked_at_too() -> None:
    issue, pull = (
        decide(ThreadUnlocked(REPO, "ann", False, number=7, is_pull_request=is_pull), POLICY, facts())
        for is_pull in (False, True)
    )
    assert issue == (ReleaseReports(3, ("o/r",), 7, make_reason("event.unlocked", by="ann", number=7)),)
    assert [type(decision) for decision in pull] == [ReleaseReports, SyncPull]


def _pull(author: str) -> PullRequestOpened:
    return PullRequestOpened(
        repo=REPO, sender=author, sender_is_bot=False, number=8, head_sha="0" * 40, head_repo=None, base_ref="main",
        author=author, draft=False, at=NOW,
    )  # fmt: skip


def _one_of_each() -> list[Event]:
    pull = _pull("ann")
    pulls: dict[str, Any] = {name: getattr(pull, name) for name in PullRequestOpened.__dataclass_fields__}
    sent: dict[str, Any] = {"repo": REPO, "sender": "ann", "sender_is_bot": False}
    comment = {
        **sent, "number": 7, "is_pull_request": False, "kind": "issue_comment", "comment_id": 1, "author": "ann",
        "opened_by": "ann", "body": "/mendbot fix", "at": NOW,
    }  # fmt: skip
    run = {**sent, "check_run_id": 1, "name": "mendbot / test", "head_sha": "0" * 40, "external_id": ""}
    suite = {**sent, "head_sha": "0" * 40, "head_branch": None}
    on_issue = {**sent, "issue": OPEN, "at": NOW}
    return [
        labeled(),
        unlabeled(),
        closed(),
        IssueEdited(**on_issue, previous=None),
        IssueOpened(**on_issue),
        IssueReopened(**on_issue),
        CommentCreated(**comment),
        CommentEdited(**comment, previous=None),
        pull,
        PullRequestSynchronized(**pulls),
        PullRequestReopened(**pulls),
        PullRequestChanged(**pulls, how="ready_for_review"),
        PullRequestClosed(**pulls),
        CheckRunRerequested(**run),
        CheckRunRequestedAction(**run, identifier="fix"),
        CheckSuiteRequested(**suite),
        CheckSuiteRerequested(**suite),
        ThreadUnlocked(**sent, number=7, is_pull_request=False),
        MergeGroupRequested(
            **sent, head_sha="1" * 40, head_ref="gh-readonly-queue/main/pr-7", base_sha="2" * 40, base_ref="main"
        ),
        MergeGroupDestroyed(**sent, head_sha="1" * 40, reason="merged"),
        InstallationChanged(installation_id=3, change="created", repositories=None),
        push(),
        Ping(),
        Ignored(make_reason("event.no_label")),
    ]


def test_every_event_of_the_union_is_decided_with_a_reason() -> None:
    each = _one_of_each()
    assert {type(event) for event in each} == set(get_args(Event))
    for event in each:
        decisions = decide(event, POLICY, facts())
        assert decisions
        assert all(decision.because for decision in decisions)


def test_a_payload_without_an_installation_does_nothing_whatever_it_tells_of() -> None:
    """A payload that names no installation is not from the App's webhook, whatever it tells of."""
    nobodys = REPO.model_copy(update={"installation_id": 0})
    for event in _one_of_each():
        if isinstance(event, InstallationChanged | Ping | Ignored):
            continue
        said = decide(replace(event, repo=nobodys), POLICY, facts())
        assert [type(decision) for decision in said] == [Ignore], event


@pytest.mark.parametrize(
    ("event", "kind", "because"),
    [
        ({}, JudgePolicy, "ann pushed to the default branch"),
        ({"touches_policy": False}, Ignore, "fetched when a run starts"),
        ({"to_default_branch": False}, Ignore, "another branch"),
        ({"sender": BOT}, Ignore, "Mendbot itself"),
        ({"after": "0" * 40}, Ignore, "deleted"),
    ],
)
def test_a_push_to_the_default_branch_that_may_touch_the_policy_has_it_judged(
    event: dict[str, Any], kind: type, because: str
) -> None:
    (decision,) = decide(push(**event), POLICY, facts())
    assert isinstance(decision, kind)
    assert because in english(decision.because)
    if isinstance(decision, JudgePolicy):
        assert (decision.repo, decision.sha) == (REPO, SHA)


def test_nothing_is_asked_for_an_event_that_is_ignored_whatever_the_answer() -> None:
    asking = {type(event) for event in _one_of_each() if needs(event, POLICY) != Needs()}
    on_issue = {IssueLabeled, IssueUnlabeled, IssueClosed}
    pressed = {CheckRunRerequested, CheckRunRequestedAction, CheckSuiteRerequested}
    # an edit whose text before is not told adds nothing, so nobody is asked about who edited
    assert asking == {*on_issue, *pressed, CommentCreated}
    assert needs(labeled(), POLICY) == Needs(permission=True, issue=True, open_run=True)
    assert needs(labeled("bug"), POLICY) == Needs()
    assert needs(labeled(sender=BOT), POLICY, BOT) == Needs()
    assert needs(labeled("auto-fix-skip"), POLICY) == needs(unlabeled(), POLICY) == Needs(open_run=True)
    assert needs(unlabeled("bug"), POLICY) == Needs()
    for event in (labeled("bug"), unlabeled("bug"), labeled(issue=OPEN.model_copy(update={"state": "closed"}))):
        known = itertools.product(["write", None], [True, False])
        said = {decide(event, POLICY, facts(sender_permission=p, open_run=o)) for p, o in known}
        assert len(said) == 1
