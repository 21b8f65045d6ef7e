"""Who may see and do what: every route of the server, as each kind of viewer (T45, T46).

A new route has to be put into the table."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

import pytest
from starlette.routing import Route

from bot.web.browser_sessions import BrowserSession
from bot.web.viewers import Viewer
from tests.web.conftest import Door
from tests.web.pages.client import Client
from tests.web.people import served_people

VIEWERS = ("nobody", "stranger", "reader", "writer", "operator")
"""Not signed in; a person of another repository; people of `octo/pocket`; the admin token."""
SAMPLES = {"run": "story", "session": "story", "artifact": "story.validation.2", "log": "1-0-test.log",
           "name": "mendbot.css", "delivery": "guid-1"}  # fmt: skip
OPEN = (200,) * 5
SIGNED_IN = (303, 200, 200, 200, 200)
OF_PLACE = (303, 404, 200, 200, 200)
API_OF_PLACE = (401, 404, 200, 200, 200)
OPERATOR = (303, 403, 403, 403, 200)
API_OPERATOR = (401, 403, 403, 403, 200)
SESSION = {"repo": "octo/pocket", "task": "fix it", "testCommand": "true"}

TABLE: Mapping[str, tuple[int, ...]] = {
    "GET /ping": OPEN,
    "GET /healthz": OPEN,
    "GET /api/health": OPEN,
    "GET /readyz": (503,) * 5,  # no worker runs here
    "GET /static/{name}": OPEN,
    "GET /login": (200, 303, 303, 303, 303),
    "POST /login": (403,) * 5,  # without the form's own token
    "POST /logout": (303, 403, 403, 403, 403),
    "GET /sign-in/github": (303,) * 5,
    "GET /sign-in/github/callback": (400,) * 5,  # without a state
    "GET /": SIGNED_IN,
    "GET /runs": SIGNED_IN,
    "GET /history": SIGNED_IN,
    "GET /groups": SIGNED_IN,
    "GET /runs/{run}": OF_PLACE,
    "GET /runs/{run}/events": OF_PLACE,
    "GET /runs/{run}/artifacts/{artifact}": OF_PLACE,
    "GET /runs/{run}/logs/{log}": OF_PLACE,
    "GET /runs/{run}/logs/{log}/raw": OF_PLACE,
    "POST /runs/{run}/cancel": (303, 404, 403, 303, 303),
    "GET /sessions/new": (303, 200, 403, 200, 200),
    "POST /sessions": (303, 422, 403, 503, 503),  # let through to a worker that does not run
    "GET /deliveries": OPERATOR,
    "POST /deliveries/{delivery}/replay": (303, 403, 403, 403, 303),
    "GET /setup": OPERATOR,
    "POST /setup/app": (303, 403, 403, 403, 422),
    "GET /setup/created": (303, 403, 403, 403, 422),
    "GET /metrics": API_OPERATOR,
    "GET /api/deliveries": API_OPERATOR,
    "POST /api/deliveries/{delivery}/replay": (401, 403, 403, 403, 202),
    "GET /api/history": API_OPERATOR,
    "GET /api/worktrees": (401, 200, 200, 200, 200),
    "GET /api/sessions": (401, 200, 200, 200, 200),
    "POST /api/sessions": (401, 422, 422, 503, 503),
    "GET /api/sessions/{session}": API_OF_PLACE,
    "GET /api/sessions/{session}/events": API_OF_PLACE,
    "GET /api/sessions/{session}/artifacts": API_OF_PLACE,
    "GET /api/sessions/{session}/artifacts/{artifact}": API_OF_PLACE,
    "GET /api/sessions/{session}/logs/{log}": API_OF_PLACE,
    "POST /api/sessions/{session}/cancel": (401, 404, 403, 200, 200),
}
"""The status for each of VIEWERS."""


class Scene(NamedTuple):
    door: Door
    browsers: Mapping[str, Client]


@pytest.fixture(scope="module")
def scene(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scene]:
    with served_people(tmp_path_factory.mktemp("people")) as (door, _):
        door.post(b"{}")
        browsers = {name: Client(door.port) for name in VIEWERS}
        for login in ("stranger", "reader", "writer"):
            assert browsers[login].sign_in_as(login).status == 303
        browsers["operator"].sign_in()
        yield Scene(door, browsers)


def status(browser: Client, line: str) -> int:
    """The status of a request for that row of the table, with this browser's form token."""
    method, _, path = line.partition(" ")
    path = path.format(**SAMPLES)
    if method == "GET":
        return browser.get(path + ("?file=cart.py" if path == "/api/history" else "")).status
    token = browser.form_token()
    if path.startswith("/api/"):
        return browser.post_json(path, SESSION, X_CSRF_Token=token).status
    own = {} if path in ("/login", "/logout") else {"csrf": token}
    return browser.post(path, {**SESSION, "maxAttempts": "1", **own}).status


