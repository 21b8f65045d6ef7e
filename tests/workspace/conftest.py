"""The repositories that several test files of this room begin with."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from bot.workspace.git.tree import Tree
from bot.workspace.mirror.mirror import ensure_mirror, fetch
from bot.workspace.mirror.remote import Remote
from tests.workspace.git_scene import Scene, make_bare, make_repo, plain


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    return make_repo(tmp_path / "home/repo")


@pytest.fixture
def mirror(tmp_path: Path, repo: Path) -> Path:
    path = tmp_path / "mirrors/r.git"
    asyncio.run(ensure_mirror(path))
    asyncio.run(fetch(path, Remote(str(make_bare(tmp_path / "remote.git", repo)))))
    return path


@pytest.fixture
def tree(tmp_path: Path) -> Tree:
    repo = make_repo(tmp_path / "r")
    plain("worktree", "add", "-q", "-b", "work", str(tmp_path / "w"), cwd=repo)
    return Tree(tmp_path / "w", repo / ".git/worktrees/w")


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    return Scene(tmp_path)
