"""A session's own git directory for somebody else's tree: it sees all that counts there, and the tree's own repository
is the same to the byte afterwards."""

from __future__ import annotations

import os
import stat
from hashlib import sha256
from pathlib import Path

import pytest

from bot.workspace.git.tree import Tree
from bot.workspace.worktree.shadow_repo import open_shadow
from tests.workspace.git_scene import make_repo, plain

ODD = (b"caf\xe9.txt", b"new\nline.txt", b'quo"te.txt', b" space ", b"-dash", "ünï.txt".encode())


def state_of(directory: Path) -> dict[str, tuple[int, str]]:
    """Every file below, with its mode and what it holds."""
    found = {}
    for at, _, names in os.walk(directory):
        for name in names:
            path = Path(at, name)
            mode = path.lstat().st_mode
            content = os.readlink(path).encode() if stat.S_ISLNK(mode) else path.read_bytes()
            found[str(path)] = (mode, sha256(content).hexdigest())
    assert found
    return found


async def opened(path: Path, tmp_path: Path) -> Tree:
    return await open_shadow(path, tmp_path / "shadow/git")


async def names(tree: Tree) -> set[str]:
    empty = plain("mktree", cwd=tree.git_dir, stdin="").strip()
    changes = await tree.changed(empty, await tree.snapshot())
    return {change.path for change in changes}


async def lived(path: Path, tmp_path: Path) -> set[str]:
    """What a session sees in a tree, after it has written and gone back there."""
    tree = await opened(path, tmp_path)

    start = await tree.snapshot()
    (path / "made.txt").write_text("by an agent\n")
    after = await tree.snapshot()
    assert [change.path for change in await tree.changed(start, after)] == ["made.txt"]
    await tree.restore(start)
    assert not (path / "made.txt").exists()
    assert await tree.snapshot() == start
    return await names(tree)


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    """A repository with a tracked file that is ignored, staged and unstaged work, a stash and a branch."""
    path = make_repo(tmp_path / "mine")
    (path / ".gitignore").write_text("*.log\nbuild/\n")
    (path / "kept.log").write_text("tracked all the same\n")
    plain("add", "-f", ".gitignore", "kept.log", cwd=path)
    plain("commit", "-qm", "more", cwd=path)
    (path / "stashed.txt").write_text("x\n")
    plain("stash", "-u", "-q", cwd=path)
    (path / "build").mkdir()
    (path / "build/out").write_text("ignored\n")
    (path / "staged.txt").write_text("staged\n")
    plain("add", "staged.txt", cwd=path)
    (path / "staged.txt").write_text("staged and edited\n")
    (path / "kept.log").write_text("edited\n")
    return path


async def test_the_trees_own_repository_is_the_same_to_the_byte(repo: Path, tmp_path: Path) -> None:
    before = state_of(repo / ".git")
    seen = await lived(repo, tmp_path)
    assert state_of(repo / ".git") == before
    assert {"kept.log", "staged.txt", ".gitignore"} <= seen
    assert not any(name.startswith(("build", ".git/")) for name in seen)


async def test_uncommitted_work_is_what_a_session_starts_from_and_goes_back_to(repo: Path, tmp_path: Path) -> None:
    tree = await opened(repo, tmp_path)
    start = await tree.snapshot()
    assert start == await tree._id("HEAD^{tree}")
    for name in ("kept.log", "staged.txt"):
        (repo / name).write_text("ruined\n")
    (repo / "kept.log").unlink()
    await tree.restore(start)
    assert (repo / "kept.log").read_text() == "edited\n"
    assert (repo / "staged.txt").read_text() == "staged and edited\n"
    assert (repo / "build/out").read_text() == "ignored\n"


async def test_what_a_session_began_with_is_taken_down_once(repo: Path, tmp_path: Path) -> None:
    head = await (await opened(repo, tmp_path)).head()
    (repo / "later.txt").write_text("x\n")
    assert await (await opened(repo, tmp_path)).head() == head


