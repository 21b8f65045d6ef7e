"""Real repositories for the tests of this room, made with plain git and a scrubbed environment."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

ENV = {
    "PATH": os.environ["PATH"],
    "HOME": "/nonexistent",
    "LC_ALL": "C",
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_AUTHOR_NAME": "A",
    "GIT_AUTHOR_EMAIL": "a@example.org",
    "GIT_COMMITTER_NAME": "A",
    "GIT_COMMITTER_EMAIL": "a@example.org",
}

HOSTILE_NAMES = (
    "-x",
    "--upload-pack=touch${IFS}CANARY",
    "--exec=touch CANARY",
    "$(touch CANARY)",
    "`touch CANARY`",
    "a'b",
    '"; touch CANARY; "',
    "|touch CANARY",
    'zzz";echo${IFS}"hello";#',
    "a\nb",
    "a b",
    "../../etc/passwd",
    "refs/../x",
    "@{-1}",
    "x:y",
    "ext::sh -c 'touch CANARY'",
    "",
)


def plain(*args: str, cwd: Path, check: bool = True, stdin: str | None = None) -> str:
    """git as a person would run it."""
    done = subprocess.run(["git", *args], cwd=cwd, env=ENV, input=stdin, capture_output=True, text=True, check=False)
    assert done.returncode == 0 or not check, done.stderr
    return done.stdout.strip()


def make_repo(path: Path, files: dict[str, str] | None = None) -> Path:
    """A checkout on `main` with one commit."""
    path.mkdir(parents=True)
    plain("init", "-q", "-b", "main", cwd=path)
    for name, text in (files or {"a.txt": "one\n", "src/b.py": "x = 1\n", ".gitignore": "*.log\n"}).items():
        target = path / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text)
    plain("add", "-A", cwd=path)
    plain("commit", "-q", "-m", "first", cwd=path)
    return path


def make_bare(path: Path, source: Path) -> Path:
    plain("clone", "-q", "--bare", str(source), str(path), cwd=source)
    return path


def executable(path: Path, canary: Path) -> Path:
    """A program that leaves a trace."""
    path.write_text(f"#!/bin/sh\necho $0 >> '{canary}'\ncat\nexit 0\n")
    path.chmod(0o755)
    return path
