"""`manage_worktree` cleanup: the directory goes, the branch stays, what is nowhere else is never lost (REQ-GIT-002)."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from bot.model import ManageWorktreeResult
from tests.workspace.git_scene import everything, executable, make_repo, manage, plain


async def test_cleanup_deletes_the_directory_and_keeps_the_branch(repo: Path) -> None:
    """REQ-GIT-002."""
    path = Path((await manage("create", [1, 2], repo=repo)).worktree_path or "")
    (path / "build.log").write_text("ignored files go with it")
    for _ in range(2):
        result = await manage("cleanup", [2, 1], repo=repo)
        assert result == ManageWorktreeResult(action="cleanup", success=True, branch="fix/issue-1-2")
        assert not path.exists()
    assert plain("branch", "--list", "fix/*", cwd=repo) == "fix/issue-1-2"
    assert "fix-issue" not in plain("worktree", "list", cwd=repo)
    assert not list(path.parent.iterdir())


async def test_cleanup_finds_a_worktree_under_another_base(repo: Path, tmp_path: Path) -> None:
    path = Path((await manage("create", [1], "own/name", repo=repo, base=tmp_path / "x")).worktree_path or "")
    assert (await manage("cleanup", [1], repo=repo)).branch == "own/name"
    assert not path.exists()


def _modified(path: Path) -> str:
    (path / "a.txt").write_text("two")
    return "a.txt"


def _new(path: Path) -> str:
    (path / "sub").mkdir()
    (path / "sub/new file").write_text("n")
    return "sub/new file"


def _staged_only(path: Path) -> str:
    (path / "a.txt").write_text("two")
    plain("add", "a.txt", cwd=path)
    (path / "a.txt").write_text("one\n")
    return "a.txt"


def _gone(path: Path) -> str:
    (path / "src/b.py").unlink()
    return "src/b.py"


def _nested(path: Path) -> str:
    make_repo(path / "nested")
    return "nested/"


def _commit_on_no_branch(path: Path) -> str:
    plain("checkout", "-q", "--detach", cwd=path)
    plain("commit", "-q", "--allow-empty", "-m", "loose", cwd=path)
    return "no branch"


def _locked(path: Path) -> str:
    plain("worktree", "lock", "--reason", "mine", str(path), cwd=path)
    return "mine"


@pytest.mark.parametrize("soil", [_modified, _new, _staged_only, _gone, _nested, _commit_on_no_branch, _locked])
async def test_cleanup_never_loses_anything(repo: Path, soil: Callable[[Path], str]) -> None:
    """REQ-GIT-002."""
    path = Path((await manage("create", [1], repo=repo)).worktree_path or "")
    told = soil(path)
    before = everything(path)
    result = await manage("cleanup", [1], repo=repo)
    assert not result.success and told in (result.error or "")
    assert everything(path) == before


async def test_cleanup_runs_nothing_that_the_tree_brought(repo: Path, tmp_path: Path) -> None:
    path = Path((await manage("create", [1], repo=repo)).worktree_path or "")
    canary = tmp_path / "canary"
    program = executable(tmp_path / "evil", canary)
    nested = make_repo(path / "nested", {"a": "a", ".gitattributes": "* filter=x\n"})
    plain("config", "filter.x.clean", str(program), cwd=nested)
    plain("config", "core.fsmonitor", str(program), cwd=nested)
    (nested / "a").write_text("changed")
    (path / ".git").write_text(f"gitdir: {nested}/.git\n")
    assert not (await manage("cleanup", [1], repo=repo)).success
    assert not canary.exists()


async def test_cleanup_of_what_was_never_there_is_success(repo: Path) -> None:
    """REQ-GIT-002: an absent worktree is what was asked for; nothing else is touched."""
    other = Path((await manage("create", [2], repo=repo)).worktree_path or "")
    before = everything(repo.parent)
    for issues in ([1], [1, 2], [22]):
        result = await manage("cleanup", issues, repo=repo)
        assert (result.success, result.error) == (True, None)
        assert result.branch == f"fix/issue-{'-'.join(map(str, issues))}"
    assert everything(repo.parent) == before
    assert plain("status", "--porcelain", cwd=other) == ""


async def test_a_refused_cleanup_lists_every_file(repo: Path) -> None:
    """REQ-GIT-002: there is no force; whoever wants it gone is told what to commit or discard."""
    path = Path((await manage("create", [1], repo=repo)).worktree_path or "")
    told = {soil(path) for soil in (_new, _gone)} | {_staged_only(path)}
    error = (await manage("cleanup", [1], repo=repo)).error or ""
    listed = error.partition("not committed: ")[2].partition("; commit or discard them first")[0]
    assert set(listed.split(", ")) == told
    for number in range(30):
        (path / f"n{number:02}").write_text("n")
    error = (await manage("cleanup", [1], repo=repo)).error or ""
    assert "a.txt, src/b.py, n00, n01, " in error
    assert " and 13 more; commit or discard them first" in error
    plain("stash", "-u", cwd=path)
    assert (await manage("cleanup", [1], repo=repo)).success
