"""Reviews and comments on lines: told by webhooks, read and reacted to over REST, in GitHub's form."""

from __future__ import annotations

from typing import Any

import pytest

from demo.standin import World
from demo.standin.answers import ApiError
from tests.demo.conftest import REPO, Api, Receiver
from tests.oracle.webhooks import check_webhook

HOME = f"/repos/{REPO}"


@pytest.fixture
def number(world: World) -> int:
    """A pull request that changes the second line of three."""
    world.push_files(REPO, "main", {"src/app.py": "one\ntwo\nthree\n"}, "Three lines", "ann")
    world.push_files(REPO, "side", {"src/app.py": "one\n2\nthree\n"}, "Second", "ann")
    return world.open_pull(REPO, "side", "Side", "", "ann")


def told(world: World, receiver: Receiver, event: str) -> list[Any]:
    """The payloads of one event so far, each judged."""
    world.wait_delivered()
    found = [one.payload for one in receiver.received if one.event == event]
    for payload in found:
        assert not check_webhook(event, payload), payload["action"]
    return found


def test_a_review_is_told_and_listed(world: World, api: Api, receiver: Receiver, number: int) -> None:
    review = world.review(REPO, number, "/mendbot fix", "ann", state="changes_requested")
    world.edit_review(review, "/mendbot status", "bob")
    submitted, edited = told(world, receiver, "pull_request_review")
    assert (submitted["action"], submitted["review"]["body"]) == ("submitted", "/mendbot fix")
    assert submitted["review"]["state"] == "changes_requested"
    assert (edited["action"], edited["changes"]) == ("edited", {"body": {"from": "/mendbot fix"}})
    assert (edited["sender"]["login"], edited["review"]["user"]["login"]) == ("bob", "ann")
    (listed,) = api.ok("GET", f"{HOME}/pulls/{number}/reviews")
    assert (listed["id"], listed["state"], listed["body"]) == (review, "CHANGES_REQUESTED", "/mendbot status")
    assert listed["commit_id"] == world.branches(REPO)["side"]
    assert api.ok("GET", f"{HOME}/pulls/{number}/reviews/{review}") == listed
    assert api("GET", f"{HOME}/pulls/{number}/reviews/1").status_code == 404
    assert [(one.id, one.body, one.author) for one in world.reviews(REPO, number)] == [
        (review, "/mendbot status", "ann")
    ]


def test_a_comment_on_a_line_comes_with_a_review_without_words(
    world: World, api: Api, receiver: Receiver, number: int
) -> None:
    comment = world.review_comment(REPO, number, "/mendbot fix", "ann", path="src/app.py", line=2)
    (created,) = told(world, receiver, "pull_request_review_comment")
    (review,) = told(world, receiver, "pull_request_review")
    assert (review["review"]["body"], review["review"]["state"]) == (None, "commented")
    assert created["comment"]["pull_request_review_id"] == review["review"]["id"]
    got = api.ok("GET", f"{HOME}/pulls/comments/{comment}")
    assert got == created["comment"]
    assert (got["path"], got["line"], got["position"]) == ("src/app.py", 2, 3)
    assert got["diff_hunk"] == "@@ -1,3 +1,3 @@\n one\n-two\n+2"
    assert api.ok("GET", f"{HOME}/pulls/{number}/comments") == [got]
    assert api.ok("GET", f"{HOME}/pulls/{number}")["review_comments"] == 1


def test_comments_on_lines_are_edited_and_deleted(world: World, api: Api, receiver: Receiver, number: int) -> None:
    comment = world.review_comment(REPO, number, "old", "ann", path="src/app.py", line=2)
    world.edit_review_comment(comment, "new", "ann")
    world.delete_review_comment(comment, "bob")
    _, edited, deleted = told(world, receiver, "pull_request_review_comment")
    assert (edited["action"], edited["changes"]) == ("edited", {"body": {"from": "old"}})
    assert (deleted["action"], deleted["comment"]["body"]) == ("deleted", "new")
    assert api("GET", f"{HOME}/pulls/comments/{comment}").status_code == 404
    assert api.ok("GET", f"{HOME}/pulls/{number}/comments") == api.ok("GET", f"{HOME}/pulls/{number}/reviews") == []
    assert api.ok("GET", f"{HOME}/pulls/{number}")["review_comments"] == 0


def test_reactions_are_given_once_seen_and_taken_back(world: World, api: Api, number: int) -> None:
    comment = world.review_comment(REPO, number, "/mendbot fix", "ann", path="src/app.py", line=2)
    place = f"{HOME}/pulls/comments/{comment}/reactions"
    eyes = api("POST", place, {"content": "eyes"})
    assert eyes.status_code == 201
    assert api("POST", place, {"content": "eyes"}).status_code == 200
    api.ok("POST", place, {"content": "rocket"})
    assert [one["content"] for one in api.ok("GET", place)] == ["eyes", "rocket"]
    assert [one["content"] for one in api.ok("GET", f"{place}?content=rocket")] == ["rocket"]
    both = (("eyes", "mendbot[bot]"), ("rocket", "mendbot[bot]"))
    assert world.review_comments(REPO, number)[0].reactions == both
    api.ok("DELETE", f"{place}/{eyes.json()['id']}")
    assert api("DELETE", f"{place}/{eyes.json()['id']}").status_code == 404
    assert world.review_comments(REPO, number)[0].reactions == both[1:]
    assert api("POST", place, {"content": "skull"}, judge_request=False).status_code == 422


