"""`mendbot serve` on a machine without an App: its pages work, deliveries are refused, and `/setup` creates the App."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from html import unescape
from pathlib import Path
from typing import NamedTuple
from urllib.parse import parse_qs, urlsplit

import pytest

from demo.standin.server import StandIn
from tests.forked_bot import run_bot
from tests.machine import PATIENCE_S, kept_port
from tests.web.pages.client import Client

GOOD = {"task": "do it", "testCommand": "true", "maxAttempts": 1, "agents": ["command:true"]}


class Fresh(NamedTuple):
    github: StandIn
    process: subprocess.Popen[bytes]
    browser: Client
    root: Path

    def eventually(self, path: str, status: int) -> str:
        """The text at this path, once it answers with this status."""
        deadline = time.monotonic() + PATIENCE_S
        while time.monotonic() < deadline:
            assert self.process.poll() is None, (self.root / "log").read_text()
            try:
                answer = self.browser.get(path)
            except OSError:
                answer = None
            if answer is not None and answer.status == status:
                return answer.text
            time.sleep(0.05)
        raise AssertionError((self.root / "log").read_text())


def environment(root: Path, github: StandIn, port: int) -> dict[str, str]:
    inherited = {name: os.environ[name] for name in ("PATH", "HOME", "PYTHONPATH") if name in os.environ}
    own = {"MENDBOT_HOME": str(root / "home"), "PORT": str(port), "MENDBOT_PUBLIC_URL": f"http://127.0.0.1:{port}",
           "MENDBOT_ALLOW_ROOT": "1", "MENDBOT_GITHUB_URL": github.url, "MENDBOT_GITHUB_API_URL": github.api_url,
           "MENDBOT_WORKSPACE_ROOTS": str(root)}  # fmt: skip
    return {**inherited, **own}


@pytest.fixture
def fresh(tmp_path: Path) -> Iterator[Fresh]:
    port = kept_port()
    with StandIn(tmp_path / "github", webhook_url=None, webhook_secret="w" * 40) as github:
        with (tmp_path / "log").open("wb") as log:
            argv = [sys.executable, "-m", "bot", "serve"]
            process = subprocess.Popen(argv, env=environment(tmp_path, github, port), stdout=log, stderr=log)
        try:
            fresh = Fresh(github, process, Client(port), tmp_path)
            fresh.eventually("/healthz", 200)
            yield fresh
            process.send_signal(signal.SIGTERM)
            assert process.wait(PATIENCE_S) == 0, (tmp_path / "log").read_text()
        finally:
            process.kill()
            process.wait()


def test_a_new_server_is_set_up_in_the_browser(fresh: Fresh) -> None:
    """Its log names the page and the token, and once GitHub has made the App the same process works with it."""
    browser, home = fresh.browser, fresh.root / "home"
    log = (fresh.root / "log").read_text()
    assert f"http://127.0.0.1:{browser.port}/setup" in log and str(home / "admin-token") in log
    assert json.loads(fresh.eventually("/readyz", 503))["missing"].keys() == {"app"}
    refused = browser.post_json("/api/github/webhooks", {})
    assert refused.status == 401 and "no GitHub App yet" in refused.json["error"]
    assert browser.sign_in((home / "admin-token").read_text()).status == 303
    assert "no GitHub App yet" in browser.get("/setup").text
    assert 'create one on the page <a href="/setup">/setup</a>' in browser.get("/").text

    page = browser.submit("/setup", "/setup/app", name="Mine", organization="").text
    manifest = json.loads(unescape(re.findall(r'name="manifest" value="([^"]*)"', page)[0]))
    state = parse_qs(urlsplit(unescape(re.findall(r'action="([^"]*settings/apps[^"]*)"', page)[0])).query)["state"][0]
    code = fresh.github.world.submit_manifest(manifest, fresh.github.private_key_pem)
    made = browser.get(f"{urlsplit(manifest['redirect_url']).path}?code={code}&state={state}")
    assert made.status == 200 and "restarts" in made.text

    assert json.loads(fresh.eventually("/readyz", 200))["status"] == "ready"
    assert "restarting" in (fresh.root / "log").read_text()
    assert "The App exists, and the key fits" in browser.get("/setup").text  # the same session
    assert "Sign in with GitHub" in Client(browser.port).get("/login").text
    refused = browser.post_json("/api/github/webhooks", {})
    assert "X-Hub-Signature-256" in refused.json["error"]


def test_a_session_in_a_directory_needs_no_app(fresh: Fresh) -> None:
    (fresh.root / "tree").mkdir()
    fresh.browser.sign_in((fresh.root / "home" / "admin-token").read_text())
    token = fresh.browser.form_token()
    request = {**GOOD, "repo": str(fresh.root / "tree")}
    started = fresh.browser.post_json("/api/sessions", request, X_CSRF_Token=token)
    assert started.status == 201, started.text
    deadline = time.monotonic() + PATIENCE_S
    while "endedAt" not in (session := json.loads(fresh.eventually(started.headers["location"], 200))):
        assert time.monotonic() < deadline, session
        time.sleep(0.05)
    on_github = fresh.browser.post_json("/api/sessions", {**GOOD, "repo": "octo/a"}, X_CSRF_Token=token)
    assert on_github.status == 422 and on_github.json["problems"][0]["field"] == "repo"
    assert "no GitHub App yet: create one on the page /setup" in on_github.text
    # with a part of an App, the rest was forgotten: nothing starts
    env = environment(fresh.root / "other", fresh.github, kept_port())
    done = run_bot("serve", env={**env, "APP_ID": "1", "MENDBOT_WORKSPACE_ROOTS": ""}, timeout=PATIENCE_S)
    assert done.returncode == 2 and b"WEBHOOK_SECRET" in done.stderr
