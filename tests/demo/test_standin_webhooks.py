"""Webhooks: signed, in GitHub's form, one delivery log, nothing sent again by itself."""

from __future__ import annotations

import http.client
import uuid

from demo.standin import StandIn, World
from demo.standin.webhooks import signature
from tests.demo.conftest import REPO, Api, Receiver
from tests.oracle.webhooks import check_webhook

HOME = f"/repos/{REPO}"


def test_the_signature_is_githubs() -> None:
    # the vector of "Validating webhook deliveries"
    assert signature("It's a Secret to Everybody", b"Hello, World!") == (
        "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17"
    )


def everything(world: World, api: Api) -> None:
    """At least one of each webhook that the stand-in knows."""
    world.add_label(REPO, 1, "auto-fix", "ann")
    world.remove_label(REPO, 1, "auto-fix", "ann")
    world.edit_issue(REPO, 1, "bob", title="Still broken")
    comment = world.comment(REPO, 1, "/mendbot status", "bob")
    world.edit_comment(comment, "/mendbot fix", "bob")
    world.delete_comment(comment, "bob")
    sha = world.push_commit(REPO, "fix/issue-1", {"src/app.py": "x = 2\n"}, "ann")
    number = api.ok("POST", f"{HOME}/pulls", {"title": "M", "head": "fix/issue-1", "base": "main"})["number"]
    api.ok("POST", f"{HOME}/issues/{number}/comments", {"body": "hi"})
    api.ok("POST", f"{HOME}/issues/{number}/labels", {"labels": ["x"]})
    button = {"label": "Fix", "description": "mend it", "identifier": "fix"}
    output = {"title": "t", "summary": "s"}
    run = {"name": "mendbot / test", "head_sha": sha, "conclusion": "failure", "actions": [button], "output": output}
    made = api.ok("POST", f"{HOME}/check-runs", run)
    world.rerequest_check_run(made["id"], "ann")
    world.press_button(made["id"], "fix", "ann")
    world.rerequest_check_suite(REPO, sha, "ann")
    world.push_commit(REPO, "fix/issue-1", {"src/app.py": "x = 3\n"}, "ann")
    world.merge_pull(REPO, number, "ann")
    world.delete_branch(REPO, "fix/issue-1", "ann")
    world.close_issue(REPO, 1, "ann", "not_planned")
    world.reopen_issue(REPO, 1, "ann")
    world.create_repo("octo/second", {"a": "b"})
    world.ping()
    world.suspend_app(REPO)
    world.suspend_app(REPO, suspended=False)
    world.uninstall_app(REPO)


def test_every_webhook_is_as_github_describes_it(world: World, api: Api, receiver: Receiver) -> None:
    everything(world, api)
    world.wait_delivered()
    assert {one.name for one in receiver.received} >= {
        *("issues.opened", "issues.labeled", "issues.unlabeled", "issues.edited", "issues.closed", "issues.reopened"),
        *("issue_comment.created", "issue_comment.edited", "issue_comment.deleted", "push", "ping"),
        *("pull_request.opened", "pull_request.labeled", "pull_request.synchronize", "pull_request.closed"),
        *("check_run.created", "check_run.completed", "check_run.rerequested", "check_run.requested_action"),
        *("check_suite.requested", "check_suite.completed", "check_suite.rerequested"),
        *("installation.created", "installation.suspend", "installation.unsuspend", "installation.deleted"),
        "installation_repositories.added",
    }
    for one in receiver.received:
        assert one.signed
        assert not check_webhook(one.event, one.payload), one.name


def test_headers_name_the_delivery_and_its_target(world: World, receiver: Receiver) -> None:
    world.wait_delivered()
    headers = receiver.received[-1].headers
    assert uuid.UUID(headers["x-github-delivery"])
    assert headers["x-github-hook-installation-target-id"] == "1234"
    assert headers["x-github-hook-installation-target-type"] == "integration"
    assert headers["user-agent"].startswith("GitHub-Hookshot/")
    assert headers["content-type"] == "application/json"


def test_labels_at_opening_come_as_labels_too(world: World, receiver: Receiver) -> None:
    world.wait_delivered()
    assert receiver.names == ["installation.created", "issues.opened", "issues.labeled"]
    assert receiver.last("issues.labeled")["label"]["name"] == "bug"


def test_the_apps_own_deeds_are_told_with_its_bot_as_sender(world: World, api: Api, receiver: Receiver) -> None:
    api.ok("POST", f"{HOME}/issues/1/comments", {"body": "working on it"})
    world.wait_delivered()
    told = receiver.last("issue_comment.created")
    assert (told["sender"]["type"], told["sender"]["login"]) == ("Bot", "mendbot[bot]")
    assert told["comment"]["performed_via_github_app"]["id"] == 1234


