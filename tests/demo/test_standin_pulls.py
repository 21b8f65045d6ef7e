"""Pull requests as people change them, what their pushes cause, and which commits belong to which."""

from __future__ import annotations

from typing import Any

import pytest

from demo.standin import World
from demo.standin.answers import ApiError
from tests.demo.conftest import REPO, Api, Receiver
from tests.oracle.webhooks import check_webhook

HOME = f"/repos/{REPO}"


def told(world: World, receiver: Receiver) -> list[tuple[str, Any]]:
    """Every webhook so far, by name, each judged."""
    world.wait_delivered()
    for one in receiver.received:
        assert not check_webhook(one.event, one.payload), one.name
    return [(one.name, one.payload) for one in receiver.received]


def open_side(world: World, **more: Any) -> int:
    world.push_files(REPO, "side", {"src/app.py": "x = 2\n"}, "Two", "ann")
    return world.open_pull(REPO, "side", "Side", "Fixes #1", "ann", **more)


def names(world: World, receiver: Receiver, skip: int) -> list[str]:
    return [name for name, _ in told(world, receiver)[skip:]]


def test_a_draft_is_opened_made_ready_and_a_draft_again(world: World, api: Api, receiver: Receiver) -> None:
    number = open_side(world, draft=True)
    before = len(told(world, receiver))
    got = api.ok("GET", f"{HOME}/pulls/{number}")
    assert (got["draft"], got["mergeable_state"], world.pulls(REPO)[0].draft) == (True, "draft", True)
    with pytest.raises(ApiError, match="not mergeable"):
        world.merge_pull(REPO, number, "ann")
    world.mark_ready(REPO, number, "ann")
    world.mark_ready(REPO, number, "ann")
    world.convert_to_draft(REPO, number, "bob")
    assert names(world, receiver, before) == ["pull_request.ready_for_review", "pull_request.converted_to_draft"]
    assert receiver.last("pull_request.ready_for_review")["pull_request"]["draft"] is False
    last = receiver.last("pull_request.converted_to_draft")
    assert (last["pull_request"]["draft"], last["sender"]["login"]) == (True, "bob")


def test_labels_and_closing_are_told_as_the_pull_requests(world: World, api: Api, receiver: Receiver) -> None:
    number = open_side(world)
    before = len(told(world, receiver))
    world.add_label(REPO, number, "mendbot:skip", "ann")
    world.remove_label(REPO, number, "mendbot:skip", "ann")
    world.close_issue(REPO, number, "ann")
    world.reopen_issue(REPO, number, "ann")
    assert names(world, receiver, before) == [
        f"pull_request.{action}" for action in ("labeled", "unlabeled", "closed", "reopened")
    ]
    labeled = receiver.last("pull_request.labeled")
    assert (labeled["label"]["name"], labeled["number"]) == ("mendbot:skip", number)
    assert receiver.last("pull_request.closed")["pull_request"]["merged"] is False


def test_a_merge_closes_then_pushes(world: World, receiver: Receiver) -> None:
    number = open_side(world)
    before = len(told(world, receiver))
    sha = world.merge_pull(REPO, number, "ann")
    assert names(world, receiver, before) == ["pull_request.closed", "issues.closed", "push", "check_suite.requested"]
    closed = receiver.last("pull_request.closed")["pull_request"]
    assert (closed["merged"], closed["merge_commit_sha"], closed["merged_by"]["login"]) == (True, sha, "ann")
    assert receiver.last("push")["after"] == sha


def test_edits_tell_what_was(world: World, api: Api, receiver: Receiver) -> None:
    number = open_side(world)
    main = world.branches(REPO)["main"]
    world.push_files(REPO, "next", {"next.txt": "n\n"}, "Next", "ann")
    before = len(told(world, receiver))
    world.edit_pull(REPO, number, "bob", title="Other", body="Fixes #7", base="next")
    world.edit_pull(REPO, number, "bob", title="Other", base="next")
    (edited,) = [payload for _, payload in told(world, receiver)[before:]]
    assert edited["changes"] == {
        "title": {"from": "Side"},
        "body": {"from": "Fixes #1"},
        "base": {"ref": {"from": "main"}, "sha": {"from": main}},
    }
    assert (edited["pull_request"]["base"]["ref"], edited["sender"]["login"]) == ("next", "bob")
    assert (world.pulls(REPO)[0].closes, world.pulls(REPO)[0].base) == ((7,), "next")
    assert api("PATCH", f"{HOME}/pulls/{number}", {"base": "none"}).status_code == 422


def test_a_reopened_pull_request_has_what_was_pushed_meanwhile(world: World, receiver: Receiver) -> None:
    number = open_side(world)
    world.close_issue(REPO, number, "ann")
    sha = world.push_files(REPO, "side", {"src/app.py": "x = 3\n"}, "Three", "ann")
    assert world.pulls(REPO)[0].head_sha != sha
    world.reopen_issue(REPO, number, "ann")
    assert "pull_request.synchronize" not in names(world, receiver, 0)
    assert receiver.last("pull_request.reopened")["pull_request"]["head"]["sha"] == sha
    world.close_issue(REPO, number, "ann")
    world.delete_branch(REPO, "side", "ann")
    with pytest.raises(ApiError, match="Validation Failed"):
        world.reopen_issue(REPO, number, "ann")


