"""A desktop whose variables bear the names of our settings' fields, with somebody's files in the home and a project."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from tests.forked_bot import ROOT, run_bot
from tests.machine import PATIENCE_S

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

    def run(self, run: Run, **more: str) -> subprocess.CompletedProcess[str]:
        """A command on this desk."""
        env, stdin = {**self.env, **more}, run.stdin.encode()
        done = run_bot(*run.argv, stdin=stdin, env=env, cwd=self.project, timeout=PATIENCE_S)
        return subprocess.CompletedProcess(run.argv, done.returncode, done.stdout.decode(), done.stderr.decode())

    def watched(self, run: Run, **more: str) -> subprocess.CompletedProcess[str]:
        """A command in an interpreter of its own, which notes what it touches."""
        return subprocess.run(
            [sys.executable, "-m", "bot", *run.argv],
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
