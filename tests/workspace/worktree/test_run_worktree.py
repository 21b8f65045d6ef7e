"""The bot's own worktrees: taken up again, whole after any harm, saved, removed."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from bot.errors import Transient, UserError
from bot.workspace.git.branch_names import branch_for
from bot.workspace.worktree.run_worktree import SlotsFull, remove_worktree, reopen_worktree
from bot.workspace.worktree.save_uncommitted import save_tree
from tests.workspace.git_scene import (
    HOSTILE_NAMES,
    ensure,
    plain,
)


async def test_ensuring_twice_gives_the_same_tree(mirror: Path, tmp_path: Path) -> None:
    path = tmp_path / "runs/7/fix-issue-1"
    tree = await ensure(mirror, path)
    (path / "new").write_text("work in progress")
    assert await ensure(mirror, path) == tree == await reopen_worktree(mirror, path)
    assert (path / "new").exists()
    assert plain("rev-parse", "--abbrev-ref", "HEAD", cwd=path) == "fix/issue-1"


async def test_a_removed_tree_comes_back_on_its_branch_with_its_commits(mirror: Path, tmp_path: Path) -> None:
    path = tmp_path / "runs/7/fix-issue-1"
    tree = await ensure(mirror, path)
    (path / "new").write_text("n")
    commit = await tree.commit(await tree.snapshot(), "fix", "A <a@example.org>")
    for _ in range(2):
        await remove_worktree(mirror, path)
        assert not path.exists() and await reopen_worktree(mirror, path) is None
    assert await (await ensure(mirror, path)).head() == commit
    assert (path / "new").read_text() == "n"


async def test_the_limit_holds_and_the_same_run_is_not_counted_twice(mirror: Path, tmp_path: Path) -> None:
    """REQ-GIT-004: the bot's own call raises what makes its run wait."""
    paths = [tmp_path / f"runs/{n}/fix-issue-{n}" for n in range(1, 5)]
    for number, path in enumerate(paths[:3], 1):
        await ensure(mirror, path, f"fix/issue-{number}")
    with pytest.raises(SlotsFull):
        await ensure(mirror, paths[3], "fix/issue-4")
    assert not paths[3].exists()
    await ensure(mirror, paths[0], "fix/issue-1")
    await remove_worktree(mirror, paths[0])
    await ensure(mirror, paths[3], "fix/issue-4")


async def test_a_branch_that_another_run_holds_is_waited_for(mirror: Path, tmp_path: Path) -> None:
    await ensure(mirror, tmp_path / "runs/1/fix-issue-1")
    with pytest.raises(Transient, match="is checked out at"):
        await ensure(mirror, tmp_path / "runs/2/fix-issue-1")


