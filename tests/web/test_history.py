"""The error history over HTTP: one of two questions, a list for an answer, and a sentence for anything else."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Iterator
from http.client import HTTPConnection
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from starlette.applications import Starlette
from starlette.routing import Route

from bot.model import Resolution
from bot.store.database.database import Database
from bot.store.history.history import History
from bot.web.api import Guard
from bot.web.history import history
from bot.web.server import bind, server
from tests.machine import PATIENCE_S
from tests.web.conftest import TOKEN


@pytest.fixture(scope="module")
def port(tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    """A server of this one route, as the app has it, with twelve errors of `a.py`."""
    where: Path = tmp_path_factory.mktemp("history")
    database = Database(f"sqlite:///{where / 'mendbot.db'}")
    database.migrate()
    for number in range(12):
        resolution = Resolution(resolved_by="ada", how=f"how {number}", patch="--- a\n")
        asyncio.run(History(database).record(f"src/a.py:3: boom {number}", resolution))
    guarded = Guard(TOKEN).read(history(History(database)))
    serving = server(Starlette(routes=[Route("/api/history", guarded)]))
    listener = bind("127.0.0.1", 0)
    thread = threading.Thread(target=serving.run, kwargs={"sockets": [listener]}, daemon=True)
    thread.start()
    yield listener.getsockname()[1]
    serving.should_exit = True
    thread.join(10)
    listener.close()
    database.close()


def get(port: int, query: str) -> tuple[int, Any]:
    connection = HTTPConnection("127.0.0.1", port, timeout=PATIENCE_S)
    try:
        connection.request("GET", f"/api/history{query}", headers={"Authorization": f"Bearer {TOKEN}"})
        answer = connection.getresponse()
        return answer.status, json.loads(answer.read())
    finally:
        connection.close()


def test_a_files_errors_are_listed_as_the_command_does(port: int) -> None:
    status, listed = get(port, "?file=lib/a.py")
    assert (status, len(listed)) == (200, 10)
    assert listed[0]["resolution"]["resolvedBy"] == "ada"
    assert {"error", "useCount", "lastUsed", "shown", "passed", "exact", "id"} < set(listed[0])
    assert get(port, "?file=b.py") == (200, [])


def test_an_errors_resolution_is_found_by_its_text(port: int) -> None:
    status, (known,) = get(port, "?error=" + quote("a/a.py:99: boom 70"))
    assert (status, known["exact"], known["resolution"]["how"]) == (200, False, "how 11")
    _, (known,) = get(port, "?error=" + quote("a/a.py:99: boom 7"))
    assert (known["exact"], known["resolution"]["how"]) == (True, "how 7")
    assert get(port, "?error=nothing") == (200, [])


@pytest.mark.parametrize(("limit", "count"), [("1", 1), ("12", 12), ("100", 12)])
def test_the_list_is_as_long_as_asked(port: int, limit: str, count: int) -> None:
    assert len(get(port, f"?file=a.py&limit={limit}")[1]) == count


@pytest.mark.parametrize("query", ["", "?file=", "?error=", "?file=&error=", "?file=a.py&error=x", "?other=a.py"])
def test_one_question_at_a_time(port: int, query: str) -> None:
    status, answer = get(port, query)
    assert status == 422
    assert "?file=" in answer["error"] and "?error=" in answer["error"]


@pytest.mark.parametrize("limit", ["0", "101", "-1", "x", "1.5", "", "9" * 5_000, "%00"])
def test_a_bad_limit_is_422_and_named(port: int, limit: str) -> None:
    status, answer = get(port, f"?file=a.py&limit={limit}")
    assert status == 422
    assert "limit" in answer["error"]


@pytest.mark.parametrize("value", ["%", "%25", "%00", "_.py", "%ff%fe", "x" * 50_000, "..%2F..%2Fetc%2Fpasswd", "%27"])
@pytest.mark.parametrize("name", ["file", "error"])
def test_hostile_questions_find_nothing(port: int, name: str, value: str) -> None:
    assert get(port, f"?{name}={value}") == (200, [])
