"""The event stream: complete, in order, resumable at any point, and nobody's burden once its reader has gone."""

from __future__ import annotations

import asyncio
import json
import logging
import random
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.datastructures import Headers

from bot.model import Phase
from bot.web import viewers
from bot.web.stream import MAX_PERSON_STREAMS, wants_stream
from tests.machine import PATIENCE_S
from tests.web.pages.client import Client
from tests.web.people import served_people
from tests.web.session_world import TOKEN, SessionsHarness, Stored, Stream, World


@pytest.fixture(scope="module", params=[World, Stored])
def world(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    if request.param is World:
        yield World()
        return
    stored = Stored(tmp_path_factory.mktemp("stored"))
    yield stored
    stored.database.close()


NEVER_S = 3600.0


@pytest.fixture(scope="module")
def desk(world: World) -> Iterator[SessionsHarness]:
    with SessionsHarness(world, limit=8, heartbeat_s=0.3) as desk:
        yield desk


@pytest.fixture
def session(world: World) -> str:
    return world.put("octo/pocket", "mend it").id


def ids(world: World, session: str) -> list[int]:
    return [event.id for event in asyncio.run(world.events(session))]


def until(true: Callable[[], bool]) -> None:
    end = time.monotonic() + PATIENCE_S
    while not true():
        assert time.monotonic() < end
        time.sleep(0.01)


def test_an_ended_session_is_told_whole_and_the_stream_ends(desk: SessionsHarness, world: World, session: str) -> None:
    """REQ-RUN-007: ids, types and data of every event, in order."""
    world.append(session, "session_started")
    world.append(session, "tests_failed", phase=Phase.VALIDATION, iteration=2, classification="lint", summary="ü\n")
    world.finish(session)
    with desk.stream(session) as stream:
        assert stream.status == 200
        assert stream.headers["content-type"].partition(";")[0] == "text/event-stream"
        assert stream.headers["cache-control"] == "no-cache"
        assert stream.headers["x-accel-buffering"] == "no"
        messages = list(stream.messages())
    assert [message["event"] for message in messages] == ["session_started", "tests_failed", "session_finished"]
    assert [int(message["id"]) for message in messages] == ids(world, session)
    told = [json.loads(message["data"]) for message in messages]
    assert told == desk.get(f"/api/sessions/{session}/events").json
    assert told[1] | {"ts": ""} == {
        "id": ids(world, session)[1], "type": "tests_failed", "ts": "", "phase": "validation", "iteration": 2,
        "classification": "lint", "data": {"summary": "ü\n"},
    }  # fmt: skip
    assert set(told[0]) == {"id", "type", "ts", "data"}


def test_events_arrive_as_they_happen(world: World, session: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(world, "poll_s", NEVER_S)  # so that only the bell can have told
    with SessionsHarness(world, heartbeat_s=NEVER_S) as desk, desk.stream(session) as stream:
        for _ in range(5):
            world.append(session, "attempt_started")
            assert stream.take(1) == ids(world, session)[-1:]
        world.finish(session)
        assert stream.rest() == ids(world, session)[-1:]


def test_at_whatever_point_it_broke_the_rest_follows_once_and_in_order(
    desk: SessionsHarness, world: World, session: str
) -> None:
    """REQ-RUN-007: resumable by `Last-Event-ID`, also while events are being added."""
    luck = random.Random(7)

    def write() -> None:
        for number in range(60):
            world.append(session, *["attempt_started", "changes_applied"][: 1 + number % 2])
        world.finish(session)

    writer = threading.Thread(target=write)
    writer.start()
    seen: list[int] = []
    while True:
        with desk.stream(session, "?after=0", Last_Event_ID=str(seen[-1] if seen else 0)) as stream:
            if stream.status == 204:
                break
            wanted = luck.randint(1, 9)
            for message in stream.messages():
                if "id" in message:
                    seen.append(int(message["id"]))
                    if (wanted := wanted - 1) == 0:
                        break
    writer.join()
    assert len(seen) == 91
    assert seen == ids(world, session)


def test_every_point_of_an_ended_session_can_be_resumed(desk: SessionsHarness, world: World, session: str) -> None:
    world.append(session, *["attempt_started"] * 6)
    world.finish(session)
    all_ids = ids(world, session)
    for place, last in enumerate(all_ids[:-1]):
        for query, header in (("", {"Last_Event_ID": str(last)}), (f"?lastEventId={last}", {}), (f"?after={last}", {})):
            with desk.stream(session, query, **header) as stream:
                assert stream.rest() == all_ids[place + 1 :]
        assert [e["id"] for e in desk.get(f"/api/sessions/{session}/events?after={last}").json] == all_ids[place + 1 :]
    with desk.stream(session, f"?after={all_ids[4]}", Last_Event_ID=str(all_ids[1])) as stream:
        assert stream.rest() == all_ids[2:]  # the header is newer: a browser reconnects to the address it had


def test_nothing_left_of_an_ended_session_tells_the_client_to_stop_reconnecting(
    desk: SessionsHarness, world: World, session: str
) -> None:
    world.finish(session)
    with desk.stream(session, Last_Event_ID=str(ids(world, session)[-1])) as stream:
        assert stream.status == 204


def test_a_quiet_stream_is_kept_alive_by_comments(desk: SessionsHarness, world: World, session: str) -> None:
    with desk.stream(session) as stream:
        comments = [next(stream.messages()) for _ in range(3)]
        world.finish(session)
        assert len(stream.rest()) == 1
    assert all("id" not in comment for comment in comments)


@pytest.mark.parametrize("last", ["x", "-1", "1.5", "9" * 19, "9" * 40, "1_0"])
def test_a_last_id_that_is_none_is_422_and_names_where_it_stood(desk: SessionsHarness, session: str, last: str) -> None:
    with desk.stream(session, Last_Event_ID=last) as stream:
        assert stream.status == 422
    for name in ("after", "lastEventId"):
        answer = desk.get(f"/api/sessions/{session}/events?{name}={last}")
        assert answer.status == 422
        assert answer.json["problems"][0]["field"] == name


def test_a_reader_that_goes_away_frees_its_place_at_once_and_leaves_no_traceback(
    desk: SessionsHarness, world: World, session: str, caplog: pytest.LogCaptureFixture
) -> None:
    until(lambda: desk.streams.open == 0)
    with caplog.at_level(logging.WARNING):
        readers = [desk.stream(session) for _ in range(8)]
        until(lambda: desk.streams.open == 8)
        with desk.stream(session) as refused:
            assert refused.status == 503
            assert refused.headers["retry-after"] == "5"
        assert desk.get(f"/api/sessions/{session}/events").status == 200
        for reader in readers:
            with reader:
                pass
        until(lambda: desk.streams.open == 0)
        world.append(session, "attempt_started")
    assert caplog.records == []


def test_a_reader_that_takes_nothing_hinders_no_other(desk: SessionsHarness, world: World, session: str) -> None:
    with socket.create_connection(("127.0.0.1", desk.port)) as stalled:
        stalled.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        path = f"/api/sessions/{session}/events"
        lines = (
            f"GET {path} HTTP/1.1",
            "Host: localhost",
            "Accept: text/event-stream",
            f"Authorization: Bearer {TOKEN}",
        )
        stalled.sendall("\r\n".join((*lines, "", "")).encode())
        assert stalled.recv(12) == b"HTTP/1.1 200"
        with desk.stream(session) as stream:
            for _ in range(20):
                world.append(session, "changes_applied", note="x" * 500_000)
                assert stream.take(1) == ids(world, session)[-1:]
            world.finish(session)
            assert len(stream.rest()) == 1
    until(lambda: desk.streams.open == 0)


def test_what_another_process_writes_is_seen_soon(tmp_path: Path) -> None:
    world = Stored(tmp_path)
    session = world.put("octo/pocket", "t").id
    world.silent = True
    with SessionsHarness(world, heartbeat_s=NEVER_S) as desk, desk.stream(session) as stream:
        world.append(session, "session_started")
        assert len(stream.take(1)) == 1
        world.finish(session)
        assert len(stream.rest()) == 1
    world.database.close()


def test_a_server_that_stops_ends_its_streams_in_order(caplog: pytest.LogCaptureFixture) -> None:
    world = World()
    session = world.put("octo/pocket", "t").id
    with (
        caplog.at_level(logging.WARNING),
        SessionsHarness(world, heartbeat_s=NEVER_S) as desk,
        desk.stream(session) as stream,
    ):
        until(lambda: desk.streams.open == 1)
        desk.streams.close()
        assert stream.rest() == []
    assert caplog.records == []


def test_a_store_that_is_busy_ends_the_stream_with_a_word_and_loses_nothing() -> None:
    world = World()
    session = world.put("octo/pocket", "t").id
    world.append(session, "session_started")
    with SessionsHarness(world) as desk:
        with desk.stream(session) as stream:
            assert stream.take(1) == [1]
            world.busy = True
            world.append(session, "attempt_started")
            (comment,) = stream.messages()
        assert "locked" in comment[""]
        world.busy = False
        world.finish(session)
        with desk.stream(session, Last_Event_ID="1") as stream:
            assert stream.rest() == [2, 3]


def test_a_person_has_some_streams_and_each_ends_after_a_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """T46: their browser connects again, and only then is it known whether they may still follow the run."""
    monkeypatch.setattr(viewers, "STREAM_S", 0.5)
    with served_people(tmp_path) as (door, _):
        browser = Client(door.port)
        browser.sign_in_as("reader")
        known = {"Authorization": "", "Cookie": "; ".join(f"{name}={value}" for name, value in browser.cookies.items())}
        for path in ("/runs/busy/events", "/api/sessions/busy/events"):
            with Stream(door.port, path, known) as stream:
                assert [int(message["id"]) for message in stream.messages() if "id" in message]
        monkeypatch.setattr(viewers, "STREAM_S", NEVER_S)
        with ExitStack() as stack:
            opened = [
                stack.enter_context(Stream(door.port, "/runs/busy/events", known))
                for _ in range(MAX_PERSON_STREAMS + 1)
            ]
            assert [stream.status for stream in opened] == [200] * MAX_PERSON_STREAMS + [503]
            operators = stack.enter_context(Stream(door.port, "/api/sessions/busy/events", {}))
            assert operators.status == 200


@pytest.mark.parametrize(
    ("accept", "stream"),
    [
        ("", False), ("*/*", False), ("application/json", False), ("text/html", False), ("text/event-stream", True),
        ("text/event-stream, */*", True), ("TEXT/Event-Stream;charset=utf-8", True), ("text/*", True),
        ("application/json, text/event-stream", False), ("text/event-stream, application/json", True),
        ("text/event-stream;q=0.5, application/json", False), ("text/event-stream, application/json;q=0.9", True),
        ("text/event-stream;q=0", False), ("text/event-stream;q=0, */*", False),
        ("*/*;q=0.1, text/event-stream;q=x", False), ("application/*, text/event-stream;q=0.2", False),
    ],
)  # fmt: skip
def test_a_stream_is_given_to_those_who_prefer_it(accept: str, stream: bool) -> None:
    assert wants_stream(Headers({"accept": accept})) is stream
    assert wants_stream(Headers({})) is False


@given(st.text(st.characters(codec="latin-1")))
def test_no_accept_header_is_too_strange(accept: str) -> None:
    wants_stream(Headers({"accept": accept}))
    wants_stream(Headers({"accept": f"text/event-stream;q={accept}"}))
