"""Every command on a desktop whose variables bear the names of our settings' fields: only the contract's names count.

Somebody's files lie where a home of ours would have its own; none is read, changed or deleted."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from bot.cli import app
from demo.bot_process import bot_environment
from demo.standin.server import StandIn
from tests.desk import Desk, Run
from tests.machine import PATIENCE_S, kept_port

SECRET = "desk-secret-0123456789-abcdefghij"
ISSUES = json.dumps([{"number": 1, "title": "It breaks", "body": None, "labels": []}])
EDIT = json.dumps({"tool_name": "Edit", "tool_input": {"file_path": "/p/a.py"}, "session_id": "s"})
FAILED = {"hook_event_name": "PostToolUseFailure", "tool_name": "Bash", "session_id": "s", "error": "boom"}
LINE = json.dumps({"error": "boom", "resolution": {"how": "so"}, "lastUsed": "2026-01-01T00:00:00Z"})
RUNS = {
    "check": Run(("check", ".", "--check", "test")),
    "fix": Run(("fix", "--repo", ".", "--task", "t", "--validation-command", "true", "--agent", "command:true"), 1),
    "group": Run(("group", "--by", "label"), stdin=ISSUES),
    "worktree create": Run(("worktree", "create", "--issue", "7")),
    "worktree cleanup": Run(("worktree", "cleanup", "--issue", "9")),
    "worktree list": Run(("worktree", "list")),
    "hook install": Run(("hook", "install", ".")),
    "hook pre-tool": Run(("hook", "pre-tool"), stdin=EDIT),
    "hook post-tool": Run(("hook", "post-tool"), stdin=json.dumps(FAILED)),
    "history": Run(("history", "a.py"), 1),
    "history record": Run(("history", "record", "--error", "boom", "--how", "so")),
    "history export": Run(("history", "export")),
    "history trial": Run(("history", "trial")),
    "history import": Run(("history", "import", "-"), stdin=LINE),
    "doctor": Run(("doctor",), 1),
    "init": Run(("init", "--dry-run")),
    "mcp": Run(("mcp",)),
    "agent check": Run(("agent", "check", "claude"), 1),
    "setup": Run(("setup",), 2),
    "completion": Run(("completion", "bash")),
    "relay": Run(("relay", "nowhere"), 2),
    "replay": Run(("replay", "unknown"), 2),
    "config check": Run(("config", "check")),
    "config schema": Run(("config", "schema")),
}
OF_THEIR_OWN = {"serve"}
"""Commands that have tests of their own below."""


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


def test_every_command_is_tried() -> None:
    """The hooks have an entry of their own, before the command line is read."""
    known = set()
    for name in app:
        if not name.startswith("-"):
            inner = [part for part in app[name] if not part.startswith("-")]
            known |= {f"{name} {part}" for part in inner} or {name}
    assert known | {"history", "hook pre-tool", "hook post-tool"} == RUNS.keys() | OF_THEIR_OWN


@pytest.mark.parametrize("name", RUNS)
def test_a_command_goes_by_the_contracts_variables_alone(desk: Desk, name: str) -> None:
    done = desk.watched(RUNS[name])
    assert done.returncode == RUNS[name].code, done.stderr
    assert "Traceback" not in done.stderr
    desk.assert_untouched()


def test_a_setting_in_other_letters_is_none(desk: Desk) -> None:
    spoilt = desk.run(RUNS["history"], MENDBOT_LANGUAGE="fr")
    assert (spoilt.returncode, "MENDBOT_LANGUAGE" in spoilt.stderr) == (2, True)
    assert desk.run(RUNS["history"], Mendbot_Language="fr", mendbot_home="/dev/null").returncode == 1


@pytest.mark.parametrize("value", ["0", "-1", "63", "6 GB"])
def test_a_limit_of_memory_in_which_nothing_can_run_is_refused(desk: Desk, value: str) -> None:
    done = desk.run(RUNS["history"], MENDBOT_CHECK_MEMORY_MB=value)
    assert done.returncode == 2
    assert "MENDBOT_CHECK_MEMORY_MB: Input should be " in done.stderr


def test_all_wrong_values_are_named_at_once(desk: Desk) -> None:
    done = desk.run(RUNS["history"], MENDBOT_WORKERS="banana", MENDBOT_LANGUAGE="fr", MENDBOT_QUIET_SECONDS="-1")
    assert done.returncode == 2
    assert all(name in done.stderr for name in ("MENDBOT_WORKERS", "MENDBOT_LANGUAGE", "MENDBOT_QUIET_SECONDS"))


def test_an_empty_variable_is_one_that_is_not_set(desk: Desk) -> None:
    done = desk.run(RUNS["history record"], MENDBOT_HOME="", MENDBOT_WORKERS="", MENDBOT_LANGUAGE="")
    assert done.returncode == 0, done.stderr
    assert (desk.home / ".local" / "share" / "mendbot" / "mendbot.db").is_file()


def test_a_relative_data_directory_is_ignored_by_the_hook_too(desk: Desk) -> None:
    """XDG's own rule; else each directory would have a database of its own."""
    home = {"XDG_DATA_HOME": "data", "MENDBOT_LANGUAGE": "ko"}
    assert desk.watched(Run(("history", "record", "--error", "boom in a.py", "--how", "so")), **home).returncode == 0
    assert "boom in a.py" in desk.watched(RUNS["hook pre-tool"], **home).stdout
    assert not (desk.project / "data").exists()
    desk.assert_untouched()


