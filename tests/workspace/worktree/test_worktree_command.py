"""`manage_worktree`: the right worktree, a clear refusal, never too many (REQ-GIT-001, 003, 004)."""

from __future__ import annotations

import asyncio
import json
import shutil
from pathlib import Path

import pytest

from bot.model import ManageWorktreeResult
from bot.workspace.worktree.worktree_command import manage_worktree
from tests.machine import PATIENCE_S
from tests.workspace.git_scene import (
    CREATE,
    HOSTILE_NAMES,
    everything,
    manage,
    plain,
    python,
)


@pytest.mark.parametrize(("issues", "name"), [([1], "1"), ([3, 1, 2, 1], "1-2-3"), ((12, 7), "7-12"), ({5}, "5")])
async def test_create_checks_out_a_new_branch_beside_the_repository(repo: Path, issues: object, name: str) -> None:
    """REQ-GIT-001."""
    result = await manage("create", issues, repo=repo)
    path = repo.parent / f"worktrees/fix-issue-{name}"
    assert result == ManageWorktreeResult(
        action="create", success=True, worktree_path=str(path), branch=f"fix/issue-{name}"
    )
    assert plain("rev-parse", "--abbrev-ref", "HEAD", cwd=path) == f"fix/issue-{name}"
    assert plain("status", "--porcelain", cwd=path) == ""


async def test_a_branch_name_and_a_base_may_be_given(repo: Path, tmp_path: Path) -> None:
    """REQ-GIT-001."""
    result = await manage("create", [4], "hot/fix-9", repo=repo, base=tmp_path / "else/where")
    assert (result.worktree_path, result.branch) == (str(tmp_path / "else/where/fix-issue-4"), "hot/fix-9")
    listed = (await manage("list", repo=repo)).worktrees or ()
    assert [(info.branch, info.issues) for info in listed] == [("hot/fix-9", (4,))]


async def test_it_works_from_a_subdirectory_and_from_a_worktree(repo: Path) -> None:
    first = await manage("create", [1], repo=repo / "src")
    assert first.worktree_path == str(repo.parent / "worktrees/fix-issue-1")
    second = await manage("create", [2], repo=first.worktree_path)
    assert second.worktree_path == str(repo.parent / "worktrees/fix-issue-2")


async def test_it_works_on_a_mirror(mirror: Path) -> None:
    result = await manage("create", [1], repo=mirror)
    assert result.success, result.error
    assert (mirror.parent / "worktrees/fix-issue-1/a.txt").read_text() == "one\n"
    assert [info.branch for info in (await manage("list", repo=mirror)).worktrees or ()] == ["fix/issue-1"]


async def test_an_existing_branch_is_refused(repo: Path) -> None:
    """REQ-GIT-001."""
    plain("branch", "fix/issue-1", cwd=repo)
    result = await manage("create", [1], repo=repo)
    assert not result.success and "already exists: fix/issue-1" in (result.error or "")
    assert plain("rev-parse", "fix/issue-1", cwd=repo)
    assert (await manage("create", [2], repo=repo)).success
    again = await manage("create", [2], repo=repo)
    assert not again.success and "already exists" in (again.error or "")


async def test_a_branch_that_another_one_makes_impossible_is_told(repo: Path) -> None:
    plain("branch", "fix", cwd=repo)
    result = await manage("create", [1], repo=repo)
    assert not result.success and "'refs/heads/fix' exists" in (result.error or "")
    assert not (repo.parent / "worktrees/fix-issue-1").exists()


@pytest.mark.parametrize("issues", [None, [], 0, [0], [-1], ["1"], "12", [1.0], [True], [None], {"a": 1}, 7])
@pytest.mark.parametrize("action", ["create", "cleanup"])
async def test_bad_issues_are_told_and_nothing_is_made(repo: Path, action: str, issues: object) -> None:
    """REQ-GIT-001."""
    before = everything(repo.parent)
    result = await manage(action, issues, repo=repo)
    assert not result.success and "issue" in (result.error or "")
    assert everything(repo.parent) == before


