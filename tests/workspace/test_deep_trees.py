"""Thousands of directories in each other: read without recursion, refused where no path is long enough."""

from __future__ import annotations

import os
import resource
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from bot.errors import Refused
from bot.model import Change
from bot.workflows.runs.finish import save_and_remove_tree
from bot.workspace.files.nofollow import read_state
from bot.workspace.files.remove_tree import remove_directory
from bot.workspace.files.tree_digest import Walk, tree_digest
from bot.workspace.git.tree import Tree
from bot.workspace.patch import apply_changes
from bot.workspace.worktree.registry import entries
from tests.machine import PATIENCE_S
from tests.workspace.checks.one_step import step
from tests.workspace.git_scene import ensure, names, plain

DEPTH = 1_500


@pytest.fixture(autouse=True)
def cleared(tmp_path: Path) -> Iterator[None]:
    """pytest itself would fail to delete such a tree later."""
    yield
    subprocess.run(("rm", "-rf", "--", str(tmp_path)), check=True, timeout=PATIENCE_S)


def dig(root: Path, name: str = "d", depth: int = DEPTH) -> str:
    """Directories in each other with a file at the bottom; its path."""
    at = os.open(root, os.O_RDONLY)
    for _ in range(depth):
        os.mkdir(name, dir_fd=at)
        below = os.open(name, os.O_RDONLY, dir_fd=at)
        os.close(at)
        at = below
    os.close(os.open("bottom.py", os.O_CREAT | os.O_WRONLY, dir_fd=at))
    os.close(at)
    return f"{name}/" * depth + "bottom.py"


@pytest.fixture
def descriptors() -> Iterator[Callable[[int], None]]:
    """Sets the limit on open files, of which git takes one for each directory that it is in."""
    usual = resource.getrlimit(resource.RLIMIT_NOFILE)
    yield lambda most: resource.setrlimit(resource.RLIMIT_NOFILE, (min(most, usual[1]), usual[1]))
    resource.setrlimit(resource.RLIMIT_NOFILE, usual)


async def test_the_bottom_is_read(tree: Tree, descriptors: Callable[[int], None]) -> None:
    path = dig(tree.path)
    assert path in set(Walk(tree.path))
    before = tree_digest(tree.path)
    descriptors(1_000)
    assert read_state(tree.path, path) is not None
    with pytest.raises(Refused, match="too deep in each other"):
        await tree.snapshot()
    descriptors(4_000)
    snapshot = await tree.snapshot()
    assert path in await names(tree, snapshot)
    await tree.restore("HEAD")
    assert not (tree.path / "d").exists()
    await tree.restore(snapshot)
    assert tree_digest(tree.path) == before
    await remove_directory(tree.path)
    assert not tree.path.exists()


async def test_a_check_that_digs_ends_as_any_other(tmp_path: Path) -> None:
    path = dig(tmp_path)
    result, _ = await step(tmp_path, "echo bottom.py:1:1: E501 long; exit 1", stage="lint")
    assert [note.path for note in result.annotations] == [path]


async def test_a_change_that_would_dig_is_refused(tree: Tree) -> None:
    with pytest.raises(Refused, match="more than 200 directories") as caught:
        await apply_changes(tree, [Change(path="d/" * 300 + "x.txt", content="x")])
    assert caught.value.reason == "tree_too_deep"
    assert not (tree.path / "d").exists()


async def test_what_no_path_can_name_is_refused_and_takes_no_slot(mirror: Path, tmp_path: Path) -> None:
    path = tmp_path / "runs/1/fix-issue-1"
    tree = await ensure(mirror, path)
    (path / "new.txt").write_text("new")
    dig(path, "dddd")
    with pytest.raises(Refused, match="too deep in each other") as caught:
        await tree.snapshot()
    assert caught.value.reason == "tree_too_deep"
    loss = await save_and_remove_tree(mirror, path, "refs/mendbot/salvage/1")
    assert loss is not None and loss.files[0].startswith("dddd/dddd")
    assert plain("show", "refs/mendbot/salvage/1:new.txt", cwd=mirror) == "new"
    assert await entries(mirror) == () and not path.exists()


async def test_what_setup_digs_is_taken_as_any_other(tree: Tree) -> None:
    (tree.path / "made").mkdir()
    path = "made/" + dig(tree.path / "made")

    base = await tree.head()
    after, _ = await tree.after_setup(base)
    assert {change.path for change in await tree.changed(base, after)} == {path}
