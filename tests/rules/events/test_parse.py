"""Payloads become events of a closed set, and a payload that lies about its shape is one sentence, never a crash."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.reports.locale.reasons import english
from bot.rules.events.parse import parse, repository_key
from bot.rules.events.types import (
    CheckRunRequestedAction,
    CheckRunRerequested,
    CheckSuiteRequested,
    CheckSuiteRerequested,
    CommentCreated,
    CommentEdited,
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
from tests.rules.events.payloads import AT, BASE, ISSUE, PULL, REVIEW, REVIEWS, SHA


def labeled(**changes: Any) -> dict[str, Any]:
    return {**BASE, "action": "labeled", "issue": ISSUE, "label": {"name": "auto-fix"}, **changes}


def test_a_label_tells_who_put_it_on_which_issue_and_when() -> None:
    event = parse("issues", labeled(sender={"login": "dependabot[bot]", "type": "Bot"}))
    assert isinstance(event, IssueLabeled)
    assert (event.repo.full_name, event.repo.installation_id) == ("Octo-Org/hello.world", 3)
    assert (event.issue.number, event.issue.body, event.issue.labels, event.issue.author) == (7, "", ("bug",), "hubot")
    assert (event.label, event.sender, event.sender_is_bot) == ("auto-fix", "dependabot[bot]", True)
    assert event.at == AT
    assert repository_key(event) == "octo-org/hello.world"


@pytest.mark.parametrize(
    ("name", "action", "kind", "more"),
    [
        ("issues", "unlabeled", IssueUnlabeled, {"issue": ISSUE}),
        ("issues", "opened", IssueOpened, {"issue": ISSUE}),
        ("issues", "closed", IssueClosed, {"issue": ISSUE}),
        ("issues", "deleted", IssueClosed, {"issue": ISSUE}),
        ("issues", "transferred", IssueClosed, {"issue": ISSUE}),
        ("issues", "reopened", IssueReopened, {"issue": ISSUE}),
        ("issue_comment", "created", CommentCreated, {"issue": ISSUE, "comment": {"id": 1, "body": "x"}}),
        ("issue_comment", "edited", CommentEdited, {"issue": ISSUE, "comment": {"id": 1, "body": "x"}}),
        ("pull_request", "opened", PullRequestOpened, {"pull_request": PULL}),
        ("pull_request", "synchronize", PullRequestSynchronized, {"pull_request": PULL}),
        ("pull_request", "reopened", PullRequestReopened, {"pull_request": PULL}),
        ("pull_request", "closed", PullRequestClosed, {"pull_request": PULL}),
        ("pull_request", "ready_for_review", PullRequestChanged, {"pull_request": PULL}),
        ("pull_request", "converted_to_draft", PullRequestChanged, {"pull_request": PULL}),
        ("pull_request", "edited", PullRequestChanged, {"pull_request": PULL}),
        ("pull_request", "labeled", PullRequestChanged, {"pull_request": PULL}),
        ("pull_request", "unlabeled", PullRequestChanged, {"pull_request": PULL}),
        ("pull_request", "assigned", Ignored, {"pull_request": PULL}),
        ("pull_request_review", "submitted", CommentCreated, {"pull_request": PULL, "review": REVIEW}),
        ("pull_request_review", "edited", CommentEdited, {"pull_request": PULL, "review": REVIEW}),
        ("pull_request_review", "dismissed", Ignored, {"pull_request": PULL, "review": REVIEW}),
        ("pull_request_review_comment", "created", CommentCreated, {"pull_request": PULL, "comment": REVIEW}),
        ("pull_request_review_comment", "edited", CommentEdited, {"pull_request": PULL, "comment": REVIEW}),
        ("check_run", "rerequested", CheckRunRerequested, {}),
        ("check_run", "requested_action", CheckRunRequestedAction, {}),
        ("check_suite", "requested", CheckSuiteRequested, {}),
        ("check_suite", "rerequested", CheckSuiteRerequested, {}),
        ("push", None, Push, {"ref": "refs/heads/main", "after": SHA}),
        ("ping", None, Ping, {}),
    ],
)
def test_each_event_of_the_table_becomes_its_noun(name: str, action: str | None, kind: type, more: Any) -> None:
    run = {"check_run": {"id": 4, "name": "mendbot / test", "head_sha": SHA, "external_id": "r1"}}
    rest = {**run, "check_suite": {"head_sha": SHA, "head_branch": None}, "requested_action": {"identifier": "fix"}}
    event = parse(name, {**BASE, **rest, **more, **({"action": action} if action else {})})
    assert type(event) is kind


def test_a_comment_on_a_pull_request_keeps_its_old_text_and_loses_what_no_database_takes() -> None:
    event = parse(
        "issue_comment",
        {
            **BASE,
            "action": "edited",
            "issue": {**ISSUE, "pull_request": {"url": "x"}},
            "comment": {"id": 5, "body": "a\x00b\ud800", "user": {"login": "hubot"}},
            "changes": {"body": {"from": "before"}},
        },
    )
    assert isinstance(event, CommentEdited)
    assert (event.number, event.is_pull_request, event.previous, event.author) == (7, True, "before", "hubot")
    assert event.body == "a\ufffdb\ufffd"


def test_a_pull_request_from_a_deleted_fork_has_no_head_repository() -> None:
    event = parse(
        "pull_request", {**BASE, "action": "opened", "pull_request": {**PULL, "head": {"sha": SHA, "repo": None}}}
    )
    assert isinstance(event, PullRequestOpened)
    assert (event.head_repo, event.head_sha, event.base_ref) == (None, SHA, "main")


@pytest.mark.parametrize(
    ("ref", "default"), [("refs/heads/main", True), ("refs/heads/x", False), ("refs/tags/main", False)]
)
def test_a_push_tells_whether_it_is_to_the_default_branch(ref: str, default: bool) -> None:
    event = parse("push", {**BASE, "ref": ref, "after": "0" * 40})
    assert isinstance(event, Push)
    assert event.to_default_branch is default


@pytest.mark.parametrize(
    ("name", "action", "change", "names"),
    [
        ("installation", "created", "created", ("o/c",)),
        ("installation", "deleted", "deleted", None),
        ("installation", "suspend", "suspended", None),
        ("installation", "unsuspend", "unsuspended", None),
        ("installation", "new_permissions_accepted", "permissions", None),
        ("installation_repositories", "added", "added", ("o/a",)),
        ("installation_repositories", "removed", "removed", ("o/b",)),
    ],
)
def test_an_installation_tells_what_changed(name: str, action: str, change: str, names: object) -> None:
    lists = {"repositories": [{"full_name": "o/c"}]} if action in ("created", "deleted") else {}
    lists |= {"repositories_added": [{"full_name": "o/a"}], "repositories_removed": [{"full_name": "o/b"}]}
    event = parse(name, {"action": action, "installation": {"id": 9}, **lists})
    assert event == InstallationChanged(installation_id=9, change=change, repositories=names)  # type: ignore[arg-type]
    assert repository_key(event) == "installation:9"


@pytest.mark.parametrize(("name", "thread", "number"), [("issues", "issue", 7), ("pull_request", "pull_request", 8)])
def test_a_conversation_that_is_unlocked_tells_which_it_is(name: str, thread: str, number: int) -> None:
    event = parse(name, {**BASE, "action": "unlocked", thread: {"issue": ISSUE, "pull_request": PULL}[thread]})
    assert isinstance(event, ThreadUnlocked)
    assert (event.repo.full_name, event.number, event.is_pull_request) == (
        "Octo-Org/hello.world", number, thread == "pull_request",
    )  # fmt: skip


def test_what_no_rule_looks_at_is_ignored_with_a_reason() -> None:
    for name, payload in [
        ("star", {**BASE, "action": "created"}),
        ("issues", {**BASE, "action": "pinned"}),
        ("issues", {"action": ["labeled"]}),
        ("__class__", {"action": "__init__", "repository": "lies"}),
        ("meta", {}),
        ("security_advisory", {"action": "published"}),
    ]:
        event = parse(name, payload)
        assert isinstance(event, Ignored)
        assert name in english(event.because)


@pytest.mark.parametrize(
    ("member", "payload"),
    [
        ("repository", labeled(repository=None)),
        ("repository.full_name", labeled(repository={"name": "x"})),
        ("repository.full_name", labeled(repository={"full_name": "../../etc"})),
        ("repository.full_name", labeled(repository={"full_name": "o/.."})),
        ("repository.full_name", labeled(repository={"full_name": "o/r\n"})),
        ("repository.full_name", labeled(repository={"full_name": "o/r/x"})),
        ("sender", labeled(sender="octocat")),
        ("sender.login", labeled(sender={"login": "../admin"})),
        ("installation.id", labeled(installation={"id": "3"})),
        ("issue.number", labeled(issue={**ISSUE, "number": True})),
        ("issue.number", labeled(issue={**ISSUE, "number": 0})),
        ("issue.number", labeled(issue={**ISSUE, "number": 2**63})),
        ("issue.title", labeled(issue={**ISSUE, "title": ["x"]})),
        ("issue.labels[0]", labeled(issue={**ISSUE, "labels": ["bug"]})),
        ("label.name", labeled(label={"name": "auto\x00fix"})),
        ("label.name", labeled(label={"name": "auto\ud800fix"})),
    ],
)
def test_a_payload_that_lies_about_its_shape_is_refused_naming_the_member(member: str, payload: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="the payload's") as told:
        parse("issues", payload)
    assert f"payload's {member} " in str(told.value)


def test_a_head_that_is_no_commit_id_is_refused() -> None:
    head = {"sha": "--upload-pack=x", "repo": None}
    with pytest.raises(ValueError, match=r"pull_request\.head\.sha"):
        parse("pull_request", {**BASE, "action": "opened", "pull_request": {**PULL, "head": head}})


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=10,
)
_MEMBERS = ["action", "repository", "sender", "installation", "issue", "label", "comment", "pull_request", "check_run"]


@given(
    name=st.sampled_from(
        ["issues", "issue_comment", "pull_request", "check_run", "check_suite", "push", "installation", *REVIEWS]
    ),
    action=st.sampled_from(
        ["labeled", "created", "submitted", "opened", "rerequested", "requested", "edited", "suspend", None]
    ),
    lies=st.dictionaries(
        st.sampled_from([*_MEMBERS, "check_suite", "ref", "after", "changes", "review", "commits"]), _JSON, max_size=4
    ),
)
def test_whatever_comes_in_is_an_event_or_a_value_error(name: str, action: str | None, lies: dict[str, Any]) -> None:
    sound = {"issue": ISSUE, "pull_request": PULL, "comment": REVIEW, "review": REVIEW}
    try:
        event = parse(name, {**BASE, **sound, "action": action, **lies})
    except ValueError as error:
        assert str(error).startswith("the payload's")
    else:
        assert repository_key(event)
