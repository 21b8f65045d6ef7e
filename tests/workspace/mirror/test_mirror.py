"""The mirror: made whole, brought up to date and read, against real remotes on this machine."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from bot.errors import UserError
from bot.workspace.git.tree import Tree
from bot.workspace.mirror.mirror import (
    branches,
    collect_garbage,
    ensure_mirror,
    fetch,
    list_files,
    push,
    read_file,
    resolve,
)
from bot.workspace.mirror.remote import Remote
from tests.workspace.git_scene import (
    HOSTILE_NAMES,
    Scene,
    plain,
)


async def test_a_fetch_brings_branches_and_drops_those_that_are_gone(scene: Scene) -> None:
    plain("push", "-q", "origin", "main:feature/x", cwd=scene.work)
    plain("tag", "v1", cwd=scene.work)
    plain("push", "-q", "origin", "v1", cwd=scene.work)
    await fetch(scene.mirror, scene.remote)
    assert await branches(scene.mirror) == {"main", "feature/x"}
    plain("push", "-q", "origin", ":feature/x", "main:feature", cwd=scene.work)
    await fetch(scene.mirror, scene.remote)
    assert await branches(scene.mirror) == {"main", "feature"}
    assert "refs/tags" not in plain("for-each-ref", cwd=scene.mirror)


async def test_local_branches_survive_a_fetch_and_are_counted(scene: Scene) -> None:
    plain("branch", "fix/issue-1", "refs/remotes/origin/main", cwd=scene.mirror)
    await fetch(scene.mirror, scene.remote)
    assert await branches(scene.mirror) == {"main", "fix/issue-1"}


async def test_a_rewritten_branch_is_followed(scene: Scene) -> None:
    plain("commit", "-q", "--amend", "-m", "rewritten", cwd=scene.work)
    plain("push", "-q", "-f", "origin", "main", cwd=scene.work)
    await fetch(scene.mirror, scene.remote)
    assert await resolve(scene.mirror, "main") == plain("rev-parse", "HEAD", cwd=scene.work)


async def test_names_resolve_to_commits_and_nothing_else_does(scene: Scene) -> None:
    head = plain("rev-parse", "HEAD", cwd=scene.work)
    for rev in ("main", "refs/remotes/origin/main", head, head[:10]):
        assert await resolve(scene.mirror, rev) == head
    for rev in ("nothing", "0" * 40, f"{head}^{{tree}}", "main~0", "refs/heads/main"):
        assert await resolve(scene.mirror, rev) is None


async def test_a_branch_that_calls_itself_like_a_commit_does_not_take_its_place(scene: Scene) -> None:
    head, other = plain("rev-parse", "HEAD", cwd=scene.work), scene.commit_here("other")
    plain("update-ref", f"refs/remotes/origin/{head}", other, cwd=scene.mirror)
    assert await resolve(scene.mirror, head) == head


@pytest.mark.parametrize("name", HOSTILE_NAMES)
async def test_hostile_names_name_nothing_at_every_call(
    scene: Scene, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    head = await resolve(scene.mirror, "main") or ""
    assert await resolve(scene.mirror, name) is None
    assert await read_file(scene.mirror, name, "a.txt") is None
    assert await read_file(scene.mirror, "main", name) is None
    assert await list_files(scene.mirror, name) == ()
    for call in (push(scene.mirror, head, name, scene.remote), fetch(scene.mirror, Remote(name))):
        with pytest.raises(UserError):
            await call
    with pytest.raises(ValueError, match="no commit's id"):
        await push(scene.mirror, name, "fix/issue-1", scene.remote)
    assert not list(tmp_path.rglob("CANARY"))


async def test_a_remote_with_hostile_branches_is_fetched_safely(
    scene: Scene, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    wanted = ("-x", "--upload-pack=touch${IFS}CANARY", "$(id)", "a'b", "|x", 'zzz";echo${IFS}"hello";#')
    for name in wanted:
        plain("update-ref", f"refs/heads/{name}", "refs/heads/main", cwd=scene.bare)
    await fetch(scene.mirror, scene.remote)
    assert await branches(scene.mirror) == {"main", *wanted}
    assert not list(tmp_path.rglob("CANARY"))


async def test_files_are_read_at_a_commit(scene: Scene) -> None:
    (scene.work / "link").symlink_to("a.txt")
    (scene.work / "odd\nname").write_text("odd")
    (scene.work / "--force").write_bytes(b"\xff\n")
    (scene.work / "big").write_bytes(b"x" * (5 << 20))
    plain("add", "-A", cwd=scene.work)
    plain("commit", "-q", "-m", "more", cwd=scene.work)
    plain("push", "-q", "origin", "main", cwd=scene.work)
    await fetch(scene.mirror, scene.remote)

    async def read(path: str) -> str | None:
        return await read_file(scene.mirror, "main", path)

    assert await read("src/b.py") == "x = 1\n"
    assert await read("odd\nname") == "odd"
    assert await read("--force") == "�\n"
    assert [await read(path) for path in ("link", "src", "src/", "nothing", "*", "", "../a.txt", ":(top)a.txt")] == [
        None
    ] * 8
    with pytest.raises(UserError, match="big has 5242880 bytes"):
        await read("big")
    assert set(await list_files(scene.mirror, "main")) == {
        "a.txt", "src/b.py", ".gitignore", "link", "odd\nname", "--force", "big",
    }  # fmt: skip


async def _half_made(mirror: Path) -> None:
    mirror.mkdir(parents=True)
    (mirror / "objects").mkdir()


async def _no_head(mirror: Path) -> None:
    await ensure_mirror(mirror)
    (mirror / "HEAD").unlink()


async def _emptied(mirror: Path) -> None:
    await ensure_mirror(mirror)
    (mirror / "HEAD").write_bytes(b"")
    (mirror / "config").write_bytes(b"")


async def _left_over(mirror: Path) -> None:
    half = mirror.with_name(f".{mirror.name}.new")
    half.mkdir(parents=True)
    (half / "HEAD").write_text("garbage")


async def _locked(mirror: Path) -> None:
    mirror.mkdir(parents=True)
    lock = mirror / "HEAD.lock"
    lock.touch()
    os.utime(lock, (time.time() - 3600,) * 2)


@pytest.mark.parametrize("damage", [_half_made, _no_head, _emptied, _left_over, _locked])
async def test_a_half_made_mirror_is_made_whole(
    scene: Scene, tmp_path: Path, damage: Callable[[Path], Awaitable[None]]
) -> None:
    mirror = tmp_path / "mirrors/o/other.git"
    await damage(mirror)
    for _ in range(2):
        await ensure_mirror(mirror)
    await fetch(mirror, scene.remote)
    assert await branches(mirror) == {"main"}
    assert not list(mirror.parent.glob("*.new"))


async def test_planted_locks_do_not_stop_a_fetch(scene: Scene) -> None:
    plain("push", "-q", "origin", "main:gone", cwd=scene.work)
    await fetch(scene.mirror, scene.remote)
    plain("pack-refs", "--all", cwd=scene.mirror)
    plain("push", "-q", "origin", ":gone", cwd=scene.work)
    for name in ("packed-refs.lock", "shallow.lock", "HEAD.lock", "config.lock", "refs/remotes/origin/main.lock"):
        lock = scene.mirror / name
        lock.parent.mkdir(parents=True, exist_ok=True)
        lock.touch()
        os.utime(lock, (time.time() - 3600,) * 2)
    plain("commit", "-q", "--allow-empty", "-m", "second", cwd=scene.work)
    plain("push", "-q", "origin", "main", cwd=scene.work)
    await fetch(scene.mirror, scene.remote)
    assert await branches(scene.mirror) == {"main"}
    assert await resolve(scene.mirror, "main") == plain("rev-parse", "HEAD", cwd=scene.work)


async def test_many_fetches_at_once_all_succeed(scene: Scene) -> None:
    plain("commit", "-q", "--allow-empty", "-m", "second", cwd=scene.work)
    plain("push", "-q", "origin", "main", cwd=scene.work)

    await asyncio.gather(*(fetch(scene.mirror, scene.remote) for _ in range(6)))
    assert await resolve(scene.mirror, "main") == plain("rev-parse", "HEAD", cwd=scene.work)


async def test_tidying_keeps_what_is_named_and_the_trees_snapshots(scene: Scene, tmp_path: Path) -> None:
    plain("worktree", "add", "-q", "-b", "w", str(tmp_path / "w"), "refs/remotes/origin/main", cwd=scene.mirror)
    tree = Tree(tmp_path / "w", scene.mirror / "worktrees/w")
    (tree.path / "new").write_text("n")
    snapshot = await tree.snapshot()
    await collect_garbage(scene.mirror)
    (tree.path / "new").unlink()
    await tree.restore(snapshot)
    assert (tree.path / "new").read_text() == "n"
