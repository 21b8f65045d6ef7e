"""Sessions over HTTP: what may be asked, what is shown, and what is refused with which words."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from typing import Any

import pytest

from bot.model import Artifact, Phase, Status
from tests.machine import PATIENCE_S
from tests.web.session_world import NOON, TOKEN, SessionsHarness, World

GOOD: dict[str, Any] = {"repo": "octo/pocket", "task": "mend it", "testCommand": "npm test"}
SESSIONS = "/api/sessions"
_HEAD = (
    f"POST {SESSIONS} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {TOKEN}\r\n"
    "Content-Type: application/json\r\n"
).encode()


@pytest.fixture(scope="module")
def shared() -> World:
    return World()


@pytest.fixture(scope="module")
def desk(shared: World) -> Iterator[SessionsHarness]:
    with SessionsHarness(shared) as desk:
        yield desk


@pytest.fixture
def world(shared: World) -> World:
    """An empty one, behind the server that all tests of this module share."""
    shared.clear()
    return shared


def test_a_session_is_started_and_shown_where_it_says(desk: SessionsHarness, world: World) -> None:
    """REQ-RUN-009, REQ-RUN-001: 201 with the session, camelCase, without what there is not."""
    made = desk.post(SESSIONS, {**GOOD, "filePaths": ["a.py"], "maxAttempts": 5, "agents": ["fixers"]})
    assert made.status == 201
    assert made.headers["location"] == f"/api/sessions/{made.json['id']}"
    assert desk.get(made.headers["location"]).json == made.json
    assert made.json == {
        "id": "s-0", "status": "queued", "repo": "octo/pocket", "task": "mend it", "iteration": 0, "maxAttempts": 3,
        "phases": dict.fromkeys(
            ["planning", "architecture", "design", "implementation", "validation", "review", "packaging"], "pending"
        ),
        "artifactRefs": {}, "changedPaths": [], "createdAt": "2026-11-21T12:00:00Z",
    }  # fmt: skip
    (asked,) = world.asked
    assert (asked.file_paths, asked.max_attempts, asked.agents) == (("a.py",), 5, ("fixers",))


def test_snake_case_asks_the_same(desk: SessionsHarness, world: World) -> None:
    """REQ-RUN-001: snake_case is accepted too."""
    camel = {"repo": "/r", "task": "t", "validationCommands": ["a"], "filePaths": ["b"], "maxAttempts": 2}
    snake = {"repo": "/r", "task": "t", "validation_commands": ["a"], "file_paths": ["b"], "max_attempts": 2}
    assert [desk.post(SESSIONS, body).status for body in (camel, snake)] == [201, 201]
    assert world.asked[0] == world.asked[1]


@pytest.mark.parametrize(
    ("field", "change"),
    [
        ("repo", {"repo": ""}), ("task", {"task": " "}), ("task", {"task": None}),
        ("filePaths", {"filePaths": ["a/../b"]}),
        ("testCommand", {"testCommand": ""}), ("testCommand", {"testCommand": 5}), ("agents", {"agents": "fixers"}),
        ("validationCommands", {"validationCommands": [5]}), ("maxAttempts", {"maxAttempts": True}),
        ("maxAttempts", {"max_attempts": 0}), ("filePath", {"filePath": []}),
        ("maxAttempts", {"maxAttempts": 3, "max_attempts": 4}), ("repo", {"repo": "/outside"}),
    ],
)  # fmt: skip
def test_a_wrong_field_is_422_and_nothing_is_started(
    desk: SessionsHarness, world: World, field: str, change: dict[str, Any]
) -> None:
    answer = desk.post(SESSIONS, {**GOOD, **change})
    assert answer.status == 422
    (problem,) = answer.json["problems"]
    assert set(problem) == {"field", "message"}
    assert problem["field"] == field
    assert answer.json["error"] == f"{field}: {problem['message']}"
    assert world.sessions == {}


def test_one_of_the_two_commands_is_required_and_the_answer_says_so(desk: SessionsHarness, world: World) -> None:
    """REQ-RUN-001: else a 422 that says so."""
    answer = desk.post(SESSIONS, {"repo": "/r", "task": "t", "validationCommands": []})
    assert answer.status == 422
    assert answer.json["problems"][0]["field"] == "testCommand"
    assert "`testCommand` or `validationCommands`" in answer.json["error"]


def test_what_only_the_machine_refuses_has_its_reason(desk: SessionsHarness, world: World) -> None:
    answer = desk.post(SESSIONS, {**GOOD, "repo": "/forbidden"})
    assert (answer.status, answer.json["reason"]) == (422, "outside_tree")
    assert "not for sessions" in answer.json["error"]


@pytest.mark.parametrize(
    ("body", "status"),
    [(b"", 400), (b"{", 400), (b"\xff", 400), (b'{"a": NaN}', 400), (b"[" * 200_000, 400), (b"1" * 5000, 400),
     (b'{"a": "\\', 400), (b"null", 422), (b"[]", 422), (b'"x"', 422), (b"5", 422),
     (b" " * (1024 * 1024) + b"{", 413), (b"{" * 5_000_000, 413)],
)  # fmt: skip
def test_a_body_that_is_no_object_of_json_is_told_so(
    desk: SessionsHarness, world: World, body: bytes, status: int
) -> None:
    answer = desk.post(SESSIONS, body)
    assert answer.status == status
    assert answer.json["error"]
    assert world.sessions == {}


@pytest.mark.parametrize("given", [None, "text/plain", "application/x-www-form-urlencoded", "application/jsonp", ""])
def test_another_content_type_is_415(desk: SessionsHarness, world: World, given: str | None) -> None:
    answer = desk.post(SESSIONS, GOOD, content_type=given)
    assert answer.status == 415
    assert "application/json" in answer.json["error"]
    assert desk.post(SESSIONS, GOOD, content_type="Application/JSON; charset=utf-8").status == 201


def test_a_body_in_chunks_is_counted_as_it_comes(desk: SessionsHarness, world: World) -> None:
    with socket.create_connection(("127.0.0.1", desk.port), timeout=PATIENCE_S) as client:
        client.sendall(_HEAD + b"Transfer-Encoding: chunked\r\n\r\n" + (b"10000\r\n" + b" " * 65536 + b"\r\n") * 17)
        assert client.recv(4096).startswith(b"HTTP/1.1 413 ")


def test_a_declared_length_that_is_too_much_is_refused_before_the_body_comes(
    desk: SessionsHarness, world: World
) -> None:
    with socket.create_connection(("127.0.0.1", desk.port), timeout=PATIENCE_S) as client:
        client.sendall(_HEAD + b"Content-Length: 1048577\r\n\r\n")
        assert client.recv(4096).startswith(b"HTTP/1.1 413 ")


def test_sessions_are_listed_newest_first_page_by_page(desk: SessionsHarness, world: World) -> None:
    for number in range(7):
        world.put("/r", f"task {number}")
    pages = [desk.get(f"{SESSIONS}?limit=3&offset={offset}").json for offset in (0, 3, 6, 9)]
    assert [[item["task"][-1] for item in page] for page in pages] == [["6", "5", "4"], ["3", "2", "1"], ["0"], []]
    assert len(desk.get(SESSIONS).json) == 7
    for field, query in (("limit", "limit=0"), ("limit", "limit=1001"), ("limit", "limit=x"), ("offset", "offset=-1")):
        answer = desk.get(f"{SESSIONS}?{query}")
        assert (answer.status, answer.json["problems"][0]["field"]) == (422, field)


@pytest.mark.parametrize("name", ["nope", "%00", "..", "%2e%2e%2fx", "x" * 5000, "%ff", "a%20b", "'--", "%F0%9F%92%A9"])
def test_what_is_not_there_is_404_in_json_on_every_route(desk: SessionsHarness, world: World, name: str) -> None:
    session = world.put("/r", "t").id
    for path in (name, f"{name}/events", f"{name}/artifacts", f"{name}/artifacts/x", f"{name}/logs/x",
                 f"{session}/artifacts/{name}", f"{session}/logs/{name}"):  # fmt: skip
        answer = desk.get(f"{SESSIONS}/{path}")
        assert answer.status == 404, path
        assert "there is no" in answer.json["error"]
    assert desk.post(f"{SESSIONS}/{name}/cancel").status == 404
    assert world.cancelled == []


def test_a_method_that_is_not_for_a_path_is_405_in_json(desk: SessionsHarness) -> None:
    for method, path in (("PUT", SESSIONS), ("DELETE", f"{SESSIONS}/s-0"), ("GET", f"{SESSIONS}/s-0/cancel")):
        answer = desk.ask(method, path)
        assert answer.status == 405
        assert answer.json["error"].startswith(f"{method} is not for this path")
        assert answer.headers["allow"] in answer.json["error"]


@pytest.mark.parametrize(
    ("path", "allowed"), [(SESSIONS, "GET, HEAD, POST"), (f"{SESSIONS}/s-0", "GET, HEAD"), (f"{SESSIONS}/s-0/x", "")]
)
def test_options_and_405_name_every_method_of_a_path(desk: SessionsHarness, path: str, allowed: str) -> None:
    asked, refused = desk.ask("OPTIONS", path), desk.ask("PUT", path)
    assert (asked.status, refused.status) == ((204, 405) if allowed else (404, 404))
    assert asked.headers.get("allow", "") == refused.headers.get("allow", "") == allowed


def test_artifacts_are_flat_as_the_seed_has_them(desk: SessionsHarness, world: World) -> None:
    """REQ-RUN-006: `id, sessionId, phase, iteration, createdAt, passed, summary, classification?, steps[]`."""
    session = world.put("/r", "t").id
    steps = [
        {"command": "npm test", "stage": "test", "passed": False, "exitCode": 1, "durationMs": 5, "output": "\ud800"}
    ]
    data = {"passed": False, "summary": "test failed", "classification": "test", "steps": steps, "id": "not this"}
    facts: dict[str, Any] = {"session_id": session, "phase": Phase.VALIDATION, "created_at": NOON}
    world.left.append(Artifact(id=f"{session}.validation.1", iteration=1, data=data, **facts))
    world.left.append(Artifact(id=f"{session}.validation.2", data={"passed": True, "classification": None}, **facts))
    first, second = desk.get(f"{SESSIONS}/{session}/artifacts").json
    assert first == {
        **data, "id": f"{session}.validation.1", "sessionId": session, "phase": "validation", "iteration": 1,
        "createdAt": "2026-11-21T12:00:00Z",
    }  # fmt: skip
    assert set(second) == {"id", "sessionId", "phase", "createdAt", "passed"}
    assert desk.get(f"{SESSIONS}/{session}/artifacts/{session}.validation.1").json == first


def test_a_log_is_shown_and_never_taken_for_a_page(desk: SessionsHarness, world: World) -> None:
    session = world.put("/r", "t").id
    world.logs[session, "1-0-lint.log"] = "<script>é".encode()
    shown = desk.get(f"{SESSIONS}/{session}/logs/1-0-lint.log")
    assert (shown.status, shown.text) == (200, "<script>é")
    assert shown.headers["content-type"] == "text/plain; charset=utf-8"
    assert shown.headers["x-content-type-options"] == "nosniff"
    assert "sandbox" in shown.headers["content-security-policy"]


def test_a_session_is_cancelled_once_and_an_ended_one_stays_as_it_is(desk: SessionsHarness, world: World) -> None:
    session = world.put("/r", "t").id
    for _ in range(2):
        answer = desk.post(f"{SESSIONS}/{session}/cancel", content_type=None)
        assert (answer.status, answer.json["status"]) == (200, "cancelled")
    assert world.cancelled == [session]
    done = world.put("/r", "t").id
    world.finish(done, Status.SUCCESS)
    assert desk.post(f"{SESSIONS}/{done}/cancel").json["status"] == "success"


def test_events_are_a_json_array_unless_a_stream_is_preferred(desk: SessionsHarness, world: World) -> None:
    session = world.put("/r", "t").id
    world.append(session, "session_started", "attempt_started")
    for accept in (None, "*/*", "application/json"):
        told = desk.get(f"{SESSIONS}/{session}/events", accept=accept)
        assert [event["type"] for event in told.json] == ["session_started", "attempt_started"]
        assert told.headers["vary"] == "Accept"
    assert desk.get(f"{SESSIONS}/{session}/events?after=1").json[0]["id"] == 2
    assert desk.ask("HEAD", f"{SESSIONS}/{session}/events", accept="text/event-stream").status == 200
    assert desk.streams.open == 0


def test_a_busy_store_is_503_and_says_when_to_come_back(desk: SessionsHarness, world: World) -> None:
    session = world.put("/r", "t").id
    world.busy = True
    answer = desk.get(f"{SESSIONS}/{session}")
    assert (answer.status, answer.headers["retry-after"]) == (503, "2")
    assert "locked" in answer.json["error"]


def test_worktrees_are_an_empty_list_where_there_are_none(desk: SessionsHarness) -> None:
    assert desk.get("/api/worktrees").json == []
    desk.trees.append({"path": "/trees/a", "branch": "fix/issue-1", "issues": [1], "repo": "octo/pocket"})
    assert desk.get("/api/worktrees").json == desk.trees
