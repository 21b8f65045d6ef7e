"""A receiver and a worker share a Postgres: what the one has stored the other works on, also after a restart."""

from __future__ import annotations

import http.client
import json
from pathlib import Path

from demo.standin.server import StandIn
from tests.e2e.processes import wait_until
from tests.e2e.server import Server
from tests.machine import PATIENCE_S


def _server(github: StandIn, root: Path, role: str, url: str) -> Server:
    root.mkdir()
    server = Server(github, root, MENDBOT_DATABASE_URL=url, MENDBOT_SANDBOX="none")
    server.args = ["serve", "--role", role, "--port", str(server.port)]
    return server


def _status(server: Server, guid: str) -> str:
    _, rows = server.get("/api/deliveries")
    assert isinstance(rows, list)
    return next((row["status"] for row in rows if row["delivery"] == guid), "")


def _start_session(server: Server) -> tuple[int, str]:
    headers = {"Authorization": f"Bearer {server.token}", "Content-Type": "application/json"}
    asked = json.dumps({"repo": "octo/tiny", "task": "fix it", "testCommand": "true"})
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=PATIENCE_S)
    try:
        connection.request("POST", "/api/sessions", asked, headers)
        answer = connection.getresponse()
        return answer.status, answer.read().decode()
    finally:
        connection.close()


def test_a_receiver_stores_and_a_worker_works(github: StandIn, tmp_path: Path, postgres_url: str) -> None:
    receiver = _server(github, tmp_path / "receiver", "receiver", postgres_url).start()
    worker = _server(github, tmp_path / "worker", "worker", postgres_url)
    try:
        payload = json.dumps({"zen": "Keep it logically awesome.", "hook_id": 1}).encode()
        assert receiver.deliver("ping", payload, "first") == (202, "accepted")
        assert _status(receiver, "first") == "accepted"
        assert receiver.get("/readyz")[0] == 200
        status, error = _start_session(receiver)
        assert status == 503 and "--role worker" in error
        worker.start()
        wait_until(lambda: _status(receiver, "first") in ("done", "ignored"), PATIENCE_S)
        assert receiver.deliver("ping", payload, "second") == (202, "accepted")
        wait_until(lambda: _status(receiver, "second") in ("done", "ignored"), PATIENCE_S)
    finally:
        receiver.stop()
        worker.stop()
