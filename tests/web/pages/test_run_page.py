"""The page of one run (REQ-RUN-009, REQ-RUN-005, REQ-RUN-006)."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Iterator

import pytest

from bot.model import Status
from bot.model.events.runs import SessionFinished, SessionStarted
from bot.rules.runs.spec import RunSpec
from bot.store.runs.runs import Runs
from tests.web.conftest import Door
from tests.web.pages.client import Client
from tests.web.pages.stored_runs import fill_stories, issue_spec, story_events
from tests.web.session_world import Stream


@pytest.fixture(scope="module")
def door(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Door]:
    with Door(tmp_path_factory.mktemp("runs")) as door:
        asyncio.run(fill_stories(door.database, door.home))
        yield door


def test_the_page_of_a_run_shows_its_attempts_checks_and_proof(operator: Client) -> None:
    """REQ-RUN-009, REQ-RUN-006: with the timeline, the classification, the diff and the latest artifact."""
    text = operator.get("/runs/story").text
    for part in ("The total is wrong", "Attempt 1", "Attempt 2", "pytest -q", "E   assert 7 == 6", "proven",
                 'href="/runs/story/logs/1-0-test.log"', 'href="/runs/story/artifacts/story.validation.2"',
                 "<svg viewBox", "validation_command_failed",
                 'href="https://github.com/octo/pocket/issues/7"'):  # fmt: skip
        assert part in text, part
    assert '<span class="pill bad">test</span>' in text
    assert 'class="add"' in text and 'class="del"' in text
    assert "<script>alert" not in text and "&lt;script&gt;alert" in text
    assert "data-events" not in text, "it is over"
    assert 'action="/runs/story/cancel"' not in text


async def test_a_session_that_succeeded_in_a_directory_names_the_place_of_its_change(
    door: Door, operator: Client
) -> None:
    """REQ-RUN-009: nothing is committed there, so whoever looks for a commit finds none."""
    runs = Runs(door.database)
    for name, status in (("in-place", Status.SUCCESS), ("undone", Status.FAILED)):
        assert await runs.create(name, RunSpec(workspace="/srv/a", goal="Round up", agents=()))
        await runs.append(name, [SessionStarted(task=""), SessionFinished(status=status)])
    sentence = "The change is in the directory <code>/srv/a</code>. It is not committed."
    assert sentence in operator.get("/runs/in-place").text
    assert sentence not in operator.get("/runs/undone").text


def test_the_candidates_of_an_attempt_are_a_table_and_rows_of_the_timeline(operator: Client) -> None:
    """REQ-RUN-010: with the cost of each, and the one that was taken."""
    text = operator.get("/runs/story").text
    table = text.partition("Candidates of attempt 2")[2].partition("</table>")[0]
    for part in (
        "1 (taken)",
        "claude",
        "$0.25",
        'href="/runs/story/logs/attempt-2-c1.diff"',
        "codex",
        "no change",
        "unknown",
    ):
        assert part in table, part
    assert "Attempt 2: candidate 1</text>" in text, "its checks are a row of the timeline"


def test_a_run_under_way_is_followed_and_can_be_cancelled(operator: Client) -> None:
    text = operator.get("/runs/busy").text
    assert 'data-events="/runs/busy/events?after=' in text
    assert 'action="/runs/busy/cancel"' in text
    # the worker does not run here: the request came through to it
    assert operator.submit("/runs/busy", "/runs/busy/cancel").status == 503
    assert operator.post("/runs/busy/cancel", {}).status == 403


async def test_the_page_of_a_run_can_be_read_after_each_event(door: Door, operator: Client) -> None:
    runs = Runs(door.database)
    assert await runs.create("young", issue_spec(9, "It has just begun"))
    assert operator.get("/runs/young").status == 200
    for event in story_events():
        await runs.append("young", [event])
        assert operator.get("/runs/young").status == 200, event


async def test_an_internal_error_is_a_page_for_browsers_and_json_for_programs(door: Door, operator: Client) -> None:
    await Runs(door.database).create("broken", issue_spec(10, "Its row is damaged"))
    with sqlite3.connect(door.home / "mendbot.db") as database:
        database.execute("UPDATE runs SET spec = '[]' WHERE id = 'broken'")
    page = operator.get("/runs/broken")
    assert page.status == 500 and "log of the server" in page.text and "Traceback" not in page.text
    answer = door.get("/api/sessions/broken")
    assert answer.status == 500 and "log of the server" in answer.json["error"]


def test_the_page_of_a_pull_check_shows_each_failure_with_its_verdict(operator: Client) -> None:
    text = operator.get("/runs/checked").text
    for part in ("Add tax", "test_total", 'href="https://github.com/octo/pocket/pull/35"', "New", "failed"):
        assert part in text, part


@pytest.mark.parametrize(("run", "last"), [("story", b"session_finished"), ("checked", b"pull_finished")])
def test_the_events_of_a_page_are_streamed_from_where_it_was_rendered(
    door: Door, operator: Client, run: str, last: bytes
) -> None:
    cookie = "; ".join(f"{name}={value}" for name, value in operator.cookies.items())
    with Stream(door.port, f"/runs/{run}/events?after=0", {"Authorization": "", "Cookie": cookie}) as stream:
        messages = [message for message in stream.messages() if "id" in message]
    assert {message["event"] for message in messages} == {"run"}
    assert messages[-1]["data"] == last.decode()
    newest = int(messages[-1]["id"])
    with Stream(door.port, f"/runs/{run}/events?after={newest - 1}", {"Authorization": "", "Cookie": cookie}) as stream:
        assert stream.rest() == [newest]


def test_an_artifact_has_a_page(operator: Client) -> None:
    text = operator.get("/runs/story/artifacts/story.validation.2").text
    assert "all &lt;passed&gt;" in text and "<dt>passed</dt>" in text


@pytest.mark.parametrize(
    "path",
    ["/runs/none", "/runs/%2e%2e", "/runs/story/artifacts/none", "/runs/checked/artifacts/story.validation.2",
     "/runs/none/events", "/runs/story/logs/none.log", "/runs/story/logs/..%2Fx"],
)  # fmt: skip
def test_what_there_is_not_is_a_404(operator: Client, path: str) -> None:
    assert operator.get(path).status == 404
