"""Whether it lives, whether it can work, and if not, what is missing."""

from __future__ import annotations

import json

import pytest
from starlette.requests import Request

from bot.web.health import Probe, readiness
from tests.web.conftest import Door


@pytest.mark.parametrize("path", ["/ping", "/healthz", "/api/health"])
def test_it_lives(door: Door, path: str) -> None:
    assert (door.get(path).status, door.get(path).json) == (200, {"status": "ok"})


def test_without_its_worker_it_is_not_ready_and_names_it(door: Door) -> None:
    answer = door.get("/readyz")
    assert answer.status == 503
    assert set(answer.json["missing"]) == {"worker"}
    assert "restart" in answer.json["missing"]["worker"]


async def test_everything_that_is_missing_is_named_at_once_and_what_is_there_is_not() -> None:
    async def fine() -> str | None:
        return None

    async def gone() -> str | None:
        return "it is gone: bring it back"

    async def ask(**probes: Probe) -> tuple[int, object]:
        answer = await readiness(probes)(Request({"type": "http"}))
        return answer.status_code, json.loads(answer.body)

    missing = {"disk": "it is gone: bring it back", "database": "it is gone: bring it back"}
    assert await ask(disk=gone, worker=fine, database=gone) == (503, {"status": "not ready", "missing": missing})
    assert await ask(worker=fine) == (200, {"status": "ready"})


async def test_what_was_seen_of_github_is_shown_and_makes_nothing_unready() -> None:
    async def fine() -> str | None:
        return None

    seen = {"github": "does not answer", "app": "not asked yet"}
    answer = await readiness({"worker": fine}, lambda: seen)(Request({"type": "http"}))
    assert answer.status_code == 200
    assert json.loads(answer.body) == {"status": "ready", **seen}


def test_github_is_shown_before_it_was_asked(door: Door) -> None:
    answer = door.get("/readyz", Authorization=None).json
    assert (answer["github"], answer["app"]) == ("not asked yet", "not asked yet")


def test_an_unknown_path_is_404(door: Door) -> None:
    assert door.get("/nowhere").status == 404
