"""Checkouts of one commit: exactly it, whatever was done to them, on no branch and in nobody's slot."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from bot.errors import Refused, UserError
from bot.workspace.git.tree import Tree
from bot.workspace.mirror.mirror import ensure_mirror, fetch
from bot.workspace.mirror.remote import Remote
from bot.workspace.worktree.detached import ensure_detached, record_start, recorded_start
from bot.workspace.worktree.run_worktree import remove_worktree
from tests.workspace.git_scene import Scene, content, ensure, make_repo, plain, python


async def detached(mirror: Path, path: Path, sha: str) -> Tree:
    return await ensure_detached(mirror, path, sha)


@pytest.fixture
def sha(mirror: Path) -> str:
    return plain("rev-parse", "refs/remotes/origin/main", cwd=mirror)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "runs/7/head"


def state(path: Path) -> tuple[str, str, str]:
    """The commit that is checked out, the branch it is on (`HEAD`: none), what git sees changed."""
    said = [plain(*asked, cwd=path) for asked in (("rev-parse", "HEAD"), ("rev-parse", "--abbrev-ref", "HEAD"))]
    return said[0], said[1], plain("status", "--porcelain", cwd=path)


@pytest.mark.parametrize("name", ["head", "Odd_name"])
async def test_it_holds_the_commit_on_no_branch_and_makes_none(
    mirror: Path, tmp_path: Path, sha: str, name: str
) -> None:
    path = tmp_path / "runs/7" / name
    tree = await detached(mirror, path, sha)
    assert await detached(mirror, path, sha) == tree
    assert state(path) == (sha, "HEAD", "")
    assert (path / "a.txt").read_text() == "one\n"
    assert plain("for-each-ref", "refs/heads", cwd=mirror) == ""


async def test_it_takes_no_slot_and_shares_its_commit(mirror: Path, tmp_path: Path, sha: str) -> None:
    """Spec G.6: pull-request and base trees are detached checkouts and take no slot. G-6."""
    for number in range(3):
        await detached(mirror, tmp_path / f"runs/{number}/head", sha)
    await ensure(mirror, tmp_path / "runs/9/fix-issue-1", limit=1)
    await detached(mirror, tmp_path / "runs/9/base", sha)


async def test_removing_it_leaves_nothing(mirror: Path, path: Path, sha: str) -> None:
    await detached(mirror, path, sha)
    for _ in range(2):
        await remove_worktree(mirror, path)
        assert not list(path.parent.iterdir()) and not list((mirror / "worktrees").glob("*"))


async def test_what_is_no_commit_of_the_repository_is_refused(mirror: Path, path: Path, sha: str) -> None:
    """T11: exactly the commit that was approved, and nothing that merely leads to one."""
    plain("tag", "-a", "-m", "x", "v1", sha, cwd=mirror)
    tag, tree = plain("rev-parse", "v1", cwd=mirror), plain("rev-parse", f"{sha}^{{tree}}", cwd=mirror)
    with pytest.raises(Refused, match="not a commit itself") as caught:
        await detached(mirror, path, tag)
    assert caught.value.reason == "wrong_commit"
    for unknown in ("0" * 40, tree):
        with pytest.raises(UserError, match="no commit"):
            await detached(mirror, path, unknown)
    for name in ("main", sha[:12], sha.upper(), "-x", "--upload-pack=touch${IFS}x", f"{sha}\n", ""):
        with pytest.raises(ValueError, match="no commit's id"):
            await detached(mirror, path, name)
    assert not path.exists()


def _edited(path: Path, _: Path) -> None:
    (path / "a.txt").write_text("changed\n")
    (path / "src/b.py").unlink()
    (path / "new/deep").mkdir(parents=True)
    (path / "new/deep/file").write_text("n")


def _staged(path: Path, _: Path) -> None:
    _edited(path, _)
    plain("add", "-A", cwd=path)


def _committed(path: Path, _: Path) -> None:
    _staged(path, _)
    plain("commit", "-q", "-m", "by a check", cwd=path)


def _switched(path: Path, _: Path) -> None:
    plain("checkout", "-q", "-b", "other", cwd=path)
    _committed(path, _)


def _switched_to_nothing(path: Path, _: Path) -> None:
    plain("symbolic-ref", "HEAD", "refs/heads/unborn", cwd=path)


def _hidden(path: Path, mirror: Path) -> None:
    (mirror / "worktrees/head/mendbot-index").unlink()  # else it would not be looked into the other
    plain("update-index", "--assume-unchanged", "a.txt", cwd=path)
    plain("update-index", "--skip-worktree", "src/b.py", cwd=path)
    _edited(path, mirror)


def _same_size_and_time(path: Path, _: Path) -> None:
    before = (path / "a.txt").stat()
    (path / "a.txt").write_text("two\n")
    os.utime(path / "a.txt", ns=(before.st_atime_ns, before.st_mtime_ns))


def _all_ignored(path: Path, _: Path) -> None:
    _edited(path, _)
    (path / ".gitignore").write_text("*\n")


def _no_git_file(path: Path, _: Path) -> None:
    _edited(path, _)
    (path / ".git").unlink()


def _own_repository(path: Path, _: Path) -> None:
    (path / ".git").unlink()
    plain("init", "-q", cwd=path)
    _committed(path, _)


def _merging(path: Path, mirror: Path) -> None:
    (mirror / "worktrees/head/MERGE_HEAD").write_text("0" * 40)
    (mirror / "worktrees/head/index.lock").touch()
    _edited(path, mirror)


def _index_damaged(path: Path, mirror: Path) -> None:
    (mirror / "worktrees/head/index").write_bytes(b"DIRC nonsense")
    _edited(path, mirror)


def _file_for_directory(path: Path, _: Path) -> None:
    shutil.rmtree(path / "src")
    (path / "src").symlink_to("/etc")
    (path / "a.txt").unlink()
    (path / "a.txt").mkdir()


def _read_only(path: Path, _: Path) -> None:
    _edited(path, _)
    (path / "src").chmod(0o500)
    (path / "new").chmod(0)


def _head_gone(path: Path, mirror: Path) -> None:
    (mirror / "worktrees/head/HEAD").unlink()
    _edited(path, mirror)


def _record_gone(path: Path, mirror: Path) -> None:
    shutil.rmtree(mirror / "worktrees")
    _edited(path, mirror)


def _half_made(path: Path, mirror: Path) -> None:
    (mirror / "worktrees/head/locked").write_text("initializing")
    (path / "a.txt").unlink()


def _directory_gone(path: Path, _: Path) -> None:
    shutil.rmtree(path)


HARM = [
    _edited, _staged, _committed, _switched, _switched_to_nothing, _hidden, _same_size_and_time, _all_ignored,
    _no_git_file, _own_repository, _merging, _index_damaged, _file_for_directory, _read_only, _head_gone, _record_gone,
    _half_made, _directory_gone,
]  # fmt: skip


@pytest.mark.parametrize("harm", HARM)
async def test_whatever_a_check_did_the_commits_files_are_back(
    mirror: Path, path: Path, sha: str, harm: Callable[[Path, Path], None]
) -> None:
    tree = await detached(mirror, path, sha)
    wanted = content(path)
    await tree.snapshot()
    harm(path, mirror)
    again = await detached(mirror, path, sha)
    assert content(path) == wanted
    assert not (path / "src").is_symlink() and (path / "a.txt").is_file()
    assert state(path) == (sha, "HEAD", "")
    assert [entry.name for entry in path.parent.iterdir()] == ["head"]
    assert list((mirror / "worktrees").iterdir()) == [again.git_dir]


async def test_what_is_ignored_stays_and_what_is_not_goes(mirror: Path, path: Path, sha: str) -> None:
    """The set-up is done once for a run, and its `node_modules` serves every check."""
    await detached(mirror, path, sha)
    (path / "deps.log").write_text("installed")
    (path / "left").write_text("by a check")
    await detached(mirror, path, sha)
    assert (path / "deps.log").read_text() == "installed" and not (path / "left").exists()


async def test_edits_commits_and_a_lost_link_are_undone(mirror: Path, path: Path, sha: str) -> None:
    await detached(mirror, path, sha)
    _edited(path, mirror)
    (path / ".git").unlink()
    await detached(mirror, path, sha)
    assert state(path) == (sha, "HEAD", "")
    _committed(path, mirror)
    await detached(mirror, path, sha)
    assert state(path) == (sha, "HEAD", "")


async def test_once_checks_have_begun_what_they_made_stays_and_what_they_altered_does_not(
    mirror: Path, path: Path, sha: str
) -> None:
    tree = await detached(mirror, path, sha)
    (path / "made.txt").write_text("by setup")
    (path / ".venv").mkdir()
    (path / ".venv/tool").write_text("by setup")
    (path / "a.txt").write_text("by setup")
    begun, restored = await tree.after_setup(sha)
    assert restored == ("a.txt",) and (path / "a.txt").read_text() == "one\n"
    record_start(tree, begun)
    _edited(path, mirror)
    (path / "made.txt").unlink()
    assert recorded_start(await detached(mirror, path, sha)) == begun
    assert (path / "a.txt").read_text() == "one\n" and (path / "src/b.py").exists()
    assert (path / "made.txt").read_text() == "by setup" and (path / ".venv/tool").exists()
    assert (path / "new/deep/file").read_text() == "n"
    # setup was run for this commit alone
    plain("commit", "-q", "--allow-empty", "-m", "by a check", cwd=path)
    assert recorded_start(await detached(mirror, path, sha)) is None
    assert state(path) == (sha, "HEAD", "") and not (path / ".venv").exists()


@pytest.mark.parametrize("name", ["node_modules", "packages/[web] *?/node_modules", "my env", "sp\\ecial/.venv"])
async def test_directories_that_only_tools_fill_are_in_no_snapshot_whatever_their_name(
    mirror: Path, path: Path, sha: str, name: str
) -> None:
    tree = await detached(mirror, path, sha)
    (path / name / "lib").mkdir(parents=True)
    (path / name / "pyvenv.cfg").touch()
    (path / name / "lib/one.js").touch()
    begun, _ = await tree.after_setup(sha)
    (path / name / "lib/two.js").touch()
    (path / "beside.txt").touch()
    changes = await tree.changed(begun, await tree.snapshot())
    assert [change.path for change in changes] == ["beside.txt"]
    await tree.restore(sha)
    assert (path / name / "lib/two.js").exists() and not (path / "beside.txt").exists()


async def test_the_same_place_for_another_commit_holds_that_one(scene: Scene, tmp_path: Path) -> None:
    path = tmp_path / "runs/7/head"
    first = plain("rev-parse", "HEAD", cwd=scene.work)
    (scene.work / "b.txt").write_text("b")
    (scene.work / "a.txt").unlink()
    plain("add", "-A", cwd=scene.work)
    plain("commit", "-q", "-m", "second", cwd=scene.work)
    plain("push", "-q", "origin", "main", cwd=scene.work)
    await fetch(scene.mirror, scene.remote)
    second = plain("rev-parse", "HEAD", cwd=scene.work)
    for sha, names in ((first, {"a.txt"}), (second, {"b.txt"}), (first, {"a.txt"})):
        await detached(scene.mirror, path, sha)
        assert state(path) == (sha, "HEAD", "")
        assert {file.name for file in path.glob("*.txt")} == names


async def test_hooks_and_drivers_of_the_commit_do_not_run(tmp_path: Path) -> None:
    """T18: checking a stranger's commit out is no reason to run anything of it."""
    hook = "#!/bin/sh\ntouch CANARY\n"
    source = make_repo(tmp_path / "r", {"hooks/post-checkout": hook, ".gitattributes": "* filter=evil\n", "a": "1"})
    mirror, canary = tmp_path / "mirrors/r.git", tmp_path / "CANARY"
    await ensure_mirror(mirror)
    await fetch(mirror, Remote(str(source)))
    (mirror / "hooks").mkdir(exist_ok=True)
    (mirror / "hooks/post-checkout").write_text(f"#!/bin/sh\ntouch '{canary}'\n")
    (mirror / "hooks/post-checkout").chmod(0o755)
    await detached(mirror, tmp_path / "runs/1/head", plain("rev-parse", "HEAD", cwd=source))
    assert not list(tmp_path.rglob("CANARY"))


