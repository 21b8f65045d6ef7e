"""Runs a command of Mendbot or git as a process."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from tests.forked_bot import run_bot


def mendbot(*args: str, stdin: str = "", cwd: Path | None = None, **more: str) -> subprocess.CompletedProcess[str]:
    env = {"PATH": os.environ["PATH"], "HOME": os.environ["HOME"], **more}
    done = run_bot(*args, stdin=stdin.encode(), env=env, cwd=cwd or Path(__file__).parents[2], timeout=60)
    return subprocess.CompletedProcess(args, done.returncode, done.stdout.decode(), done.stderr.decode())


def git(where: Path, *args: str) -> None:
    identity = ["-c", "user.name=t", "-c", "user.email=t@example.org"]
    subprocess.run(["git", *identity, *args], cwd=where, check=True, capture_output=True)
