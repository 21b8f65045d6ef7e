"""Check runs: their buttons, whom a press reaches, suites asked for again, and another App's runs beside them."""

from __future__ import annotations

from typing import Any

import pytest

from demo.standin import World
from tests.demo.conftest import REPO, Api, Receiver
from tests.oracle.webhooks import check_webhook

HOME = f"/repos/{REPO}"
FIX = {"label": "x" * 20, "description": "y" * 40, "identifier": "z" * 20}


def make(api: Api, world: World, **more: Any) -> Any:
    body = {"name": "mendbot / test", "head_sha": world.branches(REPO)["main"], "conclusion": "failure"}
    return api.ok("POST", f"{HOME}/check-runs", body | more)


def told(world: World, receiver: Receiver, event: str) -> list[Any]:
    world.wait_delivered()
    found = [one.payload for one in receiver.received if one.event == event]
    for payload in found:
        assert not check_webhook(event, payload), payload["action"]
    return found


def test_a_button_tells_what_was_pressed_and_by_whom(world: World, api: Api, receiver: Receiver) -> None:
    run = make(api, world, actions=[FIX, FIX | {"identifier": "skip"}])
    assert [one["identifier"] for one in world.check_runs(REPO)[0].actions] == ["z" * 20, "skip"]
    world.press_button(run["id"], "skip", "eve")
    pressed = told(world, receiver, "check_run")[-1]
    assert (pressed["action"], pressed["requested_action"]) == ("requested_action", {"identifier": "skip"})
    assert (pressed["sender"]["login"], pressed["check_run"]["id"]) == ("eve", run["id"])
    api.ok("PATCH", f"{HOME}/check-runs/{run['id']}", {"actions": []})
    before = len(world.deliveries)
    with pytest.raises(ValueError, match="has no button 'skip'"):
        world.press_button(run["id"], "skip", "eve")
    assert len(world.deliveries) == before


@pytest.mark.parametrize("wrong", [{"label": "x" * 21}, {"description": "y" * 41}, {"identifier": "z" * 21}])
def test_a_button_with_too_long_a_text_is_refused(world: World, api: Api, wrong: dict[str, str]) -> None:
    run = make(api, world, actions=[FIX])
    for method, path in (("POST", "/check-runs"), ("PATCH", f"/check-runs/{run['id']}")):
        body = {"name": "n", "head_sha": run["head_sha"]} if method == "POST" else {}
        answer = api(method, HOME + path, body | {"actions": [FIX | wrong]}, judge_request=False)
        assert answer.status_code == 422
    assert world.check_runs(REPO)[0].actions == (FIX,)


def test_times_and_the_address_of_details_are_kept(world: World, api: Api) -> None:
    times = {"started_at": "2026-01-02T03:04:05Z", "completed_at": "2026-01-02T04:04:05+00:00"}
    run = make(api, world, details_url="https://mendbot.example/runs/1", **times)
    assert (run["started_at"], run["completed_at"]) == ("2026-01-02T03:04:05Z", "2026-01-02T04:04:05Z")
    seen = world.check_runs(REPO)[0]
    assert (seen.started_at, seen.completed_at) == ("2026-01-02T03:04:05Z", "2026-01-02T04:04:05Z")
    assert run["details_url"] == seen.details_url == "https://mendbot.example/runs/1"


def test_asking_for_a_run_again_sets_back_its_suite_only(world: World, api: Api, receiver: Receiver) -> None:
    run = make(api, world)

    def states() -> tuple[str, str]:
        suites = api.ok("GET", f"{HOME}/commits/{run['head_sha']}/check-suites")["check_suites"]
        return suites[0]["status"], world.check_runs(REPO)[0].status

    assert states() == ("completed", "completed")
    world.rerequest_check_run(run["id"], "ann")
    assert states() == ("queued", "completed")
    assert world.check_runs(REPO)[0].conclusion == "failure"
    asked = told(world, receiver, "check_run")[-1]
    assert (asked["action"], asked["check_run"]["check_suite"]["status"]) == ("rerequested", "queued")
    again = make(api, world, conclusion="success")
    assert states() == ("completed", "completed")
    world.rerequest_check_suite(REPO, run["head_sha"], "ann")
    assert states()[0] == "queued"
    assert told(world, receiver, "check_suite")[-1]["action"] == "rerequested"
    api.ok("PATCH", f"{HOME}/check-runs/{again['id']}", {"status": "in_progress"})
    assert states()[0] == "in_progress"


def test_another_apps_runs_are_heard_of_and_out_of_reach(world: World, api: Api, receiver: Receiver) -> None:
    sha = world.branches(REPO)["main"]
    other = world.other_check_run(REPO, sha, "build", "failure")
    heard = told(world, receiver, "check_run")
    assert [payload["action"] for payload in heard] == ["created", "completed"]
    assert heard[0]["check_run"]["app"]["slug"] == "github-actions"
    assert heard[0]["sender"]["login"] == "github-actions[bot]"
    world.rerequest_check_run(other, "ann")
    assert len(told(world, receiver, "check_run")) == 2
    assert api("PATCH", f"{HOME}/check-runs/{other}", {"status": "queued"}).status_code == 403
    mine = make(api, world, name="build")
    listed = f"{HOME}/commits/{sha}/check-runs"
    assert {run["id"] for run in api.ok("GET", listed)["check_runs"]} == {other, mine["id"]}
    assert [run["id"] for run in api.ok("GET", f"{listed}?app_id=1234")["check_runs"]] == [mine["id"]]
    assert {run.app for run in world.check_runs(REPO, sha)} == {"github-actions", "mendbot"}
    assert len(api.ok("GET", f"{HOME}/commits/{sha}/check-suites")["check_suites"]) == 2