def test_reactions_to_comments_of_a_thread_are_seen_with_who_gave_them(world: World, api: Api) -> None:
    comment = world.comment(REPO, 1, "/mendbot fix", "bob")
    api.ok("POST", f"{HOME}/issues/comments/{comment}/reactions", {"content": "eyes"})
    world.react(comment, "+1", "ann")
    assert world.comments(REPO, 1)[-1].reactions == (("eyes", "mendbot[bot]"), ("+1", "ann"))


def test_what_is_no_pull_request_or_no_line_of_its_diff_is_refused(world: World, api: Api, number: int) -> None:
    for path, line in (("src/app.py", 9), ("README.md", 1), ("src/app.py", 0)):
        with pytest.raises(ApiError, match="Validation Failed"):
            world.review_comment(REPO, number, "x", "ann", path=path, line=line)
    with pytest.raises(ApiError, match="Validation Failed"):
        world.review(REPO, number, " ", "ann")
    with pytest.raises(ApiError, match="Not Found"):
        world.review(REPO, 1, "x", "ann")
    assert api("GET", f"{HOME}/pulls/1/reviews").status_code == 404
    assert world.reviews(REPO, number) == ()


def test_the_routes_need_access_to_pull_requests(world: World, number: int, api: Api) -> None:
    comment = world.review_comment(REPO, number, "x", "ann", path="src/app.py", line=2)
    blind = Api(api.standin, world.new_token(REPO, {"issues": "write"}))
    assert blind("GET", f"{HOME}/pulls/comments/{comment}").status_code == 403
    reader = Api(api.standin, world.new_token(REPO, {"pull_requests": "read"}))
    assert reader("GET", f"{HOME}/pulls/comments/{comment}").status_code == 200
    assert reader("POST", f"{HOME}/pulls/comments/{comment}/reactions", {"content": "eyes"}).status_code == 403


def test_faults_and_the_request_log_know_the_new_routes(world: World, api: Api, number: int) -> None:
    comment = world.review_comment(REPO, number, "x", "ann", path="src/app.py", line=2)
    path = f"{HOME}/pulls/comments/{comment}/reactions"
    world.faults.add("POST", r".*/pulls/comments/\d+/reactions", after_effect=True)
    assert api("POST", path, {"content": "eyes"}).status_code == 502
    assert api("POST", path, {"content": "eyes"}).status_code == 200, "the first one did take effect"
    logged = [one for one in world.requests if one.path == path]
    assert [(one.status, one.body) for one in logged] == [(502, {"content": "eyes"}), (200, {"content": "eyes"})]


def test_reviews_are_asked_for_of_collaborators_but_not_of_the_author(
    world: World, api: Api, receiver: Receiver, number: int
) -> None:
    world.create_user("zoe")
    world.set_permission(REPO, "bob", "read")
    path = f"{HOME}/pulls/{number}/requested_reviewers"
    assert api.ok("GET", path) == {"users": [], "teams": []}
    for _ in range(2):
        answer = api("POST", path, {"reviewers": ["bob"]})
        assert answer.status_code == 201
        assert [user["login"] for user in answer.json()["requested_reviewers"]] == ["bob"]
    for login, words in (("ann", "pull request author"), ("zoe", "only be requested from collaborators")):
        refused = api("POST", path, {"reviewers": [login]})
        assert refused.status_code == 422 and words in refused.json()["message"]
    asked = [one for one in told(world, receiver, "pull_request") if one["action"] == "review_requested"]
    assert [one["requested_reviewer"]["login"] for one in asked] == ["bob"]
    world.review(REPO, number, "Fine.", "bob", state="approved")
    assert api.ok("GET", path)["users"] == []


def test_a_merge_queue_asks_for_checks_of_a_commit_of_its_own(world: World, receiver: Receiver, number: int) -> None:
    main = world.branches(REPO)["main"]
    sha = world.enqueue_pull(REPO, number, "ann")
    queue = f"gh-readonly-queue/main/pr-{number}-{main}"
    assert world.branches(REPO)[queue] == sha
    world.destroy_group(REPO, number, sha, "ann", "merged")
    assert queue not in world.branches(REPO)
    requested, destroyed = told(world, receiver, "merge_group")
    assert (requested["action"], destroyed["action"], destroyed["reason"]) == (
        "checks_requested",
        "destroyed",
        "merged",
    )
    group = requested["merge_group"]
    assert (group["head_sha"], group["head_ref"]) == (sha, f"refs/heads/{queue}")
    assert (group["base_sha"], group["base_ref"]) == (main, "refs/heads/main")