ENSURE = """
import asyncio, sys
from pathlib import Path
from bot.workspace.worktree.detached import ensure_detached
print("ready", flush=True)
asyncio.run(ensure_detached(Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3]))
"""


def _kill_while(mirror: Path, path: Path, sha: str, delay_s: float) -> None:
    """Killed alone, so that what git it started goes on; or, by `ensure_detached`, is ended."""
    racer = python(ENSURE, mirror, path, sha)
    assert racer.stdout is not None and racer.stdout.readline() == b"ready\n"
    time.sleep(delay_s)  # the moment is the test's subject
    os.kill(racer.pid, signal.SIGKILL)
    racer.communicate()


@pytest.mark.parametrize("anew", [True, False])
async def test_killed_at_any_moment_the_next_call_succeeds(tmp_path: Path, anew: bool) -> None:
    repo = make_repo(tmp_path / "large", {f"d{n % 40}/f{n}": f"{n}\n" * 20 for n in range(800)})
    mirror, path = tmp_path / "mirrors/large.git", tmp_path / "runs/7/head"
    await ensure_mirror(mirror)
    await fetch(mirror, Remote(str(repo)))
    sha = plain("rev-parse", "HEAD", cwd=repo)
    for delay_s in (0.03, 0.08):
        if not anew:
            await detached(mirror, path, sha)
            subprocess.run(["rm", "-rf", *(str(path / f"d{n}") for n in range(20))], check=True)
            plain("checkout", "-q", "--orphan", "elsewhere", cwd=path)
        _kill_while(mirror, path, sha, delay_s)
        tree = await detached(mirror, path, sha)
        assert state(path) == (sha, "HEAD", ""), delay_s
        assert [entry.name for entry in path.parent.iterdir()] == ["head"]
        assert list((mirror / "worktrees").iterdir()) == [tree.git_dir]
        await remove_worktree(mirror, path)
        assert not list(path.parent.iterdir()) and not (mirror / "mendbot-creating.json").exists()
