"""A working box, or a skip that says why there is none; and a tree to run in."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from bot.workspace.sandbox.sandbox import Sandbox, open_sandbox


@pytest.fixture(scope="module")
def box() -> Sandbox:
    sandbox = asyncio.run(open_sandbox("bubblewrap", ()))
    if sandbox.level == "refused":
        pytest.skip(sandbox.describe())
    return sandbox


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    directory = tmp_path / "tree"
    directory.mkdir()
    return directory
