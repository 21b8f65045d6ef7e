"""Projects to check in tests, and checks of them."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from bot.config import CheckPolicy, ChecksPolicy
from bot.model import RunChecksResult
from bot.workspace.checks.run_checks import run_checks


@pytest.fixture(autouse=True)
def _own_tools_on_path(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("MENDBOT_SANDBOX", "none")


def node_project(tree: Path, **scripts: str) -> Path:
    names = {name.replace("_", "-"): text for name, text in scripts.items()}
    (tree / "package.json").write_text(json.dumps({"name": "sample", "scripts": names}))
    return tree


def policy(**commands: str | tuple[str, ...]) -> ChecksPolicy:
    return ChecksPolicy(**{name: CheckPolicy(command=command) for name, command in commands.items()})


async def check(tree: Path, names: Sequence[str], **options: Any) -> RunChecksResult:
    return await run_checks(str(tree), names, **options)