async def test_a_crash_while_the_first_look_was_taken_harms_nothing(repo: Path, tmp_path: Path) -> None:
    tree = await opened(repo, tmp_path)
    (tree.git_dir / "refs/heads/main").unlink()
    (tree.git_dir / "mendbot-first-index").write_bytes(b"half an index")
    assert {"kept.log", "staged.txt"} <= await names(await opened(repo, tmp_path))


async def test_a_part_of_a_repository_is_a_tree_too(repo: Path, tmp_path: Path) -> None:
    part = repo / "packages/one"
    part.mkdir(parents=True)
    (part / "a.log").write_text("x\n")
    plain("add", "-f", "packages/one/a.log", cwd=repo)
    before = state_of(repo / ".git")
    assert await lived(part, tmp_path) == {"a.log"}
    assert state_of(repo / ".git") == before


async def test_a_tree_without_a_repository_is_one_too(tmp_path: Path) -> None:
    path = tmp_path / "plain"
    path.mkdir()
    (path / "a.txt").write_text("x\n")
    assert await lived(path, tmp_path) == {"a.txt"}
    assert not (path / ".git").exists()


async def test_an_empty_tree_is_one_too(tmp_path: Path) -> None:
    path = tmp_path / "plain"
    path.mkdir()
    assert await lived(path, tmp_path) == set()


async def test_nested_repositories_stay_as_they_are_and_are_nobodys_change(repo: Path, tmp_path: Path) -> None:
    nested = make_repo(repo / "vendor/nested")
    (nested / "edited.txt").write_text("x\n")
    plain("add", "vendor/nested", cwd=repo)  # a submodule to the repository around it
    before = state_of(nested), state_of(repo / ".git")
    seen = await lived(repo, tmp_path)
    assert not any(name.startswith("vendor") for name in seen)
    assert (state_of(nested), state_of(repo / ".git")) == before


async def test_a_read_only_repository_is_enough(repo: Path, tmp_path: Path) -> None:
    for path in [*(repo / ".git").rglob("*"), repo / ".git"]:
        path.chmod(0o555 if path.is_dir() else 0o444)
    before = state_of(repo / ".git")
    try:
        assert "kept.log" in await lived(repo, tmp_path)
        assert state_of(repo / ".git") == before
    finally:
        for path in [repo / ".git", *(repo / ".git").rglob("*")]:
            path.chmod(0o755)


async def test_a_broken_repository_is_as_none(repo: Path, tmp_path: Path) -> None:
    (repo / ".git/HEAD").write_text("broken")
    seen = await lived(repo, tmp_path)
    assert "staged.txt" in seen and "kept.log" not in seen


async def test_links_are_links_and_nothing_behind_them_is_touched(repo: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret.txt").write_text("keep me\n")
    (repo / "dir").symlink_to(outside)
    (repo / "loop").symlink_to("loop")
    (repo / "gone").symlink_to("/nowhere")
    before = state_of(outside)
    seen = await lived(repo, tmp_path)
    assert {"dir", "loop", "gone"} <= seen and not any("secret" in name for name in seen)
    assert state_of(outside) == before
    assert (repo / "dir").is_symlink()


async def test_a_tracked_file_that_lies_behind_a_link_now_is_not_followed(repo: Path, tmp_path: Path) -> None:
    (repo / "d").mkdir()
    (repo / "d/a.log").write_text("x\n")
    plain("add", "-f", "d/a.log", cwd=repo)
    (repo / "d").rename(tmp_path / "away")
    (repo / "d").symlink_to(tmp_path / "away")
    assert {"d"} == {name for name in await lived(repo, tmp_path) if name.startswith("d")}


@pytest.mark.parametrize("tracked", [False, True])
async def test_names_of_any_bytes_are_kept(repo: Path, tmp_path: Path, tracked: bool) -> None:
    for name in ODD:
        Path(os.fsdecode(os.path.join(os.fsencode(repo), name))).write_text("x\n")
    if tracked:
        plain("add", "-A", cwd=repo)
    before = state_of(repo / ".git")
    assert {os.fsdecode(name) for name in ODD} <= await lived(repo, tmp_path)
    assert state_of(repo / ".git") == before
