"""The wheel holds all that the commands and the server read: what it unpacks to works without the checkout."""

from __future__ import annotations

import os
import subprocess
import sys
import time
import urllib.request
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from hatchling.builders.wheel import WheelBuilder

from tests.machine import PATIENCE_S, kept_port

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The environment in which `python -m bot` is what the wheel holds."""
    place = tmp_path_factory.mktemp("wheel")
    wheel = next(WheelBuilder(str(ROOT)).build(directory=str(place), versions=["standard"]))
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(place / "site")
    root = {"MENDBOT_ALLOW_ROOT": "1"} if os.geteuid() == 0 else {}
    path = {name: os.environ[name] for name in ("PATH", "HOME")}
    return {**path, **root, "PYTHONPATH": str(place / "site"), "MENDBOT_HOME": str(place / "home")}


def bot(env: dict[str, str], *args: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-P", "-m", "bot", *args]
    home = env["PYTHONPATH"]
    return subprocess.run(
        command, env=env, cwd=home, input=stdin, capture_output=True, text=True, timeout=PATIENCE_S, check=True
    )


def test_it_is_what_the_wheel_holds_that_runs(installed: dict[str, str]) -> None:
    where = bot(installed, "--version")
    code = "import bot; print(bot.__file__)"
    found = subprocess.run([sys.executable, "-P", "-c", code], env=installed, capture_output=True, text=True)
    assert (where.returncode, found.stdout.startswith(installed["PYTHONPATH"])) == (0, True)


@pytest.mark.parametrize(
    ("args", "stdin", "printed"),
    [
        (("--help",), "", "worktree"),
        (("config", "schema"), "", "max_attempts"),
        (("history", "record", "--error", "boom", "--how", "so", "--json"), "", '{"id": 1}'),
        (("check", str(ROOT), "--plan"), "", "pytest"),
        (("mcp",), "", ""),
    ],
)
def test_commands_find_their_files(installed: dict[str, str], args: tuple[str, ...], stdin: str, printed: str) -> None:
    """Catalogs, the schema, the migrations and the pins of the tools are inside."""
    assert printed in bot(installed, *args, stdin=stdin).stdout


@pytest.fixture
def server(installed: dict[str, str]) -> Iterator[str]:
    port = kept_port()
    command = [sys.executable, "-P", "-m", "bot", "serve", "--port", str(port)]
    with subprocess.Popen(command, env=installed, cwd=installed["PYTHONPATH"]) as process:
        try:
            deadline = time.monotonic() + PATIENCE_S
            while not answers(f"http://127.0.0.1:{port}/healthz"):
                assert process.poll() is None and time.monotonic() < deadline
                time.sleep(0.05)
            yield f"http://127.0.0.1:{port}"
        finally:
            process.terminate()


def answers(url: str) -> bool:
    try:
        with urllib.request.urlopen(url, timeout=PATIENCE_S) as answer:
            return answer.status == 200
    except OSError:
        return False


def test_the_server_starts_without_an_app_and_shows_a_page_with_its_style(server: str) -> None:
    """Templates and static files are inside."""
    with urllib.request.urlopen(f"{server}/login", timeout=PATIENCE_S) as page:
        text = page.read().decode()
    (style,) = [part.split('"')[0] for part in text.split('href="') if ".css" in part.split('"')[0]]
    assert "<form" in text and answers(f"{server}{style}")