def test_a_push_names_its_files_and_moves_every_pull_request_of_the_branch(world: World, receiver: Receiver) -> None:
    world.push_files(REPO, "next", {"next.txt": "n\n"}, "Next", "ann")
    numbers = {open_side(world), world.open_pull(REPO, "side", "Again", "", "ann", base="next")}
    old = world.branches(REPO)["side"]
    before = len(told(world, receiver))
    new = world.push_files(REPO, "side", {"README.md": None, "src/app.py": "x = 3\n", "new": b"\x00"}, "Three", "ann")
    caused = told(world, receiver)[before:]
    assert [name for name, _ in caused] == ["push", "check_suite.requested", *["pull_request.synchronize"] * 2]
    push = caused[0][1]
    assert (push["before"], push["after"], push["forced"], push["ref"]) == (old, new, False, "refs/heads/side")
    (commit,) = push["commits"]
    assert (commit["added"], commit["modified"], commit["removed"]) == (["new"], ["src/app.py"], ["README.md"])
    assert (push["head_commit"]["id"], push["head_commit"]["message"]) == (new, "Three")
    assert caused[1][1]["check_suite"]["head_sha"] == new
    assert {payload["number"] for _, payload in caused[2:]} == numbers
    assert {(payload["before"], payload["after"]) for _, payload in caused[2:]} == {(old, new)}


def test_a_forced_push_takes_the_last_commits_place(world: World, api: Api, receiver: Receiver) -> None:
    number = open_side(world)
    old = world.branches(REPO)["side"]
    new = world.push_files(REPO, "side", {"other.txt": "o\n"}, "Instead", "ann", force=True)
    assert [one["sha"] for one in api.ok("GET", f"{HOME}/pulls/{number}/commits")] == [new]
    assert [one["filename"] for one in api.ok("GET", f"{HOME}/pulls/{number}/files")] == ["other.txt"]
    told(world, receiver)
    push = receiver.last("push")
    assert (push["forced"], push["before"], push["after"]) == (True, old, new)
    assert receiver.last("pull_request.synchronize")["before"] == old


def test_a_push_to_a_fork_is_told_only_by_the_pull_request(world: World, api: Api, receiver: Receiver) -> None:
    fork = world.fork(REPO, "stranger")
    first = world.push_files(fork, "patch", {"src/app.py": "x = 9\n"}, "Nine", "stranger")
    number = world.open_pull(REPO, "stranger:patch", "Nine", "", "stranger")
    before = len(told(world, receiver))
    newer = world.push_files(fork, "patch", {"src/app.py": "x = 10\n"}, "Ten", "stranger")
    ((name, payload),) = told(world, receiver)[before:]
    assert name == "pull_request.synchronize"
    assert (payload["number"], payload["before"], payload["after"]) == (number, first, newer)
    assert payload["pull_request"]["head"]["repo"]["full_name"] == fork
    # as on GitHub: its sha can be read here, yet names no pull request until it is merged
    assert api.ok("GET", f"{HOME}/commits/{newer}")["author"]["login"] == "stranger"
    assert api.ok("GET", f"{HOME}/commits/{newer}/pulls") == []
    run = api.ok("POST", f"{HOME}/check-runs", {"name": "mendbot / test", "head_sha": newer})
    assert run["pull_requests"] == []
    world.merge_pull(REPO, number, "ann")
    assert [one["number"] for one in api.ok("GET", f"{HOME}/commits/{newer}/pulls")] == [number]


def test_commits_know_their_pull_requests(world: World, api: Api) -> None:
    main = world.branches(REPO)["main"]
    number = open_side(world)
    first = world.branches(REPO)["side"]
    second = world.push_files(REPO, "side", {"b": "b"}, "B", "ann")

    def numbers(ref: str) -> list[int]:
        return [one["number"] for one in api.ok("GET", f"{HOME}/commits/{ref}/pulls")]

    assert numbers(first) == numbers(second) == numbers("side") == [number]
    assert numbers(main) == []
    world.close_issue(REPO, number, "ann")
    assert numbers(second) == []
    world.reopen_issue(REPO, number, "ann")
    merged = world.merge_pull(REPO, number, "ann")
    assert numbers(merged) == numbers(first) == [number]
    assert api("GET", f"{HOME}/commits/{'a' * 40}/pulls").status_code in (409, 422)


def test_branches_are_compared_from_where_they_parted(world: World, api: Api) -> None:
    parted = world.branches(REPO)["main"]
    side = world.push_files(REPO, "side", {"src/app.py": "x = 2\n"}, "Two", "ann")
    world.push_files(REPO, "main", {"README.md": "# More\n"}, "More", "ann")
    found = api.ok("GET", f"{HOME}/compare/main...side")
    assert (found["status"], found["ahead_by"], found["behind_by"]) == ("diverged", 1, 1)
    assert found["merge_base_commit"]["sha"] == parted
    assert [one["sha"] for one in found["commits"]] == [side]
    assert [one["filename"] for one in found["files"]] == ["src/app.py"]
    states = [api.ok("GET", f"{HOME}/compare/{span}")["status"] for span in (f"{parted}...side", f"side...{parted}")]
    assert [*states, api.ok("GET", f"{HOME}/compare/side...side")["status"]] == ["ahead", "behind", "identical"]
    assert api("GET", f"{HOME}/compare/main...none").status_code == 404