@pytest.mark.parametrize("name", [name for name in HOSTILE_NAMES if name != "refs/../x"])
async def test_hostile_names_are_refused_by_the_bots_own_calls(
    mirror: Path, tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for branch, start in ((name, "main"), ("fix/issue-1", name)):
        with pytest.raises(UserError):
            await ensure(mirror, tmp_path / "runs/1/w", branch, start)
    assert not (tmp_path / "runs/1/w").exists() and not list(tmp_path.rglob("CANARY"))


async def test_a_tree_that_something_switched_is_told(mirror: Path, tmp_path: Path) -> None:
    path = tmp_path / "runs/7/fix-issue-1"
    await ensure(mirror, path)
    plain("checkout", "-q", "-b", "other", cwd=path)
    with pytest.raises(UserError, match="on `other`, not on `fix/issue-1`"):
        await ensure(mirror, path)


def _no_git_file(path: Path, _: Path) -> None:
    (path / ".git").unlink()


def _foreign_git_file(path: Path, _: Path) -> None:
    (path / ".git").write_text("gitdir: /nowhere\n")


def _git_directory(path: Path, _: Path) -> None:
    (path / ".git").unlink()
    plain("init", "-q", cwd=path)


def _git_link(path: Path, _: Path) -> None:
    (path / ".git").unlink()
    (path / ".git").symlink_to("/etc/passwd")


def _git_fifo(path: Path, _: Path) -> None:
    (path / ".git").unlink()
    os.mkfifo(path / ".git")


@pytest.mark.parametrize("harm", [_no_git_file, _foreign_git_file, _git_directory, _git_link, _git_fifo])
async def test_work_survives_whatever_was_done_to_the_git_file(
    mirror: Path, tmp_path: Path, harm: Callable[[Path, Path], None]
) -> None:
    path = tmp_path / "runs/7/fix-issue-1"
    tree = await ensure(mirror, path)
    (path / "new").write_text("work in progress")
    harm(path, mirror)
    assert await ensure(mirror, path) == tree
    assert plain("status", "--porcelain", cwd=path) == "?? new"
    assert sorted(entry.name for entry in path.parent.iterdir()) == ["fix-issue-1"]


def _directory_deleted(path: Path, _: Path) -> None:
    subprocess.run(["rm", "-rf", str(path)], check=True)


def _record_deleted(path: Path, mirror: Path) -> None:
    subprocess.run(["rm", "-rf", str(mirror / "worktrees")], check=True)


def _half_made(path: Path, mirror: Path) -> None:
    (mirror / "worktrees/fix-issue-1/locked").write_text("initializing")
    (mirror / "worktrees/fix-issue-1/index").unlink()
    (path / "a.txt").unlink()


def _record_begun(path: Path, mirror: Path) -> None:
    subprocess.run(["rm", "-rf", str(path)], check=True)
    (mirror / "worktrees/fix-issue-1/locked").write_text("initializing")
    (mirror / "worktrees/fix-issue-1/gitdir").unlink()


def _record_emptied(path: Path, mirror: Path) -> None:
    _record_begun(path, mirror)
    (mirror / "worktrees/fix-issue-1/gitdir").write_text("")


def _a_file_there(path: Path, _: Path) -> None:
    _directory_deleted(path, _)
    path.write_text("not a directory")


@pytest.mark.parametrize(
    "harm", [_directory_deleted, _record_deleted, _half_made, _record_begun, _record_emptied, _a_file_there]
)
async def test_what_is_broken_is_made_again(mirror: Path, tmp_path: Path, harm: Callable[[Path, Path], None]) -> None:
    """REQ-GIT-003: half made, deleted by hand, forgotten by git: the next call heals it, and it takes one slot."""
    path = tmp_path / "runs/7/fix-issue-1"
    await ensure(mirror, path)
    harm(path, mirror)
    tree = await ensure(mirror, path, limit=1)
    assert (path / "a.txt").read_text() == "one\n"
    assert plain("status", "--porcelain", cwd=path) == ""
    assert list((mirror / "worktrees").iterdir()) == [tree.git_dir]
    harm(path, mirror)
    await remove_worktree(mirror, path)
    assert not list(path.parent.iterdir()) and not list((mirror / "worktrees").glob("*"))


async def test_leftovers_are_salvaged_and_nothing_else(mirror: Path, tmp_path: Path) -> None:
    """REQ-GIT-002: nothing that was written is lost when the bot removes a tree."""
    path = tmp_path / "runs/7/fix-issue-1"
    tree = await ensure(mirror, path)
    (path / "x.log").write_text("ignored")
    assert not await save_tree(tree, "refs/mendbot/salvage/7")
    (path / "new").write_text("never committed")
    assert await save_tree(tree, "refs/mendbot/salvage/7")
    await remove_worktree(mirror, path)
    assert plain("show", "refs/mendbot/salvage/7:new", cwd=mirror) == "never committed"
    assert not await save_tree(tree, "refs/mendbot/salvage/7")


async def test_deep_and_forbidden_directories_are_removed(mirror: Path, tmp_path: Path) -> None:
    path = tmp_path / "runs/7/fix-issue-1"
    await ensure(mirror, path)
    home = os.getcwd()
    os.chdir(path)
    try:
        for _ in range(3000):
            os.mkdir("d")
            os.chdir("d")
    finally:
        os.chdir(home)
    (path / "src").chmod(0)
    await remove_worktree(mirror, path)
    assert not list(path.parent.iterdir())
    await ensure(mirror, path)


def test_branches_are_named_by_their_issues() -> None:
    assert branch_for([3, 1, 2, 3]) == "fix/issue-1-2-3"
