"""Git's records of worktrees, read and written without git: git must see in them what we do, and find nothing amiss."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from bot.workspace.sandbox.sandbox import _installed
from bot.workspace.worktree import registry
from tests.machine import PATIENCE_S
from tests.workspace.git_scene import ROOT, ensure, make_repo, manage, plain


def _of_every_kind(repo: Path, root: Path) -> None:
    plain("worktree", "add", "-q", "-b", "feature", str(root / "by hand"), cwd=repo)
    plain("worktree", "add", "-q", "-b", "a/b", str(root / "new\nline"), cwd=repo)
    plain("worktree", "add", "-q", "--detach", str(root / "detached"), cwd=repo)
    plain("worktree", "add", "-q", "--lock", "-b", "locked", str(root / "locked"), cwd=repo)
    plain("worktree", "add", "-q", "-b", "reason", str(root / "reason"), cwd=repo)
    plain("worktree", "lock", "--reason", "on a stick", str(root / "reason"), cwd=repo)
    plain("worktree", "add", "-q", "-b", "gone", str(root / "gone"), cwd=repo)
    shutil.rmtree(root / "gone")
    (root / "link").symlink_to(root)
    plain("worktree", "add", "-q", "-b", "linked", str(root / "link/behind"), cwd=repo)
    plain("worktree", "add", "-q", "-b", "moved", str(root / "before"), cwd=repo)
    plain("worktree", "move", str(root / "before"), str(root / "after"), cwd=repo)
    (repo / ".git/worktrees/begun").mkdir()


async def test_the_records_say_what_git_lists(repo: Path, tmp_path: Path) -> None:
    """REQ-GIT-003: it reads git, not memory."""
    assert await registry.entries(repo / ".git") == ()
    _of_every_kind(repo, tmp_path)
    read = await registry.entries(repo / ".git")
    told = await registry._listed(repo / ".git")
    assert len(read) == 8
    assert {(e.path, e.branch, e.locked) for e in read} == {(e.path, e.branch, e.locked) for e in told}


async def test_git_finds_nothing_amiss_in_what_was_made_without_it(mirror: Path, tmp_path: Path) -> None:
    tree = await ensure(mirror, tmp_path / "runs/1/fix-issue-1")
    plain("worktree", "add", "-q", "-b", "plain", str(tmp_path / "plain"), "refs/remotes/origin/main", cwd=mirror)
    ours = {name.name for name in tree.git_dir.iterdir()} - {"logs"}
    assert ours == {name.name for name in (mirror / "worktrees/plain").iterdir()} - {"logs", "ORIG_HEAD", "refs"}
    for name in ("commondir", "gitdir"):
        assert (tree.git_dir / name).read_text() == (mirror / "worktrees/plain" / name).read_text().replace(
            str(tmp_path / "plain"), str(tree.path)
        )
    assert plain("ls-files", "--stage", cwd=tree.path) == plain("ls-files", "--stage", cwd=tmp_path / "plain")
    assert plain("worktree", "prune", "--dry-run", "--verbose", "--expire=now", cwd=mirror) == ""
    assert plain("worktree", "repair", cwd=mirror) == ""
    assert plain("fsck", cwd=mirror) == ""
    plain("worktree", "move", str(tree.path), str(tmp_path / "elsewhere"), cwd=mirror)
    assert plain("status", "--porcelain", cwd=tmp_path / "elsewhere") == ""
    plain("worktree", "remove", str(tmp_path / "elsewhere"), cwd=mirror)


async def test_a_name_that_another_worktree_has_is_numbered(repo: Path, tmp_path: Path) -> None:
    for number, place in enumerate("ab"):
        plain("worktree", "add", "-q", "-b", f"b{number}", str(tmp_path / place / "fix-issue-1"), cwd=repo)
    result = await manage("create", [1], repo=repo)
    assert result.success, result.error
    assert plain("rev-parse", "--git-dir", cwd=Path(result.worktree_path or "")).endswith("worktrees/fix-issue-12")
    assert {info.branch for info in (await manage("list", repo=repo)).worktrees or ()} == {"b0", "b1", "fix/issue-1"}


@pytest.mark.parametrize(
    "settings",
    [
        ("extensions.worktreeConfig", "true"),
        ("core.sparseCheckout", "true"),
        ("core.bare", "false"),
        ("core.worktree", ".."),
        ("include.path", "nowhere"),
    ],
)
async def test_a_repository_with_settings_of_its_own_gets_what_git_makes(repo: Path, settings: tuple[str, str]) -> None:
    if settings[0] != "core.bare":
        plain("config", "core.repositoryFormatVersion", "1", cwd=repo)
    plain("config", *settings, cwd=repo)
    (repo / ".git/info").mkdir(exist_ok=True)
    (repo / ".git/info/sparse-checkout").write_text("/src/\n")
    plain("worktree", "add", "-q", "-b", "plain", str(repo.parent / "plain"), cwd=repo)
    result = await manage("create", [1], repo=repo)
    assert result.success, result.error
    path = Path(result.worktree_path or "")
    assert path == repo.parent / "worktrees/fix-issue-1"
    for command in (
        ("ls-files", "-t"),
        ("config", "--get-regexp", r"^(extensions|core)\.(worktree|sparse)"),
        ("status",),
    ):
        told = plain(*command, cwd=path, check=False).replace("fix/issue-1", "plain")
        assert told == plain(*command, cwd=repo.parent / "plain", check=False)


async def test_a_repository_of_other_hashes_works_alike(tmp_path: Path) -> None:
    repo = tmp_path / "home/repo"
    repo.mkdir(parents=True)
    plain("init", "-q", "--object-format=sha256", cwd=repo)
    plain("commit", "-q", "--allow-empty", "-m", "first", cwd=repo)
    assert (await manage("create", [1], repo=repo)).success
    assert [info.branch for info in (await manage("list", repo=repo)).worktrees or ()] == ["fix/issue-1"]


async def test_a_branch_that_appears_in_between_is_not_moved(repo: Path, tmp_path: Path) -> None:
    """REQ-GIT-001: an existing branch is refused, also one that somebody makes after we looked."""
    plain("branch", "mine", cwd=repo)
    plain("commit", "-q", "--allow-empty", "-m", "second", cwd=repo)
    head, mine = (plain("rev-parse", name, cwd=repo) for name in ("HEAD", "mine"))
    with pytest.raises(Exception, match="already exists"):
        await registry.create_entry(repo / ".git", tmp_path / "w", "mine", head, fresh=True)
    assert plain("rev-parse", "mine", cwd=repo) == mine
    assert not (tmp_path / "w").exists()
    assert not list((repo / ".git/worktrees").iterdir())


async def test_what_lies_at_the_place_is_neither_taken_nor_deleted(repo: Path, tmp_path: Path) -> None:
    mine = make_repo(tmp_path / "mine")
    head = plain("rev-parse", "HEAD", cwd=repo)
    with pytest.raises(Exception, match="exists already"):
        await registry.create_entry(repo / ".git", mine, "fresh", head, fresh=True)
    assert plain("branch", "--list", "fresh", cwd=repo) == ""
    assert (mine / "a.txt").read_text() == "one\n"


FULL = """
import asyncio, os, sys
from pathlib import Path
from bot.workspace.worktree.worktree_command import manage_worktree
from tests.workspace.git_scene import everything, make_repo
small = Path(sys.argv[1])
repo = make_repo(small / "repo", {f"f{n}": f"{os.urandom(500).hex()}\\n" for n in range(300)})
before = everything(small)
for _ in range(2):
    result = asyncio.run(manage_worktree("create", [1], repo=repo))
    assert not result.success and "disk is full" in result.error and "free some space" in result.error, result
    assert everything(small) - {"worktrees", "repo/.git/worktrees"} == before, everything(small) ^ before
for file in list(repo.glob("f*")):
    file.unlink()
result = asyncio.run(manage_worktree("create", [1], repo=repo))
assert result.success, result
print("mended")
"""


def test_a_full_disk_is_told_leaves_nothing_and_is_no_trouble_later(tmp_path: Path) -> None:
    """REQ-GIT-001: bad luck is a clear error too, and nothing is half made."""
    bwrap = next(iter(_installed()))
    box = (str(bwrap), "--dev-bind", "/", "/", "--size", str(3_300_000), "--tmpfs", str(tmp_path))
    argv = (*box, sys.executable, "-c", FULL, str(tmp_path))
    done = subprocess.run(argv, cwd=ROOT, capture_output=True, text=True, timeout=PATIENCE_S, check=False)
    assert (done.stdout, done.returncode) == ("mended\n", 0), done.stderr
