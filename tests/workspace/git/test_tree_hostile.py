"""Trees that hostile code has been in, and damaged ones: nothing runs, nothing is believed."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from bot.errors import Transient
from bot.workspace.git.tree import Tree
from tests.workspace.git_scene import (
    executable,
    make_repo,
    names,
    plain,
)


@pytest.mark.parametrize("setting", ["fsmonitor", "filter", "hooksPath"])
async def test_a_hostile_git_file_is_never_believed(tree: Tree, tmp_path: Path, setting: str) -> None:
    """Trust T18: the tree's `.git` is pointed at a repository whose configuration runs a program."""
    canary = tmp_path / "canary"
    program = executable(tmp_path / "evil.sh", canary)
    evil = make_repo(tmp_path / "evil", {"a.txt": "x\n"}) / ".git"
    hooks = tmp_path / "hooks"
    hooks.mkdir()
    executable(hooks / "post-index-change", canary)
    executable(hooks / "reference-transaction", canary)
    key, value = {
        "fsmonitor": ("core.fsmonitor", str(program)),
        "filter": ("filter.x.clean", str(program)),
        "hooksPath": ("core.hooksPath", str(hooks)),
    }[setting]
    plain("config", "--file", str(evil / "config"), key, value, cwd=tmp_path)
    (tree.path / ".git").write_text(f"gitdir: {evil}\n")
    (tree.path / ".gitattributes").write_text("* filter=x\n")
    (tree.path / "a.txt").write_text("two\n")
    before = plain("rev-parse", "HEAD^{tree}", cwd=tree.git_dir.parent.parent)
    after = await tree.snapshot()
    await tree.changed(before, after)
    await tree.diff(before, after)
    await tree.keep(after, "refs/mendbot/keep/x")
    await tree.restore(before)
    await tree.restore(after)
    await tree.commit(after, "m", "A <a@example.org>")
    assert not canary.exists(), canary.read_text()


async def test_a_nested_repository_runs_nothing_and_stays_out(tree: Tree, tmp_path: Path) -> None:
    canary = tmp_path / "canary"
    program = executable(tmp_path / "evil.sh", canary)
    nested = make_repo(tree.path / "nested", {"a.txt": "x\n", ".gitattributes": "* filter=x\n"})
    plain("config", "filter.x.clean", str(program), cwd=nested)
    plain("config", "core.fsmonitor", str(program), cwd=nested)
    (nested / "a.txt").write_text("y\n")
    before = await tree.snapshot()
    await tree.snapshot()
    assert await names(tree, before) == {".gitignore", "a.txt", "src/b.py"}
    assert (nested / "a.txt").exists() and not canary.exists()


async def test_a_submodule_is_not_entered(tmp_path: Path) -> None:
    canary = tmp_path / "canary"
    repo = make_repo(tmp_path / "r")
    inner = make_repo(repo / "sub", {"a.txt": "x\n"})
    plain("add", "sub", cwd=repo)
    plain("commit", "-q", "-m", "sub", cwd=repo)
    plain("config", "filter.x.clean", str(executable(tmp_path / "evil.sh", canary)), cwd=inner)
    (inner / ".gitattributes").write_text("* filter=x\n")
    (inner / "a.txt").write_text("y\n")
    tree = Tree(repo, repo / ".git")
    assert await tree.snapshot() == plain("rev-parse", "HEAD^{tree}", cwd=repo)
    assert not canary.exists()


async def test_a_damaged_warm_index_is_made_anew(tree: Tree) -> None:
    before = await tree.snapshot()
    (tree.git_dir / "mendbot-index").write_bytes(b"DIRC garbage")
    assert await tree.snapshot() == before
    (tree.git_dir / "mendbot-index").write_bytes(b"")
    assert await tree.snapshot() == before


async def test_planted_index_locks_do_not_matter(tree: Tree) -> None:
    for name in ("index.lock", "mendbot-index.lock"):
        (tree.git_dir / name).touch()
    (tree.path / "new.txt").write_text("n")
    assert "new.txt" in await names(tree, await tree.snapshot())
    assert sorted(p.name for p in tree.git_dir.glob("mendbot-index*")) == ["mendbot-index", "mendbot-index.lock"]


async def test_many_snapshots_at_once_agree(tree: Tree) -> None:
    (tree.path / "new.txt").write_text("n")

    async def work() -> list[str]:
        return await asyncio.gather(*(tree.snapshot() for _ in range(8)))

    assert len(set(await work())) == 1


async def test_a_tree_that_is_gone_is_transient(tree: Tree) -> None:
    gone = Tree(tree.path / "nowhere", tree.git_dir)
    with pytest.raises(Transient, match="is gone"):
        await gone.snapshot()


async def test_a_repository_without_commits_has_a_snapshot(tmp_path: Path) -> None:
    plain("init", "-q", "r", cwd=tmp_path)
    (tmp_path / "r/a").write_text("a")
    tree = Tree(tmp_path / "r", tmp_path / "r/.git")
    assert await names(tree, await tree.snapshot()) == {"a"}
