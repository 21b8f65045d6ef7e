"""Trouble on request, the request log and the waiting that end-to-end tests rest on."""

from __future__ import annotations

import threading
import time

import httpx2
import pytest

from demo.standin import StandIn, World
from tests.demo.conftest import REPO, Api
from tests.machine import PATIENCE_S

HOME = f"/repos/{REPO}"
COMMENTS = f"{HOME}/issues/1/comments"


def test_a_fault_before_the_effect_leaves_nothing(api: Api, world: World) -> None:
    world.faults.add("POST", ".*/comments", status=502)
    assert api("POST", COMMENTS, {"body": "hi"}).status_code == 502
    assert world.comments(REPO, 1) == ()
    assert api("POST", COMMENTS, {"body": "hi"}).status_code == 201


def test_a_fault_after_the_effect_hides_it(api: Api, world: World) -> None:
    world.faults.add("POST", ".*/comments", status=502, after_effect=True, times=2)
    for _ in range(2):
        assert api("POST", COMMENTS, {"body": "hi"}).status_code == 502
    assert len(world.comments(REPO, 1)) == 2


def test_faults_carry_headers_and_bodies(api: Api, world: World) -> None:
    world.faults.add("GET", HOME, status=429, headers={"Retry-After": "60", "x-ratelimit-remaining": "0"})
    limited = api("GET", HOME)
    assert (limited.headers["retry-after"], limited.headers["x-ratelimit-remaining"]) == ("60", "0")
    assert "secondary rate limit" in limited.json()["message"]
    plain = Api(api.standin, api.token, judged=False)
    world.faults.add("*", HOME, status=200, body="<html>Unicorn!</html>")
    assert plain("GET", HOME).text == "<html>Unicorn!</html>"
    world.faults.add("GET", HOME, status=301, headers={"Location": "http://127.0.0.1:9/away"})
    assert plain("GET", HOME).headers["location"] == "http://127.0.0.1:9/away"
    world.faults.add("GET", HOME, status=None, delay_s=0.3)
    began = time.monotonic()
    assert api("GET", HOME).status_code == 200
    assert time.monotonic() - began >= 0.3


def test_faults_match_whole_paths_and_can_be_cleared(api: Api, world: World) -> None:
    fault = world.faults.add("GET", HOME, times=5)
    assert api("GET", f"{HOME}/issues").status_code == 200
    assert api("GET", HOME).status_code == 502
    world.faults.clear()
    assert api("GET", HOME).status_code == 200
    assert fault.hits == 1


def test_the_log_keeps_what_the_oracle_needs(api: Api, world: World) -> None:
    api("POST", f"{COMMENTS}?x=1", {"body": "hi"}, judge_request=False)
    last = world.requests[-1]
    assert (last.kind, last.method, last.path, last.query) == ("rest", "POST", COMMENTS, {"x": "1"})
    assert (last.body, last.status, last.response["body"]) == ({"body": "hi"}, 201, "hi")
    assert last.authenticated_as == f"installation:{world.installation_id(REPO)}"


def test_waiting_ends_with_the_event_or_with_the_time(api: Api, world: World) -> None:
    later = threading.Timer(0.2, lambda: api("POST", COMMENTS, {"body": "at last"}))
    later.start()
    assert world.wait_for(lambda: world.comments(REPO, 1), PATIENCE_S)[0].body == "at last"
    later.join()
    with pytest.raises(TimeoutError, match=r"0\.1 s for snow"):
        world.wait_for(lambda: False, 0.1, "snow")


def test_githubs_clock_is_on_every_answer(standin: StandIn, api: Api) -> None:
    here = api("GET", HOME).headers["date"]
    standin.world.set_clock_skew(86_400 * 400)
    assert api("GET", HOME).status_code == 401, "tokens live for an hour of GitHub's time"
    assert httpx2.get(standin.url).headers["date"][-17:-13] != here[-17:-13]


def test_what_is_not_there_is_said_so(world: World) -> None:
    with pytest.raises(Exception, match="Not Found"):
        world.issue(REPO, 77)
    with pytest.raises(Exception, match="Not Found"):
        world.issue("octo/nothing", 1)
    with pytest.raises(ValueError, match="exists already"):
        world.create_repo(REPO, {"a": "b"})
    assert world.create_user("octo") == "octo"


def test_it_stops_and_frees_its_port(standin: StandIn) -> None:
    standin.stop()
    with pytest.raises(httpx2.ConnectError):
        httpx2.get(standin.url)
    standin.stop()
