"""Killed at any point, stripped of rights: the next call puts it right."""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import pytest

from bot.workspace.mirror.mirror import ensure_mirror, fetch
from bot.workspace.mirror.remote import Remote
from bot.workspace.worktree.run_worktree import remove_worktree
from tests.machine import PATIENCE_S
from tests.workspace.git_scene import (
    CREATE,
    ROOT,
    ensure,
    make_repo,
    manage,
    plain,
    python,
)

ENSURE = """
import asyncio, sys
from pathlib import Path
from bot.workspace.worktree.run_worktree import ensure_worktree
print("ready", flush=True)
asyncio.run(ensure_worktree(Path(sys.argv[1]), Path(sys.argv[2]), "fix/issue-1", "main", 3))
"""


@pytest.fixture
def large_mirror(tmp_path: Path) -> Path:
    repo = make_repo(tmp_path / "large", {f"d{n % 40}/f{n}": f"{n}\n" * 20 for n in range(1500)})
    path = tmp_path / "mirrors/large.git"
    asyncio.run(ensure_mirror(path))
    asyncio.run(fetch(path, Remote(str(repo))))
    return path


def _kill_while_creating(mirror: Path, path: Path, delay_s: float, *, orphan_git: bool) -> None:
    racer = python(ENSURE, mirror, path)
    assert racer.stdout is not None and racer.stdout.readline() == b"ready\n"
    time.sleep(delay_s)
    children = Path(f"/proc/{racer.pid}/task/{racer.pid}/children").read_text().split()
    os.kill(racer.pid, signal.SIGKILL)
    if not orphan_git:
        for child in children:
            with_group = os.getpgid(int(child)) if Path(f"/proc/{child}").exists() else None
            if with_group == int(child):  # every process of ours leads its own session
                os.killpg(with_group, signal.SIGKILL)
    racer.communicate()


async def _survives(mirror: Path, path: Path, delays: Sequence[float]) -> None:
    for number, delay_s in enumerate(delays):
        _kill_while_creating(mirror, path, delay_s, orphan_git=number % 3 == 2)
        tree = await ensure(mirror, path)
        assert plain("status", "--porcelain", cwd=path) == "", delay_s
        assert [p.name for p in path.parent.iterdir()] == ["fix-issue-1"]
        assert list((mirror / "worktrees").iterdir()) == [tree.git_dir]
        await remove_worktree(mirror, path)
        assert not list(path.parent.iterdir()) and not list((mirror / "worktrees").glob("*"))
        assert not (mirror / "mendbot-creating.json").exists()
        plain("update-ref", "-d", "refs/heads/fix/issue-1", cwd=mirror)


async def test_killed_while_creating_the_next_call_succeeds(large_mirror: Path, tmp_path: Path) -> None:
    await _survives(large_mirror, tmp_path / "runs/7/fix-issue-1", (0.02, 0.06, 0.1))


@pytest.mark.soak
@pytest.mark.timeout(900)
async def test_killed_at_fifty_points_the_next_call_succeeds(large_mirror: Path, tmp_path: Path) -> None:
    await _survives(large_mirror, tmp_path / "runs/7/fix-issue-1", [n * 0.006 for n in range(50)])


async def test_a_person_killed_while_creating_can_create_again(repo: Path) -> None:
    """REQ-GIT-001."""
    for delay_s in (0.1, 0.2, 0.25, 0.3):
        racer = python(CREATE, repo, 1)
        time.sleep(delay_s)
        os.killpg(racer.pid, signal.SIGKILL)
        racer.communicate()
        result = await manage("create", [1], repo=repo)
        if not result.success:  # it had come through
            assert (
                "already exists" in (result.error or "") and len((await manage("list", repo=repo)).worktrees or ()) == 1
            )
        assert (await manage("cleanup", [1], repo=repo)).success
        plain("branch", "-D", "fix/issue-1", cwd=repo)


AS_SOMEBODY = """
import asyncio, os, sys
from pathlib import Path
from bot.workspace.files.remove_tree import remove_directory
from bot.workspace.git.tree import Tree
from bot.workspace.git.command import git

async def main(root):
    repo = root / "repo"
    (repo / "src").mkdir(parents=True)
    (repo / "src/a").write_text("a")
    await git("init", "-q", cwd=repo)
    await git("add", "-A", git_dir=repo / ".git", work_tree=repo)
    await git("commit", "-q", "-m", "x", git_dir=repo / ".git", work_tree=repo)
    tree = Tree(repo, repo / ".git")
    before = await tree.snapshot()
    (repo / "src/new").write_text("n")
    (repo / "src/new").chmod(0)
    (repo / "src").chmod(0o500)
    assert await tree.snapshot() != before
    (repo / "src").chmod(0o500)
    await tree.restore(before)
    assert not (repo / "src/new").exists()
    (repo / "src").chmod(0)
    await remove_directory(repo)
    assert not list(root.iterdir())

if os.getuid() == 0:
    asyncio.run(main(Path(sys.argv[1])))  # imports all that is needed, since nobody else may be able to read it
    os.setgroups([])
    os.setresgid(65534, 65534, 65534)
    os.setresuid(65534, 65534, 65534)
assert os.getuid() != 0
asyncio.run(main(Path(sys.argv[1])))
"""


def test_rights_taken_away_stop_neither_restoring_nor_removing() -> None:
    """As an ordinary user, since root may do anything; with what this user can read."""
    with tempfile.TemporaryDirectory() as place:
        home = Path(place)
        shutil.copytree(ROOT / "bot", home / "bot", ignore=shutil.ignore_patterns("__pycache__"))
        (home / "work").mkdir()
        home.chmod(0o755)
        (home / "work").chmod(0o777)
        env = {"PATH": os.environ["PATH"], "PYTHONPATH": str(home), "PYTHONDONTWRITEBYTECODE": "1"}
        argv = [sys.executable, "-c", AS_SOMEBODY, str(home / "work")]
        done = subprocess.run(argv, cwd=home, env=env, capture_output=True, text=True, timeout=PATIENCE_S, check=False)
    assert done.returncode == 0, done.stderr
