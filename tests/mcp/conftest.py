"""The repository that tools work in: its committed policy checks that `answer` is 42."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.conftest import repo

__all__ = ["repo"]

SLOW = "import os, time; open('started', 'w').write(str(os.getpid())); time.sleep(600)"


@pytest.fixture
def env(tmp_path: Path) -> dict[str, str]:
    """The environment of a server: a home of the test's own, and no sandbox, so that process ids are the machine's."""
    home = {"HOME": os.environ["HOME"], "MENDBOT_HOME": str(tmp_path / "home")}
    return {"PATH": os.environ["PATH"], "MENDBOT_SANDBOX": "none", "MENDBOT_ALLOW_ROOT": "1", **home}


@pytest.fixture
def slow_repo(repo: Path) -> Callable[[], int]:
    """Makes the check of the repository run for ever; returns a function that reads its process id."""
    (repo / "check.py").write_text(SLOW)
    return lambda: int((repo / "started").read_text())
