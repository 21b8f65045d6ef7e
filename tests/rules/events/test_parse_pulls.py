"""What pull requests, their reviews and pushes tell, in made-up payloads and in those that GitHub recorded itself."""

from __future__ import annotations

from typing import get_args

import pytest

from bot.rules.events.parse import parse, repository_key
from bot.rules.events.types import (
    CommentCreated,
    CommentEdited,
    Event,
    MergeGroupDestroyed,
    PullRequestChanged,
    PullRequestOpened,
    Push,
)
from tests.oracle.webhooks import examples
from tests.rules.events.payloads import AT, BASE, ISSUE, PULL, REVIEW, REVIEWS, SHA

POLICY_FILE = ".github/mendbot.yml"


def test_every_change_of_a_pull_request_tells_how_and_when() -> None:
    for how in ("ready_for_review", "converted_to_draft", "edited", "labeled", "unlabeled"):
        event = parse("pull_request", {**BASE, "action": how, "pull_request": {**PULL, "draft": True}})
        assert isinstance(event, PullRequestChanged)
        assert (event.how, event.draft, event.at) == (how, True, AT)
    late = parse("pull_request", {**BASE, "action": "opened", "pull_request": {**PULL, "updated_at": 1556100761}})
    assert isinstance(late, PullRequestOpened)
    assert late.at is None, "a time without a zone orders nothing"


@pytest.mark.parametrize(
    ("name", "action", "kind", "hour"),
    [
        ("pull_request_review", "submitted", "review", 9),
        ("pull_request_review", "edited", "review", 11),
        ("pull_request_review_comment", "created", "review_comment", 11),
        ("pull_request_review_comment", "edited", "review_comment", 11),
    ],
)
def test_words_of_a_review_are_a_comment_on_its_pull_request(name: str, action: str, kind: str, hour: int) -> None:
    text = {"review" if name == "pull_request_review" else "comment": REVIEW}
    event = parse(
        name, {**BASE, "action": action, "pull_request": PULL, **text, "changes": {"body": {"from": "before"}}}
    )
    assert isinstance(event, CommentCreated | CommentEdited)
    assert (event.number, event.is_pull_request, event.kind, event.comment_id) == (8, True, kind, 6)
    assert (event.author, event.opened_by, event.sender, event.body) == ("hubot", "hubot", "octocat", "/mendbot fix")
    assert event.at == AT.replace(hour=hour)
    if isinstance(event, CommentEdited):
        assert event.previous == "before"


def test_a_review_without_words_or_of_a_deleted_account_is_an_empty_comment_of_nobody() -> None:
    silent = {**REVIEW, "body": None, "user": None}
    event = parse("pull_request_review", {**BASE, "action": "submitted", "pull_request": PULL, "review": silent})
    assert isinstance(event, CommentCreated)
    assert (event.body, event.author, event.sender) == ("", "", "octocat")


def test_an_edit_that_leaves_the_words_alone_has_none_from_before() -> None:
    changes = {"title": {"from": "x"}}
    told = {**BASE, "action": "edited", "issue": ISSUE, "comment": REVIEW, "changes": changes}
    event = parse("issue_comment", told)
    assert isinstance(event, CommentEdited)
    assert event.previous is None


@pytest.mark.parametrize(
    ("commits", "may_touch"),
    [
        ([{"added": [], "modified": ["a.py"], "removed": []}], False),
        ([{"modified": ["a.py"]}, {"modified": [POLICY_FILE]}], True),
        ([{"added": [POLICY_FILE]}], True),
        ([{"removed": [POLICY_FILE]}], True),
        ([{"modified": [f"x/{POLICY_FILE}"]}], False),
        ([{"modified": ["a.py", None, 7]}], False),
        ([], True),
        (None, True),
        ([{"modified": ["a.py"]}] * 2048, True),
        ([{"modified": ["a.py"]}] * 2047, False),
    ],
)
def test_a_push_tells_whether_the_configuration_may_have_changed(commits: object, may_touch: bool) -> None:
    """What GitHub lists no files of (a forced push back, very many commits) may have."""
    event = parse("push", {**BASE, "ref": "refs/heads/main", "after": SHA, "commits": commits})
    assert isinstance(event, Push)
    assert event.touches_policy is may_touch


def test_githubs_recorded_deliveries_are_read_without_a_complaint() -> None:
    told: dict[type, int] = {}
    for name, payload in examples():
        event = parse(name, payload)
        assert repository_key(event)
        told[type(event)] = told.get(type(event), 0) + 1
    # of a merge group that is destroyed there is no recorded delivery
    assert set(told) == set(get_args(Event)) - {MergeGroupDestroyed}


def test_githubs_recorded_reviews_name_their_pull_request_and_their_moment() -> None:
    read = [parse(name, payload) for name, payload in examples() if name in REVIEWS]
    said = [event for event in read if isinstance(event, CommentCreated | CommentEdited)]
    assert {event.kind for event in said} == {"review", "review_comment"}
    assert all(event.is_pull_request and event.number and event.author and event.opened_by for event in said)
    assert all(event.at is not None for event in said)
