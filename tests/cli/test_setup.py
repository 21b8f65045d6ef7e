"""`mendbot setup` shows a form, waits for the browser to return, and stores the credentials of the App."""

from __future__ import annotations

import html
import json
import os
import re
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from bot.app.created_app import APP_FILE
from bot.cli import main
from demo.standin.server import StandIn
from tests.machine import PATIENCE_S


@pytest.fixture
def github(tmp_path: Path) -> Iterator[StandIn]:
    with StandIn(tmp_path / "github", webhook_url=None, webhook_secret="w" * 32) as standin:
        yield standin


def get(url: str) -> tuple[int, str]:
    try:
        with urllib.request.urlopen(url, timeout=PATIENCE_S) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()


def test_an_app_is_made_in_the_browser_and_its_credentials_are_stored(github: StandIn, tmp_path: Path) -> None:
    home = tmp_path / "home"
    env = {
        **{name: value for name, value in os.environ.items() if name in ("PATH", "HOME", "LANG")},
        "MENDBOT_HOME": str(home),
        "MENDBOT_GITHUB_API_URL": github.api_url,
        "MENDBOT_GITHUB_URL": github.url,
    }
    argv = [sys.executable, "-m", "bot", "setup", "--url", "https://mendbot.acme.org"]
    with subprocess.Popen(argv, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as command:
        try:
            assert command.stderr is not None and command.stdout is not None
            found = re.search(r"http://127\.0\.0\.1:\d+", command.stderr.readline())
            assert found is not None
            address = found[0]
            status, page = get(address + "/")
            assert status == 200 and "w" * 32 not in page
            manifest = json.loads(html.unescape(re.findall(r'name="manifest" value="([^"]*)"', page)[0]))
            action = html.unescape(re.findall(r'action="([^"]*)"', page)[0])
            assert action.startswith(f"{github.url}/settings/apps/new?state=")
            code = github.world.submit_manifest(manifest, github.private_key_pem)
            assert get(f"{manifest['redirect_url']}?code={code}&state=forged")[0] == 400
            state = action.partition("state=")[2]
            status, page = get(f"{manifest['redirect_url']}?code={code}&state={state}")
            assert status == 200 and "/installations/new" in page and "PRIVATE KEY" not in page
            assert command.wait(PATIENCE_S) == 0
            out = command.stdout.read()
        finally:
            command.kill()
    assert str(home / APP_FILE) in out and "/installations/new" in out and "PRIVATE KEY" not in out
    assert f'APP_ID="{github.app_id}"' in (home / APP_FILE).read_text()


def test_it_needs_an_address_and_overwrites_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("MENDBOT_HOME", str(tmp_path))
    monkeypatch.delenv("MENDBOT_PUBLIC_URL", raising=False)
    assert main(["setup"]) == 2
    assert "--url" in capsys.readouterr().err
    (tmp_path / APP_FILE).write_text("mine")
    assert main(["setup", "--url", "https://a.example"]) == 2
    assert "already" in capsys.readouterr().err
    assert (tmp_path / APP_FILE).read_text() == "mine"
