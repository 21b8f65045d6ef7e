"""`mendbot replay` against a running server: stored deliveries by their id, and recorded payloads from files."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from bot.cli import main
from tests.web.conftest import OLD_SECRET, SECRET, Door, headers_for

BODY = b'{"action": "labeled"}'


@pytest.fixture(scope="module")
def _server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Door]:
    with Door(tmp_path_factory.mktemp("replayed")) as door:
        yield door


@pytest.fixture
def server(_server: Door, monkeypatch: pytest.MonkeyPatch) -> Door:
    """An empty server, whose home, port and secret the environment names."""
    _server.forget()
    monkeypatch.setenv("MENDBOT_HOME", str(_server.home))
    monkeypatch.setenv("PORT", str(_server.port))
    monkeypatch.setenv("WEBHOOK_SECRET", f"{SECRET},{OLD_SECRET}")
    return _server


def test_a_stored_delivery_is_delivered_again_under_a_new_id(server: Door, capsys: pytest.CaptureFixture[str]) -> None:
    server.post(BODY, headers_for(BODY, "first"))
    server.mark("first", "ignored")
    assert main(["replay", "first", "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert (answer["httpStatus"], answer["status"]) == (202, "accepted")
    assert server.rows() == [("first", "issues", "ignored"), (answer["delivery"], "issues", "accepted")]


@pytest.mark.parametrize("path", ["", "/", "/webhook", "/api/github/webhooks"])
def test_a_recorded_payload_is_delivered_from_its_file(server: Door, tmp_path: Path, path: str) -> None:
    file = tmp_path / "payload.json"
    file.write_bytes(BODY)
    url = f"http://127.0.0.1:{server.port}{path}"
    assert main(["replay", str(file), "--event", "issue_comment", "--url", url]) == 0
    assert [row[1:] for row in server.rows()] == [("issue_comment", "accepted")]


def test_a_wrong_secret_is_exit_code_1_with_the_servers_reason(
    server: Door, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "payload.json"
    file.write_bytes(BODY)
    monkeypatch.setenv("WEBHOOK_SECRET", "another-secret-0123456789-abcdefghi")
    assert main(["replay", str(file), "--event", "issues"]) == 1
    assert "401" in (out := capsys.readouterr().out) and "WEBHOOK_SECRET" in out
    assert server.rows() == []


def test_what_cannot_be_replayed_is_bad_input(
    server: Door, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "payload.json"
    file.write_bytes(BODY)
    tried = {
        "no stored delivery": ["replay", "nobodys"],
        "--event": ["replay", str(file)],
        "no such file": ["replay", "./missing.json", "--event", "issues"],
        "mendbot serve": ["replay", str(file), "--event", "issues", "--url", "http://127.0.0.1:1"],
    }
    for expected, args in tried.items():
        assert main(args) == 2
        assert expected in capsys.readouterr().err
    monkeypatch.delenv("WEBHOOK_SECRET")
    assert main(["replay", str(file), "--event", "issues"]) == 2
    assert "WEBHOOK_SECRET" in capsys.readouterr().err
