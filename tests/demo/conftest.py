"""A stand-in of one's own for each test, a client that holds every exchange against GitHub's description, and a
receiver of webhooks. All of it is real: real HTTP, real git, real signatures."""

from __future__ import annotations

import base64
import hashlib
import hmac
import http.server
import json
import subprocess
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx2
import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import rsa

from demo.standin import StandIn, World
from tests.machine import PATIENCE_S
from tests.oracle.openapi import rest_oracle

REPO = "octo/hello"
SECRET = "a webhook secret of well over thirty-two characters"


def app_jwt(
    standin: StandIn,
    *,
    issued: float = -60,
    expires: float = 540,
    issuer: str | None = None,
    key: rsa.RSAPrivateKey | None = None,
) -> str:
    """The App's JWT; `issued` and `expires` in seconds from now, `key` another one than the App's."""
    now = int(time.time())
    claims = {"iss": issuer or str(standin.app_id), "iat": int(now + issued), "exp": int(now + expires)}
    return jwt.encode(claims, key or standin.private_key_pem, "RS256")


@dataclass
class Api:
    """Sends as the bot would. With `judged`, what GitHub's description does not allow fails the test."""

    standin: StandIn
    token: str
    judged: bool = True
    client: httpx2.Client = field(default_factory=lambda: httpx2.Client(verify=False))

    def __call__(self, method: str, path: str, body: object = None, *, judge_request: bool = True) -> httpx2.Response:
        headers = {"Authorization": f"Bearer {self.token}", "Accept": "application/vnd.github+json"}
        content = None if body is None else json.dumps(body).encode()
        url = path if path.startswith("http") else f"{self.standin.api_url}{path}"
        answer = self.client.request(method, url, headers=headers, content=content)
        if self.judged:
            described = url.removeprefix(self.standin.api_url)
            found = rest_oracle().check_response(
                method, described, answer.status_code, json.loads(answer.content) if answer.content else None
            )
            if judge_request:
                found += rest_oracle().check_request(method, described, body=body)
            assert not found, f"{method} {described} -> {answer.status_code}: {found}"
        return answer

    def ok(self, method: str, path: str, body: object = None) -> Any:
        """The JSON of an answer that must be 2xx."""
        answer = self(method, path, body)
        assert answer.is_success, f"{method} {path} -> {answer.status_code} {answer.text}"
        return json.loads(answer.content) if answer.content else None


@dataclass
class Received:
    event: str
    headers: dict[str, str]
    body: bytes

    @property
    def payload(self) -> Any:
        return json.loads(self.body)

    @property
    def name(self) -> str:
        return f"{self.event}.{self.payload['action']}" if "action" in self.payload else self.event

    @property
    def signed(self) -> bool:
        mac = hmac.new(SECRET.encode(), self.body, hashlib.sha256).hexdigest()
        return self.headers["x-hub-signature-256"] == f"sha256={mac}"


@dataclass
class Receiver:
    """Takes webhooks; `status` is what it answers."""

    url: str = ""
    status: int = 202
    received: list[Received] = field(default_factory=list)

    @property
    def names(self) -> list[str]:
        return [one.name for one in self.received]

    def last(self, name: str) -> Any:
        return next(one.payload for one in reversed(self.received) if one.name == name)


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    inbox = Receiver()

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            headers = {name.lower(): value for name, value in self.headers.items()}
            inbox.received.append(Received(headers["x-github-event"], headers, body))
            self.send_response(inbox.status)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *args: object) -> None:
            """Say nothing."""

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    inbox.url = f"http://127.0.0.1:{server.server_port}/api/github/webhooks"
    yield inbox
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.fixture
def standin(tmp_path: Path, receiver: Receiver) -> Iterator[StandIn]:
    """One repository, `octo/hello`, in which `ann` may write and issue 1 is open."""
    with StandIn(tmp_path / "github", webhook_url=receiver.url, webhook_secret=SECRET) as running:
        world = running.world
        world.create_repo(REPO, {"README.md": "# Hello\n", "src/app.py": "x = 1\n"})
        world.set_permission(REPO, "ann", "write")
        world.create_issue(REPO, "It is broken", "See `src/app.py`.", "bob", ["bug"])
        yield running


@pytest.fixture
def world(standin: StandIn) -> World:
    return standin.world


@pytest.fixture
def app(standin: StandIn) -> Api:
    """Asks as the App itself."""
    return Api(standin, app_jwt(standin))


@pytest.fixture
def api(standin: StandIn) -> Api:
    """Asks as the installation, with all it was granted."""
    return Api(standin, standin.world.new_token(REPO))


GIT_ENV = {
    "PATH": "/usr/local/bin:/usr/bin:/bin",
    "HOME": "/nonexistent",
    "LC_ALL": "C",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_TERMINAL_PROMPT": "0",
    **{f"GIT_{role}_{part}": "ann@example.org" for role in ("AUTHOR", "COMMITTER") for part in ("NAME", "EMAIL")},
}


def git(where: Path, *args: str, token: str | None = None) -> subprocess.CompletedProcess[str]:
    """Real git, with the token as the bot gives it: in the environment of this one child (T24)."""
    env = dict(GIT_ENV)
    if token:
        basic = base64.b64encode(f"x-access-token:{token}".encode()).decode()
        env |= {
            "GIT_CONFIG_COUNT": "1",
            "GIT_CONFIG_KEY_0": "http.extraheader",
            "GIT_CONFIG_VALUE_0": f"Authorization: Basic {basic}",
        }
    return subprocess.run(
        ["git", *args], cwd=where, env=env, capture_output=True, text=True, timeout=PATIENCE_S, check=False
    )
