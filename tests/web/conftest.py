"""The web face with its real parts: the app's routes on a real server in a thread, a real database in a directory of
the test's own. Only the worker does not run, so that every delivery stays as the door stored it."""

from __future__ import annotations

import hmac
import http.client
import json
import sqlite3
import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from bot.app.server import web
from bot.app.worker import Worker
from bot.config import Settings
from bot.store.database.database import Database
from bot.web.server import bind, server
from bot.web.stream import Streams
from demo.standin.server import StandIn
from tests.machine import PATIENCE_S

SECRET = "door-secret-0123456789-abcdefghijk"
OLD_SECRET = "old-secret-ZYXWVUTSRQPONMLKJIHGFEDC"
APP_ID = "1234"
HOOKS = "/api/github/webhooks"
TOKEN = "admin-token-0123456789"


@dataclass(frozen=True)
class Answer:
    status: int
    headers: Mapping[str, str]
    text: str

    @property
    def json(self) -> Any:
        return json.loads(self.text)


def sign(body: bytes, secret: str = SECRET) -> str:
    return "sha256=" + hmac.new(secret.encode(), body, sha256).hexdigest()


def headers_for(body: bytes, guid: str = "guid-1", **changed: str | None) -> dict[str, str]:
    """What GitHub sends with a body; `changed` replaces headers (`_` for `-`), None leaves one out."""
    headers: dict[str, str | None] = {
        "Content-Type": "application/json",
        "X-GitHub-Event": "issues",
        "X-GitHub-Delivery": guid,
        "X-GitHub-Hook-Installation-Target-ID": APP_ID,
        "X-Hub-Signature-256": sign(body),
    }
    known = {name.lower(): name for name in headers}
    for name, value in changed.items():
        plain = name.replace("_", "-").lower()
        headers[known.get(plain, plain)] = value
    return {name: value for name, value in headers.items() if value is not None}


def sign_in_settings(github: StandIn, origin: str) -> dict[str, Any]:
    """The settings of a server at that origin, to which people sign in with the stand-in."""
    github.world.allow_callback(f"{origin}/sign-in/github/callback")
    return {
        "github_url": github.url,
        "github_api_url": github.api_url,
        "github_client_id": github.client_id,
        "github_client_secret": github.client_secret,
        "public_url": origin,
    }


class Door:
    """The server; `post` delivers, `get` has the token, `rows` looks into the database file itself."""

    def __init__(self, home: Path, github: StandIn | None = None) -> None:
        """With `github`, people can sign in."""
        self.home = home
        self._listener = bind("127.0.0.1", 0)
        self.port = self._listener.getsockname()[1]
        known: dict[str, Any] = {"app_id": APP_ID, "webhook_secret": f"{SECRET}, {OLD_SECRET}", "admin_token": TOKEN}
        if github is not None:
            known |= sign_in_settings(github, f"http://127.0.0.1:{self.port}")
        settings = Settings(home=home, **known)
        self.database = Database(f"sqlite:///{home / 'mendbot.db'}")
        self.database.migrate()
        streams = Streams()
        self.app = web(settings, self.database, Worker(settings, self.database), streams)
        self._server = server(self.app, streams.close)
        self._thread = threading.Thread(target=self._server.run, kwargs={"sockets": [self._listener]}, daemon=True)

    def __enter__(self) -> Door:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.should_exit = True
        self._thread.join(PATIENCE_S)
        self._listener.close()
        self.database.close()

    def post(self, body: bytes, headers: Mapping[str, str] | None = None, path: str = HOOKS) -> Answer:
        return self.request("POST", path, body, headers_for(body) if headers is None else headers)

    def get(self, path: str, **headers: str | None) -> Answer:
        """None leaves a header out, the token's too."""
        known = {"Authorization": f"Bearer {TOKEN}", **headers}
        return self.request("GET", path, None, {name: value for name, value in known.items() if value is not None})

    def request(self, method: str, path: str, body: bytes | None, headers: Mapping[str, str]) -> Answer:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE_S)
        try:
            connection.request(method, path, body, dict(headers))
            answer = connection.getresponse()
            return Answer(answer.status, {k.lower(): v for k, v in answer.getheaders()}, answer.read().decode())
        finally:
            connection.close()

    def rows(self) -> list[tuple[str, str, str]]:
        """(id, event, status) of every stored delivery."""
        with sqlite3.connect(f"file:{self.home / 'mendbot.db'}?mode=ro", uri=True) as database:
            return database.execute("SELECT id, event, status FROM deliveries ORDER BY received_at, id").fetchall()

    def mark(self, guid: str, status: str) -> None:
        with sqlite3.connect(self.home / "mendbot.db", timeout=PATIENCE_S) as database:
            database.execute("UPDATE deliveries SET status = ? WHERE id = ?", (status, guid))

    def forget(self) -> None:
        with sqlite3.connect(self.home / "mendbot.db", timeout=PATIENCE_S) as database:
            database.execute("DELETE FROM deliveries")


@pytest.fixture(scope="module")
def _open_door(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Door]:
    with Door(tmp_path_factory.mktemp("door")) as door:
        yield door


@pytest.fixture
def door(_open_door: Door) -> Door:
    """An empty one; the server behind it serves all tests of a module, since starting it costs more than most."""
    _open_door.forget()
    return _open_door
