"""The repository that commands work in."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.commands import git

CHECK = "import sys; sys.exit(0 if open('answer').read() == '42' else print('answer:1: error: wrong') or 1)"


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    """A repository whose committed policy checks that `answer` is 42."""
    where = tmp_path / "repo"
    (where / ".github").mkdir(parents=True)
    (where / "answer").write_text("42")
    (where / "check.py").write_text(CHECK)
    (where / ".github" / "mendbot.yml").write_text("checks: {test: {command: python3 check.py}}\n")
    git(where, "init", "-q", "-b", "main")
    git(where, "add", "-A")
    git(where, "commit", "-q", "-m", "first")
    return where
