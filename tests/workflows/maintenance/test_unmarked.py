"""Neither a sweep nor what forgets touches a directory that Mendbot has not marked, whatever it is called."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from bot.store.database.database import now_ms
from bot.workflows.maintenance.cleanup import sweep
from bot.workflows.maintenance.retention import forget_old, tidy_dependencies, tidy_mirrors
from bot.workspace.files.home_directories import MARK
from bot.workspace.git.command import git
from tests.workflows.conftest import Harness

SOMEBODYS = ("dependencies/d", "kits/k", "artifacts/a", "sessions/s", "worktrees/o/n/r/t", "pulls/o/n/r/t")


def seen(home: Path) -> dict[str, float]:
    names = {name.partition("/")[0] for name in (*SOMEBODYS, "mirrors/")}
    return {str(path): path.lstat().st_mtime for name in names for path in (home / name).rglob("*")}


def test_somebodys_directories_stay_as_they_are(at_desk: Callable[..., Any]) -> None:
    async def work(at: Harness) -> None:
        home = at.context.settings.home
        for name in SOMEBODYS:
            (home / name).mkdir(parents=True)
            (home / name / "precious").touch()
            os.utime(home / name, (1, 1))
        mirror = home / "mirrors" / "octo" / "tiny.git"
        mirror.mkdir(parents=True)
        await git("init", "--bare", "--quiet", git_dir=mirror)
        for mark in home.glob(f"*/{MARK}"):
            mark.unlink()
        before = seen(home)
        assert await sweep(at.context) == 0
        await forget_old(at.context, now_ms())
        await tidy_mirrors(at.context, now_ms())
        await tidy_dependencies(at.context)
        assert seen(home) == before

    at_desk(work)