def routes(door: Door) -> set[str]:
    found: list[Route] = door.app.rest.routes  # type: ignore[attr-defined]
    return {f"{method} {route.path}" for route in found for method in (route.methods or ()) if method != "HEAD"}


def test_the_table_has_every_route(scene: Scene) -> None:
    assert routes(scene.door) == TABLE.keys()


@pytest.mark.parametrize("line", TABLE)
def test_each_route_serves_those_who_may(scene: Scene, line: str) -> None:
    assert tuple(status(scene.browsers[name], line) for name in VIEWERS) == TABLE[line]


LISTS = ("/", "/runs?state=running", "/runs?state=failed", "/runs?state=fixed", "/runs?state=checked", "/history",
         "/history?repo=octo/pocket", "/groups", "/groups?repo=acme/records", "/api/sessions", "/api/worktrees",
         "/nowhere")  # fmt: skip


@pytest.mark.parametrize("path", LISTS)
def test_no_list_names_what_a_person_cannot_read(scene: Scene, path: str) -> None:
    for name, hidden in (("stranger", ("pocket", "records", "/srv/a")), ("reader", ("records", "/srv/a"))):
        text = scene.browsers[name].get(path).text.replace(path, "").replace("octo/pocket&", "")
        text = text.replace('value="octo/pocket"', "").replace('value="acme/records"', "")  # what they typed themselves
        assert [word for word in hidden if word in text] == [], name
    assert "/srv/a" in scene.browsers["operator"].get("/").text


def test_a_session_in_a_directory_is_the_operators_alone(scene: Scene) -> None:
    for path in ("/runs/session", "/runs/session/events", "/api/sessions/session", "/api/sessions/session/events"):
        assert [scene.browsers[name].get(path).status for name in ("reader", "writer")] == [404, 404], path
    writer = scene.browsers["writer"]
    for repo in ("/srv/a", "sample", "acme/records", "OCTO/nowhere"):
        answer = writer.post_json("/api/sessions", {**SESSION, "repo": repo}, X_CSRF_Token=writer.form_token())
        assert answer.status == 422 and answer.json["problems"][0]["field"] == "repo", repo
        page = writer.post("/sessions", {**SESSION, "repo": repo, "maxAttempts": "1", "csrf": writer.form_token()})
        assert page.status == 422 and "that you can write to" in page.text, repo


def test_the_navigation_has_no_page_that_is_of_no_use(scene: Scene) -> None:
    shown = {name: scene.browsers[name].get("/").text for name in VIEWERS}
    assert [name for name in VIEWERS if 'href="/setup"' in shown[name]] == ["operator"]
    assert [name for name in VIEWERS if 'href="/deliveries"' in shown[name]] == ["operator"]
    assert [name for name in VIEWERS if 'href="/sessions/new"' in shown[name]] == ["stranger", "writer", "operator"]
    run = {name: scene.browsers[name].get("/runs/busy").text for name in ("reader", "writer")}
    assert ['id="cancel"' in run[name] for name in ("reader", "writer")] == [False, True]
    assert "lint_failure" not in scene.browsers["writer"].get("/sessions/new").text


def test_the_name_of_a_repository_has_no_case() -> None:
    viewer = Viewer(BrowserSession("x", "person", "ann"), {"octo/pocket": True, "octo/read": False})
    assert viewer.may_read("Octo/Pocket") and viewer.may_write("OCTO/pocket") and viewer.may_read("octo/READ")
    assert not viewer.may_write("octo/read") and not viewer.may_read("octo/pocket2") and not viewer.is_operator
