"""What an earlier process left in the bot's home delays nobody: neither its start nor other repositories."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Callable
from pathlib import Path

from bot.workspace.git.repo_lock import mutex_path
from bot.workspace.mirror.mirror import ensure_mirror, fetch
from bot.workspace.mirror.remote import Remote
from bot.workspace.worktree.run_worktree import ensure_worktree
from demo.standin.server import StandIn
from tests.e2e.conftest import RIGHT, agent, assert_mended_once, label, wait_for_label
from tests.e2e.processes import wait_until
from tests.e2e.server import Server
from tests.machine import PATIENCE_S
from tests.workspace.git_scene import make_bare, make_repo

Serve = Callable[..., Server]


async def leftover(bot: Server, root: Path, owner: str) -> tuple[Path, Path]:
    """A worktree of a run that nobody knows, in another repository's mirror; the mirror and the worktree."""
    mirror = bot.home / f"mirrors/{owner}/other.git"
    path = bot.home / f"worktrees/{owner}/other/run-1/fix-issue-1"

    await ensure_mirror(mirror)
    await fetch(mirror, Remote(str(make_bare(root / f"{owner}.git", make_repo(root / owner)))))
    await ensure_worktree(mirror, path, "fix/issue-1", "main", 3)
    (path / "new").mkdir()
    (path / "new/file.txt").write_text("unfinished")
    return mirror, path


async def test_the_bot_is_ready_while_a_leftover_worktree_cannot_be_cleared(
    github: StandIn, serve: Serve, tmp_path: Path
) -> None:
    bot = serve(MENDBOT_AGENT_COMMAND=agent(RIGHT))
    bot.kill()
    mirror, path = await leftover(bot, tmp_path, "aaa")
    lock = os.open(mutex_path(mirror, "worktrees"), os.O_RDWR | os.O_CREAT, 0o600)
    fcntl.flock(lock, fcntl.LOCK_EX)
    bot.start()
    assert path.exists()
    os.close(lock)
    wait_until(lambda: not path.exists(), PATIENCE_S)


async def test_a_leftover_at_which_git_would_hang_is_given_up(github: StandIn, serve: Serve, tmp_path: Path) -> None:
    bot = serve(MENDBOT_AGENT_COMMAND=agent(RIGHT))
    bot.kill()
    _, path = await leftover(bot, tmp_path, "aaa")
    os.mkfifo(path / "new/.gitignore")
    bot.start()
    number = label(github)
    wait_for_label(github, number, "auto-fix-done")
    assert_mended_once(github, number)
    wait_until(lambda: not path.exists(), PATIENCE_S)