@pytest.fixture
def serving(desk: Desk, tmp_path: Path) -> Iterator[list[subprocess.Popen[bytes]]]:
    """A server on that desk; it has GitHub's stand-in, so that no test talks with GitHub."""
    with StandIn(tmp_path / "github", webhook_url=None, webhook_secret=SECRET) as github:
        wanted = bot_environment(github, tmp_path / "unused", kept_port())
        wanted = {name: value for name, value in wanted.items() if name not in {*os.environ, "MENDBOT_HOME"}}
        desk.env |= wanted
        started: list[subprocess.Popen[bytes]] = []
        yield started
        for process in started:
            process.kill()
            process.wait()


def test_serving_twice_touches_nothing_of_somebodys(
    desk: Desk, serving: list[subprocess.Popen[bytes]], tmp_path: Path
) -> None:
    for _ in range(2):
        with (tmp_path / "log").open("ab") as log:
            process = subprocess.Popen([sys.executable, "-m", "bot", "serve"], env=desk.env, stdout=log, stderr=log)
        serving.append(process)
        deadline = time.monotonic() + PATIENCE_S
        while not is_ready(desk.env["PORT"]):
            assert process.poll() is None and time.monotonic() < deadline, (tmp_path / "log").read_text()
            time.sleep(0.05)
        process.send_signal(signal.SIGTERM)
        assert process.wait(PATIENCE_S) == 0
    assert (desk.home / ".local" / "share" / "mendbot" / "mendbot.db").is_file()
    desk.assert_untouched()


def is_ready(port: str) -> bool:
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/readyz", timeout=PATIENCE_S) as answer:
            return answer.status == 200
    except OSError:
        return False


@pytest.mark.parametrize(
    "port", ["tcp://10.0.0.1:3000", *(pytest.param(port, marks=pytest.mark.soak) for port in ("x", "-1", "70000"))]
)
def test_serve_alone_judges_the_port_and_not_where_it_is_given(
    desk: Desk, serving: list[subprocess.Popen[bytes]], port: str
) -> None:
    refused = desk.watched(Run(("serve",)), PORT=port)
    assert (refused.returncode, refused.stderr.count("\n")) == (2, 1), refused.stderr
    assert "PORT" in refused.stderr
    given = desk.run(Run(("serve", "--port", "70001")), PORT=port)
    assert (given.returncode, "70001" in given.stderr) == (2, True), given.stderr
    desk.assert_untouched()
