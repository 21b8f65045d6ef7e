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
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from bot.cli import app
from demo.bot_process import bot_environment
from demo.standin.server import StandIn
from tests.machine import PATIENCE_S, kept_port

ROOT = Path(__file__).parents[2]
SECRET = "desk-secret-0123456789-abcdefghij"
NAMES_OF_FIELDS = {
    "LANG": "en_US.UTF-8",
    "LANGUAGE": "en_US:en",
    "USER": "somebody",
    "SANDBOX": "1",
    "PORT": "tcp://10.0.0.1:3000",
    "ADMIN_TOKEN": "somebodys",
    "WORKERS": "many",
    "AGENTS": "wizard",
    "MAX_WORKTREES": "none",
    "QUIET_SECONDS": "soon",
    "DATABASE_URL": "postgres://somebody@db.example/app",
    "GITHUB_URL": "ftp://example.org",
    "ALLOW_ROOT": "perhaps",
    "app_id": "one",
    "Port": "x",
    "log_level": "loud",
    "mendbot_language": "fr",
    "Mendbot_Workers": "0",
}
"""As desktops, containers and other programs set them, or in letters that are not the contract's."""
SOMEBODYS = ("kits/k", "artifacts/a", "sessions/s", "worktrees/o/n/r/t", "pulls/o/n/r/t", "mirrors/o/n.git")
WATCH = """
import os, sys
home, own = os.environ["HOME"], os.environ["HOME"] + "/.local/share/mendbot"
log = os.open({log!r}, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
events = ("open", "os.listdir", "os.scandir", "os.remove", "os.rename", "os.mkdir", "os.rmdir", "sqlite3.connect")
def watch(event, args):
    if event in events and isinstance(args[0], (str, bytes)):
        path = os.fsdecode(args[0]).removeprefix("file:")
        if path.startswith(home + "/") and not (path + "/").startswith(own):
            if not own.startswith(path + "/"):  # the way to it
                os.write(log, f"{{event}} {{path}}\\n".encode())
sys.addaudithook(watch)
"""
"""In the command's own interpreter: what it touches in somebody's home beyond our data directory."""


@dataclass(frozen=True)
class Run:
    argv: tuple[str, ...]
    code: int = 0
    stdin: str = ""


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
    "history import": Run(("history", "import", "-"), stdin=LINE),
    "config check": Run(("config", "check")),
    "config schema": Run(("config", "schema")),
}
OF_THEIR_OWN = {"serve"}
"""Commands that have tests of their own below."""


def git(where: Path, *args: str) -> None:
    identity = ["-c", "user.name=t", "-c", "user.email=t@example.org"]
    subprocess.run(["git", *identity, *args], cwd=where, check=True, capture_output=True)


class Desk:
    """Somebody's home, full of files, and a project beside it."""

    def __init__(self, root: Path) -> None:
        self.home, self.project, self._log = root / "somebody", root / "project", root / "touched"
        (self.home / ".local" / "share").mkdir(parents=True)
        for name in SOMEBODYS:
            (self.home / name).mkdir(parents=True)
            (self.home / name / "precious").write_text(name)
            os.utime(self.home / name, (1, 1))  # old enough to be forgotten
        for name in ("admin-token", "serve.lock", "mendbot.yml"):
            (self.home / name).write_text("mine")
        (root / "watch").mkdir()
        (root / "watch" / "sitecustomize.py").write_text(WATCH.format(log=str(self._log)))
        self._log.touch()
        (self.project / ".github").mkdir(parents=True)
        (self.project / ".github" / "mendbot.yml").write_text("checks: {test: {command: 'true'}}\n")
        git(self.project, "init", "-q", "-b", "main")
        git(self.project, "add", "-A")
        git(self.project, "commit", "-q", "-m", "first")
        self.env = {
            **NAMES_OF_FIELDS,
            "PATH": os.environ["PATH"],
            "HOME": str(self.home),
            "PYTHONPATH": os.pathsep.join([str(root / "watch"), str(ROOT)]),
        }
        self._before = self._seen()

    def run(self, run: Run, module: str = "bot", **more: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", module, *run.argv],
            env={**self.env, **more},
            input=run.stdin,
            capture_output=True,
            text=True,
            cwd=self.project,
            timeout=PATIENCE_S,
        )

    def _seen(self) -> Mapping[str, tuple[bytes, int]]:
        own = self.home / ".local" / "share"
        paths = (path for path in self.home.rglob("*") if own not in (path, *path.parents))
        return {str(path): (path.read_bytes() if path.is_file() else b"", path.lstat().st_mtime_ns) for path in paths}

    def assert_untouched(self) -> None:
        assert self._seen() == self._before
        assert {path.name for path in (self.home / ".local" / "share").iterdir()} <= {"mendbot"}
        assert self._log.read_text() == ""


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
    done = desk.run(RUNS[name])
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
    assert desk.run(Run(("history", "record", "--error", "boom in a.py", "--how", "so")), **home).returncode == 0
    assert "boom in a.py" in desk.run(RUNS["hook pre-tool"], **home).stdout
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
    refused = desk.run(Run(("serve",)), PORT=port)
    assert (refused.returncode, refused.stderr.count("\n")) == (2, 1), refused.stderr
    assert "PORT" in refused.stderr
    given = desk.run(Run(("serve", "--port", "70001")), PORT=port)
    assert (given.returncode, "70001" in given.stderr) == (2, True), given.stderr
    desk.assert_untouched()


def test_the_demo_touches_nothing_of_somebodys(desk: Desk) -> None:
    done = desk.run(Run(()), "demo")
    assert done.returncode == 0, done.stdout + done.stderr
    desk.assert_untouched()
