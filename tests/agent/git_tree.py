"""A repository with files of every kind, for tests of patches that git makes."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path


def git(tree: Path, *arguments: str) -> str:
    env = {"PATH": os.environ["PATH"], "HOME": str(tree), "GIT_CONFIG_NOSYSTEM": "1"}
    named = ("git", "-c", "user.name=a", "-c", "user.email=a@b.c", "-c", "core.autocrlf=false", *arguments)
    return subprocess.run(named, cwd=tree, env=env, check=True, capture_output=True).stdout.decode("utf-8", "replace")


def files_of(tree: Path) -> dict[str, tuple[bytes, bool]]:
    """What each file holds, and whether it is executable."""
    found = (path for path in tree.rglob("*") if path.is_file() and ".git" not in path.parts)
    return {str(path.relative_to(tree)): (path.read_bytes(), os.access(path, os.X_OK)) for path in found}


def make_tree(tree: Path, odd: str) -> Path:
    """`odd` is the name of a file with CRLF in a directory with a space."""
    (tree / "sub dir").mkdir(parents=True)
    (tree / "a.c").write_bytes(b"boom\n")
    (tree / "sub dir" / odd).write_bytes(b"".join(b"line %d\r\n" % number for number in range(40)))
    (tree / "gone.txt").write_bytes(b"old\nno end")
    (tree / "empty").touch()
    (tree / "run.sh").write_bytes(b"#!/bin/sh\n")
    git(tree, "init", "-q")
    git(tree, "add", "-A")
    git(tree, "commit", "-qm", "x")
    return tree