def test_edits_carry_the_old_text(world: World, receiver: Receiver) -> None:
    comment = world.comment(REPO, 1, "old", "bob")
    world.edit_comment(comment, "new", "bob")
    world.wait_delivered()
    assert receiver.last("issue_comment.edited")["changes"] == {"body": {"from": "old"}}


def test_a_push_asks_for_checks_and_moves_its_pull_request(world: World, receiver: Receiver) -> None:
    first = world.push_commit(REPO, "side", {"a": "1\n", "README.md": None}, "ann", "One")
    world.open_pull(REPO, "side", "Side", "", "ann")
    second = world.push_commit(REPO, "side", {"a": "2\n"}, "ann", "Two")
    world.wait_delivered()
    pushes = [one.payload for one in receiver.received if one.event == "push"]
    assert [(push["before"], push["after"], push["created"]) for push in pushes] == [
        ("0" * 40, first, True),
        (first, second, False),
    ]
    assert pushes[0]["head_commit"]["added"] == ["a"]
    assert pushes[0]["head_commit"]["removed"] == ["README.md"]
    assert receiver.last("check_suite.requested")["check_suite"]["head_sha"] == second
    assert receiver.last("check_suite.requested")["check_suite"]["pull_requests"] == []
    moved = receiver.last("pull_request.synchronize")
    assert (moved["before"], moved["after"], moved["pull_request"]["head"]["sha"]) == (first, second, second)


def test_a_failed_delivery_stays_failed_until_asked_again(world: World, app: Api, receiver: Receiver) -> None:
    world.wait_delivered()
    receiver.status = 503
    world.comment(REPO, 1, "lost", "bob")
    world.wait_delivered()
    failed = world.deliveries[-1]
    assert (failed.status, failed.status_code) == ("Invalid HTTP Response: 503", 503)
    before = len(receiver.received)
    receiver.status = 202
    listed = app.ok("GET", "/app/hook/deliveries?per_page=1")
    assert (listed[0]["guid"], listed[0]["status"]) == (failed.guid, failed.status)
    assert app.ok("GET", f"/app/hook/deliveries/{failed.id}")["request"]["payload"]["comment"]["body"] == "lost"
    app.ok("POST", f"/app/hook/deliveries/{failed.id}/attempts")
    world.wait_delivered()
    assert len(receiver.received) == before + 1
    again = world.deliveries[-1]
    assert (again.guid, again.redelivery, again.status) == (failed.guid, True, "OK")
    assert again.id != failed.id


def test_the_delivery_log_is_paged_by_cursor(world: World, app: Api) -> None:
    for number in range(5):
        world.comment(REPO, 1, f"{number}", "bob")
    world.wait_delivered()
    seen, url = [], "/app/hook/deliveries?per_page=3"
    while url:
        answer = app("GET", url)
        seen += [one["id"] for one in answer.json()]
        url = answer.links.get("next", {}).get("url", "")
    assert seen == sorted((one.id for one in world.deliveries), reverse=True)


def test_a_bot_that_is_away_or_breaks_off_gets_failures(standin: StandIn, world: World) -> None:
    world.wait_delivered()
    world.set_webhook_url("http://127.0.0.1:9/api/github/webhooks")
    world.comment(REPO, 1, "nobody hears", "bob")
    world.wait_delivered()
    assert world.deliveries[-1].status == "failed to connect to host"
    assert http.client.responses[world.deliveries[-1].status_code] == "Bad Gateway"


def test_webhooks_can_be_held_back(world: World, receiver: Receiver) -> None:
    world.wait_delivered()
    before = len(receiver.received)
    world.hold_webhooks()
    world.comment(REPO, 1, "one", "bob")
    world.comment(REPO, 1, "two", "bob")
    assert len(receiver.received) == before
    world.hold_webhooks(False)
    world.wait_delivered()
    assert [one.payload["comment"]["body"] for one in receiver.received[before:]] == ["one", "two"]


def test_where_the_app_is_not_installed_nothing_is_sent(world: World, receiver: Receiver) -> None:
    world.wait_delivered()
    before = len(receiver.received)
    world.create_repo("octo/quiet", {"a": "b"}, installed=False)
    world.create_issue("octo/quiet", "Unheard", "", "bob")
    world.wait_delivered()
    assert len(receiver.received) == before
