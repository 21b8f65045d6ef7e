"""The app's own wiring: its routes show what its store holds, to those who may see it."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime

import pytest
import sqlalchemy as sa

from bot.model import Artifact, Issue, Phase, Repo, Status, Validation
from bot.model.events.runs import ArtifactCreated, SessionFinished, SessionStarted
from bot.model.reasons import ExplainedStop
from bot.rules.reasons import quoted
from bot.rules.runs.spec import RunSpec
from bot.store.runs.runs import Runs
from bot.workspace.checks.logs import write_log
from tests.machine import PATIENCE_S
from tests.web.conftest import TOKEN, Door
from tests.web.session_world import Stream

NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)


@pytest.fixture(scope="module")
def door(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Door]:
    """With one run of GitHub's and two of somebody's own trees, the last of which has ended."""
    with Door(tmp_path_factory.mktemp("served")) as door:
        asyncio.run(_fill(door))
        write_log(door.home, "run-1", "1-0-lint.log", b"all of it")
        yield door


async def _fill(door: Door) -> None:
    runs = Runs(door.database)
    on_github = RunSpec(
        repo=Repo(owner="octo", name="pocket", installation_id=1),
        issues=(Issue(number=7, title="It breaks"),),
        suggested_branch="fix/issue-7",
        base_branch="main",
        agents=("fixers",),
    )
    orders = {"run-1": on_github, "run-2": RunSpec(workspace="/srv/a", goal="mend it", agents=(), max_attempts=1)}
    orders["run-3"] = RunSpec(workspace="/srv/b", goal="mend that", agents=())
    for name, order in orders.items():
        assert await runs.create(name, order)
        await runs.append(name, [SessionStarted(task="")])
    validation = Validation(passed=False, summary="lint failed", classification="lint")
    made = Artifact(
        id="run-1.validation.1",
        session_id="run-1",
        phase=Phase.VALIDATION,
        iteration=1,
        created_at=NOON,
        data=validation.model_dump(mode="json", by_alias=True),
    )
    created = ArtifactCreated(phase=Phase.VALIDATION, iteration=1, artifact=made.id)
    await runs.append("run-1", [created], [made])
    stop = ExplainedStop(reason="max_iterations", details=quoted("1/1"))
    ended = SessionFinished(status=Status.FAILED, stop=stop)
    await runs.append("run-3", [ended])


def test_sessions_are_what_the_store_holds(door: Door) -> None:
    """REQ-RUN-006: the session shows the latest validation's id."""
    listed = {item["id"]: item for item in door.get("/api/sessions").json}
    assert {name: item["repo"] for name, item in listed.items()} == {
        "run-1": "octo/pocket", "run-2": "/srv/a", "run-3": "/srv/b",
    }  # fmt: skip
    assert listed["run-1"] == door.get("/api/sessions/run-1").json
    assert listed["run-1"]["artifactRefs"] == {"validation": "run-1.validation.1"}
    assert (listed["run-2"]["task"], listed["run-2"]["maxAttempts"]) == ("mend it", 1)
    assert (listed["run-3"]["status"], listed["run-3"]["stopReason"]["reason"]) == ("failed", "max_iterations")
    assert "stopReason" not in listed["run-2"]
    assert len(door.get("/api/sessions?limit=2&offset=1").json) == 2


def test_what_a_session_left_is_shown(door: Door) -> None:
    (artifact,) = door.get("/api/sessions/run-1/artifacts").json
    assert artifact["classification"] == "lint"
    assert artifact == door.get("/api/sessions/run-1/artifacts/run-1.validation.1").json
    assert door.get("/api/sessions/run-2/artifacts/run-1.validation.1").status == 404
    assert door.get("/api/sessions/run-1/logs/1-0-lint.log").text == "all of it"
    for name in ("..", ".", "%2e%2e", "1-0-lint", "..%2f..%2fmendbot.db", "%2fetc%2fpasswd", ".1-0-lint.log.partial"):
        assert door.get(f"/api/sessions/run-1/logs/{name}").status == 404


def test_events_are_an_array_or_a_stream_of_the_same(door: Door) -> None:
    """REQ-RUN-007: stored, and streamed with their ids."""
    told = door.get("/api/sessions/run-3/events").json
    assert [event["type"] for event in told] == ["session_started", "session_finished"]
    with Stream(door.port, "/api/sessions/run-3/events", {}) as stream:
        assert [json.loads(message["data"]) for message in stream.messages()] == told
    with Stream(door.port, "/api/sessions/run-3/events", {"Last-Event-ID": str(told[0]["id"])}) as stream:
        assert stream.rest() == [told[1]["id"]]


def test_worktrees_are_none_and_unknown_paths_are_told_in_json(door: Door) -> None:
    assert door.get("/api/worktrees").json == []
    assert door.get("/api/nothing").json == {"error": "there is nothing at this path"}


OF_RUN_1 = ("", "/events", "/artifacts", "/logs/1-0-lint.log")
READS = (
    *(f"/api/sessions/run-1{part}" for part in OF_RUN_1),
    *("/api/sessions", "/api/worktrees", "/api/deliveries", "/api/history?file=a"),
)
FROM = ({}, {"Host": "127.0.0.1"}, {"Host": "localhost"}, {"Host": "evil.example"}, {"X-Forwarded-For": "10.0.0.1"})


@pytest.mark.parametrize("path", READS)
def test_reads_want_the_token_wherever_they_come_from(door: Door, path: str) -> None:
    for headers in FROM:
        refused = door.get(path, Authorization=None, **headers)
        assert (refused.status, refused.headers["www-authenticate"]) == (401, "Bearer")
        assert "MENDBOT_HOME/admin-token" in refused.json["error"]
        assert door.get(path, **headers).status == 200


@pytest.mark.parametrize("path", ["/api/sessions", "/api/sessions/run-1/cancel"])
def test_writes_want_the_token_wherever_they_come_from(door: Door, path: str) -> None:
    for headers in FROM:
        sent = {"Content-Type": "application/json", **headers}
        assert door.request("POST", path, b"{}", sent).status == 401
        wrong = {**sent, "Authorization": f"Bearer {TOKEN[:-1]}"}
        assert door.request("POST", path, b"{}", wrong).status == 401


@pytest.mark.parametrize("path", ["/ping", "/healthz", "/readyz", "/api/health"])
def test_whether_it_lives_is_open_to_all(door: Door, path: str) -> None:
    """Without a worker it is not ready, and says so."""
    assert door.get(path, Authorization=None, Host="evil.example").status == (503 if path == "/readyz" else 200)


def test_reads_answer_while_a_writer_holds_its_transaction(door: Door) -> None:
    """Also those of the deliveries that are being refused: their list waits for no write of its own."""
    reached, go_on = threading.Event(), threading.Event()

    def write(connection: sa.Connection) -> None:
        connection.execute(sa.text("UPDATE deliveries SET because = 'held'"))
        reached.set()
        go_on.wait(PATIENCE_S)

    with ThreadPoolExecutor(1) as pool:
        writing = pool.submit(lambda: asyncio.run(door.database.write(write)))
        try:
            assert reached.wait(PATIENCE_S)
            assert door.post(b"{}", {}).status == 401
            assert [door.get(path).status for path in (*READS, "/api/deliveries?refused=1")] == [200] * (len(READS) + 1)
            assert not writing.done()
        finally:
            go_on.set()
