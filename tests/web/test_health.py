"""Whether it lives, whether it can work, and if not, what is missing."""

from __future__ import annotations

import pytest

from tests.web.conftest import Door


@pytest.mark.parametrize("path", ["/ping", "/healthz", "/api/health"])
def test_it_lives(door: Door, path: str) -> None:
    assert (door.get(path).status, door.get(path).json) == (200, {"status": "ok"})


def test_without_its_worker_it_is_not_ready_and_names_it(door: Door) -> None:
    answer = door.get("/readyz")
    assert answer.status == 503
    assert set(answer.json["missing"]) == {"worker"}
    assert "restart" in answer.json["missing"]["worker"]


def test_without_its_database_it_is_not_ready_and_names_it_too(door: Door, tmp_path_factory: object) -> None:
    file = door.home / "mendbot.db"
    aside = file.with_suffix(".aside")
    file.rename(aside)
    try:
        file.mkdir()
        missing = door.get("/readyz").json["missing"]
    finally:
        file.rmdir()
        aside.rename(file)
    assert "worker" in missing


def test_an_unknown_path_is_404(door: Door) -> None:
    assert door.get("/nowhere").status == 404