@pytest.mark.parametrize(
    "name", [*HOSTILE_NAMES, "Upper", "a//b", "/a", "a/", "-a", "a.lock", "a..b", "HEAD", "é", "a\n", 7]
)
async def test_bad_branch_names_are_told_and_nothing_is_made(
    repo: Path, name: object, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """REQ-GIT-001."""
    monkeypatch.chdir(tmp_path)
    before = everything(repo.parent)
    result = await manage("create", [1], name, repo=repo)
    assert not result.success and "Invalid branch name" in (result.error or "")
    assert everything(repo.parent) == before
    assert not list(tmp_path.rglob("CANARY"))


@pytest.mark.parametrize("action", ["destroy", "", None, 7, ["create"], "Create"])
async def test_an_unknown_action_is_told(repo: Path, action: object) -> None:
    result = await manage(action, [1], repo=repo)
    assert not result.success and "use create, cleanup or list" in (result.error or "")


async def test_places_that_are_no_repository_are_told(tmp_path: Path, repo: Path) -> None:
    (tmp_path / "plain").mkdir()
    (tmp_path / "file").write_text("")
    for place, words in (
        (tmp_path / "none", "not found"),
        (tmp_path / "plain", "not a git"),
        (tmp_path / "file", "not"),
    ):
        for action in ("create", "cleanup", "list"):
            result = await manage(action, [1], repo=place)
            assert not result.success and words in (result.error or "")
    result = await manage("create", [1], repo=repo, base=tmp_path / "file/sub")
    assert not result.success and "file" in (result.error or "")
    assert plain("branch", "--list", "fix/*", cwd=repo) == ""
    for limit in (0, -1, "3", None, True):
        assert "max_worktrees" in ((await manage("create", [1], repo=repo, max_worktrees=limit)).error or "")


async def test_a_repository_without_a_commit_is_told(tmp_path: Path) -> None:
    plain("init", "-q", "r", cwd=tmp_path)
    assert "no commit" in ((await manage("create", [1], repo=tmp_path / "r")).error or "")
    assert (await manage("list", repo=tmp_path / "r")).worktrees == ()


async def test_a_directory_in_the_way_is_told_and_left_alone(repo: Path) -> None:
    mine = repo.parent / "worktrees/fix-issue-1"
    mine.mkdir(parents=True)
    (mine / "precious").write_text("x")
    result = await manage("create", [1], repo=repo)
    assert not result.success and "exists already" in (result.error or "")
    assert (mine / "precious").exists() and plain("branch", "--list", "fix/*", cwd=repo) == ""


async def test_list_reads_git_and_leaves_out_the_main_checkout(repo: Path, tmp_path: Path) -> None:
    """REQ-GIT-003."""
    assert (await manage("list", repo=repo)).worktrees == ()
    plain("worktree", "add", "-q", "-b", "fix/issue-8-9", str(tmp_path / "by hand"), cwd=repo)
    plain("worktree", "add", "-q", "-b", "feature", str(tmp_path / "new\nline"), cwd=repo)
    await manage("create", [2], repo=repo)
    listed = {info.path: (info.branch, info.issues) for info in (await manage("list", repo=repo)).worktrees or ()}
    assert listed == {
        str(tmp_path / "by hand"): ("fix/issue-8-9", (8, 9)),
        str(tmp_path / "new\nline"): ("feature", ()),
        str(repo.parent / "worktrees/fix-issue-2"): ("fix/issue-2", (2,)),
    }


async def test_what_another_process_made_is_listed(repo: Path) -> None:
    """REQ-GIT-003: nothing is remembered but by git, so a restart forgets nothing."""
    made = json.loads(python(CREATE, repo, 7).communicate(timeout=PATIENCE_S)[0])
    (info,) = (await manage("list", repo=repo)).worktrees or ()
    assert (info.path, info.branch, info.issues) == (made["worktree_path"], "fix/issue-7", (7,))
    assert made["worktree_path"].endswith("/worktrees/fix-issue-7")


async def test_a_fourth_is_refused_until_one_is_cleaned_up(repo: Path) -> None:
    """REQ-GIT-004."""
    assert all([(await manage("create", [n], repo=repo)).success for n in (1, 2, 3)])
    result = await manage("create", [4], repo=repo)
    assert (result.success, result.error) == (False, "Maximum parallel worktrees exceeded")
    assert plain("branch", "--list", "fix/issue-4", cwd=repo) == ""
    await manage("cleanup", [2], repo=repo)
    assert (await manage("create", [4], repo=repo)).success
    assert (await manage("create", [5], repo=repo, max_worktrees=4)).success


async def test_a_directory_deleted_by_hand_frees_its_slot(repo: Path) -> None:
    """REQ-GIT-004."""
    for number in (1, 2, 3):
        path = Path((await manage("create", [number], repo=repo)).worktree_path or "")
    shutil.rmtree(path)
    assert len((await manage("list", repo=repo)).worktrees or ()) == 2
    assert (await manage("create", [4], repo=repo)).success
    assert (await manage("cleanup", [3], repo=repo)).success


async def test_detached_checkouts_elsewhere_take_no_slot(repo: Path, tmp_path: Path) -> None:
    for name in ("p1", "p2", "p3"):
        plain("worktree", "add", "-q", "--detach", str(tmp_path / name), cwd=repo)
    assert (await manage("create", [1], repo=repo, max_worktrees=1)).success


async def test_ten_processes_race_for_three_slots(repo: Path) -> None:
    """REQ-GIT-004."""
    racers = [python(CREATE, repo, number) for number in range(1, 11)]
    results = [json.loads(racer.communicate(timeout=PATIENCE_S)[0]) for racer in racers]
    assert sum(result["success"] for result in results) == 3
    assert {result["error"] for result in results if not result["success"]} == {"Maximum parallel worktrees exceeded"}
    assert len((await manage("list", repo=repo)).worktrees or ()) == 3
    assert len(plain("branch", "--list", "fix/*", cwd=repo).splitlines()) == 3


async def test_ten_tasks_race_for_one_branch(repo: Path) -> None:
    """REQ-GIT-004."""

    async def work() -> list[ManageWorktreeResult]:
        return list(await asyncio.gather(*(manage_worktree("create", [1], repo=repo) for _ in range(10))))

    assert sum(result.success for result in await work()) == 1
