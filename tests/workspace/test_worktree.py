"""Worktrees for people and for the bot: the right ones, never too many, whole again after anything that happened."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from bot.errors import Transient, UserError
from bot.model import ManageWorktreeResult
from bot.workspace.mirror import Remote, ensure_mirror, fetch
from bot.workspace.tree import Tree
from bot.workspace.worktree import (
    SlotsFull,
    branch_for,
    ensure_worktree,
    manage_worktree,
    remove_worktree,
    reopen_worktree,
    salvage,
)
from tests.workspace.git_scene import HOSTILE_NAMES, executable, make_bare, make_repo, plain

ROOT = Path(__file__).parents[2]


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    return make_repo(tmp_path / "home/repo")


@pytest.fixture
def mirror(tmp_path: Path, repo: Path) -> Path:
    path = tmp_path / "mirrors/r.git"
    asyncio.run(ensure_mirror(path))
    asyncio.run(fetch(path, Remote(str(make_bare(tmp_path / "remote.git", repo)))))
    return path


def manage(
    action: object, issues: object = None, branch_name: object = None, **options: object
) -> ManageWorktreeResult:
    result = asyncio.run(manage_worktree(action, issues, branch_name, **options))  # type: ignore[arg-type]
    json.loads(result.model_dump_json())
    return result


def ensure(mirror: Path, path: Path, branch: str = "fix/issue-1", start: str = "main", limit: int = 3) -> Tree:
    return asyncio.run(ensure_worktree(mirror, path, branch, start, limit))


def python(program: str, *args: object) -> subprocess.Popen[bytes]:
    argv = [sys.executable, "-c", program, *map(str, args)]
    return subprocess.Popen(argv, cwd=ROOT, stdout=subprocess.PIPE, start_new_session=True)


def everything(root: Path) -> set[str]:
    """All paths but git's objects and our mutexes, which stay."""
    paths = {str(path.relative_to(root)) for path in root.rglob("*")}
    return {path for path in paths if "/objects" not in path and not path.endswith(".mutex")}


# REQ-GIT-001


@pytest.mark.parametrize(("issues", "name"), [([1], "1"), ([3, 1, 2, 1], "1-2-3"), ((12, 7), "7-12"), ({5}, "5")])
def test_create_checks_out_a_new_branch_beside_the_repository(repo: Path, issues: object, name: str) -> None:
    result = manage("create", issues, repo=repo)
    path = repo.parent / f"worktrees/fix-issue-{name}"
    assert result == ManageWorktreeResult(
        action="create", success=True, worktree_path=str(path), branch=f"fix/issue-{name}"
    )
    assert plain("rev-parse", "--abbrev-ref", "HEAD", cwd=path) == f"fix/issue-{name}"
    assert plain("status", "--porcelain", cwd=path) == ""


def test_a_branch_name_and_a_base_may_be_given(repo: Path, tmp_path: Path) -> None:
    result = manage("create", [4], "hot/fix-9", repo=repo, base=tmp_path / "else/where")
    assert (result.worktree_path, result.branch) == (str(tmp_path / "else/where/fix-issue-4"), "hot/fix-9")
    listed = manage("list", repo=repo).worktrees or ()
    assert [(info.branch, info.issues) for info in listed] == [("hot/fix-9", (4,))]


def test_it_works_from_a_subdirectory_and_from_a_worktree(repo: Path) -> None:
    first = manage("create", [1], repo=repo / "src")
    assert first.worktree_path == str(repo.parent / "worktrees/fix-issue-1")
    second = manage("create", [2], repo=first.worktree_path)
    assert second.worktree_path == str(repo.parent / "worktrees/fix-issue-2")


def test_it_works_on_a_mirror(mirror: Path) -> None:
    result = manage("create", [1], repo=mirror)
    assert result.success, result.error
    assert (mirror.parent / "worktrees/fix-issue-1/a.txt").read_text() == "one\n"
    assert [info.branch for info in manage("list", repo=mirror).worktrees or ()] == ["fix/issue-1"]


def test_an_existing_branch_is_refused(repo: Path) -> None:
    plain("branch", "fix/issue-1", cwd=repo)
    result = manage("create", [1], repo=repo)
    assert not result.success and "already exists: fix/issue-1" in (result.error or "")
    assert plain("rev-parse", "fix/issue-1", cwd=repo)
    assert manage("create", [2], repo=repo).success
    again = manage("create", [2], repo=repo)
    assert not again.success and "already exists" in (again.error or "")


def test_a_branch_that_another_one_makes_impossible_is_told(repo: Path) -> None:
    plain("branch", "fix", cwd=repo)
    result = manage("create", [1], repo=repo)
    assert not result.success and "'refs/heads/fix' exists" in (result.error or "")
    assert not (repo.parent / "worktrees/fix-issue-1").exists()


@pytest.mark.parametrize("issues", [None, [], 0, [0], [-1], ["1"], "12", [1.0], [True], [None], {"a": 1}, 7])
@pytest.mark.parametrize("action", ["create", "cleanup"])
def test_bad_issues_are_told_and_nothing_is_made(repo: Path, action: str, issues: object) -> None:
    before = everything(repo.parent)
    result = manage(action, issues, repo=repo)
    assert not result.success and "issue" in (result.error or "")
    assert everything(repo.parent) == before


@pytest.mark.parametrize(
    "name", [*HOSTILE_NAMES, "Upper", "a//b", "/a", "a/", "-a", "a.lock", "a..b", "HEAD", "é", "a\n", 7]
)
def test_bad_branch_names_are_told_and_nothing_is_made(
    repo: Path, name: object, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    before = everything(repo.parent)
    result = manage("create", [1], name, repo=repo)
    assert not result.success and "Invalid branch name" in (result.error or "")
    assert everything(repo.parent) == before
    assert not list(tmp_path.rglob("CANARY"))


@pytest.mark.parametrize("action", ["destroy", "", None, 7, ["create"], "Create"])
def test_an_unknown_action_is_told(repo: Path, action: object) -> None:
    result = manage(action, [1], repo=repo)
    assert not result.success and "use create, cleanup or list" in (result.error or "")


def test_places_that_are_no_repository_are_told(tmp_path: Path, repo: Path) -> None:
    (tmp_path / "plain").mkdir()
    (tmp_path / "file").write_text("")
    for place, words in (
        (tmp_path / "none", "not found"),
        (tmp_path / "plain", "not a git"),
        (tmp_path / "file", "not"),
    ):
        for action in ("create", "cleanup", "list"):
            result = manage(action, [1], repo=place)
            assert not result.success and words in (result.error or "")
    result = manage("create", [1], repo=repo, base=tmp_path / "file/sub")
    assert not result.success and "file" in (result.error or "")
    assert plain("branch", "--list", "fix/*", cwd=repo) == ""
    for limit in (0, -1, "3", None, True):
        assert "max_worktrees" in (manage("create", [1], repo=repo, max_worktrees=limit).error or "")


def test_a_repository_without_a_commit_is_told(tmp_path: Path) -> None:
    plain("init", "-q", "r", cwd=tmp_path)
    assert "no commit" in (manage("create", [1], repo=tmp_path / "r").error or "")
    assert manage("list", repo=tmp_path / "r").worktrees == ()


def test_a_directory_in_the_way_is_told_and_left_alone(repo: Path) -> None:
    mine = repo.parent / "worktrees/fix-issue-1"
    mine.mkdir(parents=True)
    (mine / "precious").write_text("x")
    result = manage("create", [1], repo=repo)
    assert not result.success and "exists already" in (result.error or "")
    assert (mine / "precious").exists() and plain("branch", "--list", "fix/*", cwd=repo) == ""


# REQ-GIT-002


def test_cleanup_deletes_the_directory_and_keeps_the_branch(repo: Path) -> None:
    path = Path(manage("create", [1, 2], repo=repo).worktree_path or "")
    (path / "build.log").write_text("ignored files go with it")
    for _ in range(2):
        result = manage("cleanup", [2, 1], repo=repo)
        assert result == ManageWorktreeResult(action="cleanup", success=True, branch="fix/issue-1-2")
        assert not path.exists()
    assert plain("branch", "--list", "fix/*", cwd=repo) == "fix/issue-1-2"
    assert "fix-issue" not in plain("worktree", "list", cwd=repo)
    assert not list(path.parent.iterdir())


def test_cleanup_finds_a_worktree_under_another_base(repo: Path, tmp_path: Path) -> None:
    path = Path(manage("create", [1], "own/name", repo=repo, base=tmp_path / "x").worktree_path or "")
    assert manage("cleanup", [1], repo=repo).branch == "own/name"
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
def test_cleanup_never_loses_anything(repo: Path, soil: Callable[[Path], str]) -> None:
    path = Path(manage("create", [1], repo=repo).worktree_path or "")
    told = soil(path)
    before = everything(path)
    result = manage("cleanup", [1], repo=repo)
    assert not result.success and told in (result.error or "")
    assert everything(path) == before


def test_cleanup_runs_nothing_that_the_tree_brought(repo: Path, tmp_path: Path) -> None:
    path = Path(manage("create", [1], repo=repo).worktree_path or "")
    canary = tmp_path / "canary"
    program = executable(tmp_path / "evil", canary)
    nested = make_repo(path / "nested", {"a": "a", ".gitattributes": "* filter=x\n"})
    plain("config", "filter.x.clean", str(program), cwd=nested)
    plain("config", "core.fsmonitor", str(program), cwd=nested)
    (nested / "a").write_text("changed")
    (path / ".git").write_text(f"gitdir: {nested}/.git\n")
    assert not manage("cleanup", [1], repo=repo).success
    assert not canary.exists()


# REQ-GIT-003


def test_list_reads_git_and_leaves_out_the_main_checkout(repo: Path, tmp_path: Path) -> None:
    assert manage("list", repo=repo).worktrees == ()
    plain("worktree", "add", "-q", "-b", "fix/issue-8-9", str(tmp_path / "by hand"), cwd=repo)
    plain("worktree", "add", "-q", "-b", "feature", str(tmp_path / "new\nline"), cwd=repo)
    manage("create", [2], repo=repo)
    listed = {info.path: (info.branch, info.issues) for info in manage("list", repo=repo).worktrees or ()}
    assert listed == {
        str(tmp_path / "by hand"): ("fix/issue-8-9", (8, 9)),
        str(tmp_path / "new\nline"): ("feature", ()),
        str(repo.parent / "worktrees/fix-issue-2"): ("fix/issue-2", (2,)),
    }


# REQ-GIT-004


def test_a_fourth_is_refused_until_one_is_cleaned_up(repo: Path) -> None:
    assert all(manage("create", [n], repo=repo).success for n in (1, 2, 3))
    result = manage("create", [4], repo=repo)
    assert (result.success, result.error) == (False, "Maximum parallel worktrees exceeded")
    assert plain("branch", "--list", "fix/issue-4", cwd=repo) == ""
    manage("cleanup", [2], repo=repo)
    assert manage("create", [4], repo=repo).success
    assert manage("create", [5], repo=repo, max_worktrees=4).success


def test_a_directory_deleted_by_hand_frees_its_slot(repo: Path) -> None:
    for number in (1, 2, 3):
        path = Path(manage("create", [number], repo=repo).worktree_path or "")
    shutil.rmtree(path)
    assert len(manage("list", repo=repo).worktrees or ()) == 2
    assert manage("create", [4], repo=repo).success
    assert manage("cleanup", [3], repo=repo).success


def test_detached_checkouts_elsewhere_take_no_slot(repo: Path, tmp_path: Path) -> None:
    for name in ("p1", "p2", "p3"):
        plain("worktree", "add", "-q", "--detach", str(tmp_path / name), cwd=repo)
    assert manage("create", [1], repo=repo, max_worktrees=1).success


CREATE = """
import asyncio, sys
from bot.workspace.worktree import manage_worktree
result = asyncio.run(manage_worktree("create", [int(sys.argv[2])], repo=sys.argv[1]))
print(result.model_dump_json())
"""


def test_ten_processes_race_for_three_slots(repo: Path) -> None:
    racers = [python(CREATE, repo, number) for number in range(1, 11)]
    results = [json.loads(racer.communicate(timeout=100)[0]) for racer in racers]
    assert sum(result["success"] for result in results) == 3
    assert {result["error"] for result in results if not result["success"]} == {"Maximum parallel worktrees exceeded"}
    assert len(manage("list", repo=repo).worktrees or ()) == 3
    assert len(plain("branch", "--list", "fix/*", cwd=repo).splitlines()) == 3


def test_ten_tasks_race_for_one_branch(repo: Path) -> None:
    async def work() -> list[ManageWorktreeResult]:
        return list(await asyncio.gather(*(manage_worktree("create", [1], repo=repo) for _ in range(10))))

    assert sum(result.success for result in asyncio.run(work())) == 1


# The bot's own


def test_ensuring_twice_gives_the_same_tree(mirror: Path, tmp_path: Path) -> None:
    path = tmp_path / "runs/7/fix-issue-1"
    tree = ensure(mirror, path)
    (path / "new").write_text("work in progress")
    assert ensure(mirror, path) == tree == asyncio.run(reopen_worktree(mirror, path))
    assert (path / "new").exists()
    assert plain("rev-parse", "--abbrev-ref", "HEAD", cwd=path) == "fix/issue-1"


def test_a_removed_tree_comes_back_on_its_branch_with_its_commits(mirror: Path, tmp_path: Path) -> None:
    path = tmp_path / "runs/7/fix-issue-1"
    tree = ensure(mirror, path)
    (path / "new").write_text("n")
    commit = asyncio.run(tree.commit(asyncio.run(tree.snapshot()), "fix", "A <a@example.org>"))
    for _ in range(2):
        asyncio.run(remove_worktree(mirror, path))
        assert not path.exists() and asyncio.run(reopen_worktree(mirror, path)) is None
    assert asyncio.run(ensure(mirror, path).head()) == commit
    assert (path / "new").read_text() == "n"


def test_the_limit_holds_and_the_same_run_is_not_counted_twice(mirror: Path, tmp_path: Path) -> None:
    paths = [tmp_path / f"runs/{n}/fix-issue-{n}" for n in range(1, 5)]
    for number, path in enumerate(paths[:3], 1):
        ensure(mirror, path, f"fix/issue-{number}")
    with pytest.raises(SlotsFull):
        ensure(mirror, paths[3], "fix/issue-4")
    assert not paths[3].exists()
    ensure(mirror, paths[0], "fix/issue-1")
    asyncio.run(remove_worktree(mirror, paths[0]))
    ensure(mirror, paths[3], "fix/issue-4")


def test_a_branch_that_another_run_holds_is_waited_for(mirror: Path, tmp_path: Path) -> None:
    ensure(mirror, tmp_path / "runs/1/fix-issue-1")
    with pytest.raises(Transient, match="is checked out at"):
        ensure(mirror, tmp_path / "runs/2/fix-issue-1")


@pytest.mark.parametrize("name", [name for name in HOSTILE_NAMES if name != "refs/../x"])
def test_hostile_names_are_refused_by_the_bots_own_calls(
    mirror: Path, tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for branch, start in ((name, "main"), ("fix/issue-1", name)):
        with pytest.raises(UserError):
            ensure(mirror, tmp_path / "runs/1/w", branch, start)
    assert not (tmp_path / "runs/1/w").exists() and not list(tmp_path.rglob("CANARY"))


def test_a_tree_that_something_switched_is_told(mirror: Path, tmp_path: Path) -> None:
    path = tmp_path / "runs/7/fix-issue-1"
    ensure(mirror, path)
    plain("checkout", "-q", "-b", "other", cwd=path)
    with pytest.raises(UserError, match="on `other`, not on `fix/issue-1`"):
        ensure(mirror, path)


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
def test_work_survives_whatever_was_done_to_the_git_file(
    mirror: Path, tmp_path: Path, harm: Callable[[Path, Path], None]
) -> None:
    path = tmp_path / "runs/7/fix-issue-1"
    tree = ensure(mirror, path)
    (path / "new").write_text("work in progress")
    harm(path, mirror)
    assert ensure(mirror, path) == tree
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


def _a_file_there(path: Path, _: Path) -> None:
    _directory_deleted(path, _)
    path.write_text("not a directory")


@pytest.mark.parametrize("harm", [_directory_deleted, _record_deleted, _half_made, _record_begun, _a_file_there])
def test_what_is_broken_is_made_again(mirror: Path, tmp_path: Path, harm: Callable[[Path, Path], None]) -> None:
    path = tmp_path / "runs/7/fix-issue-1"
    ensure(mirror, path)
    harm(path, mirror)
    tree = ensure(mirror, path, limit=1)
    assert (path / "a.txt").read_text() == "one\n"
    assert plain("status", "--porcelain", cwd=path) == ""
    assert list((mirror / "worktrees").iterdir()) == [tree.git_dir]
    harm(path, mirror)
    asyncio.run(remove_worktree(mirror, path))
    assert not list(path.parent.iterdir()) and not list((mirror / "worktrees").glob("*"))


ENSURE = """
import asyncio, sys
from pathlib import Path
from bot.workspace.worktree import ensure_worktree
print("ready", flush=True)
asyncio.run(ensure_worktree(Path(sys.argv[1]), Path(sys.argv[2]), "fix/issue-1", "main", 3))
"""


@pytest.fixture
def large_mirror(tmp_path: Path) -> Path:
    repo = make_repo(tmp_path / "large", {f"d{n % 40}/f{n}": f"{n}\n" * 20 for n in range(1500)})
    path = tmp_path / "mirrors/large.git"
    asyncio.run(ensure_mirror(path))
    asyncio.run(fetch(path, Remote(str(repo))))
    return path


def _kill_while_creating(mirror: Path, path: Path, delay_s: float, *, orphan_git: bool) -> None:
    racer = python(ENSURE, mirror, path)
    assert racer.stdout is not None and racer.stdout.readline() == b"ready\n"
    time.sleep(delay_s)
    children = Path(f"/proc/{racer.pid}/task/{racer.pid}/children").read_text().split()
    os.kill(racer.pid, signal.SIGKILL)
    if not orphan_git:
        for child in children:
            with_group = os.getpgid(int(child)) if Path(f"/proc/{child}").exists() else None
            if with_group == int(child):  # every process of ours leads its own session
                os.killpg(with_group, signal.SIGKILL)
    racer.communicate()


def _survives(mirror: Path, path: Path, delays: Sequence[float]) -> None:
    for number, delay_s in enumerate(delays):
        _kill_while_creating(mirror, path, delay_s, orphan_git=number % 3 == 2)
        tree = ensure(mirror, path)
        assert plain("status", "--porcelain", cwd=path) == "", delay_s
        assert [p.name for p in path.parent.iterdir()] == ["fix-issue-1"]
        assert list((mirror / "worktrees").iterdir()) == [tree.git_dir]
        asyncio.run(remove_worktree(mirror, path))
        assert not list(path.parent.iterdir()) and not list((mirror / "worktrees").glob("*"))
        assert not (mirror / "mendbot-creating.json").exists()
        plain("update-ref", "-d", "refs/heads/fix/issue-1", cwd=mirror)


def test_killed_while_creating_the_next_call_succeeds(large_mirror: Path, tmp_path: Path) -> None:
    _survives(large_mirror, tmp_path / "runs/7/fix-issue-1", (0.02, 0.06, 0.1))


@pytest.mark.soak
def test_killed_at_fifty_points_the_next_call_succeeds(large_mirror: Path, tmp_path: Path) -> None:
    _survives(large_mirror, tmp_path / "runs/7/fix-issue-1", [n * 0.006 for n in range(50)])


def test_a_person_killed_while_creating_can_create_again(repo: Path) -> None:
    for delay_s in (0.1, 0.2, 0.3):
        racer = python(CREATE, repo, 1)
        time.sleep(delay_s)
        os.killpg(racer.pid, signal.SIGKILL)
        racer.communicate()
        result = manage("create", [1], repo=repo)
        if not result.success:  # it had come through
            assert "already exists" in (result.error or "") and len(manage("list", repo=repo).worktrees or ()) == 1
        assert manage("cleanup", [1], repo=repo).success
        plain("branch", "-D", "fix/issue-1", cwd=repo)


def test_leftovers_are_salvaged_and_nothing_else(mirror: Path, tmp_path: Path) -> None:
    path = tmp_path / "runs/7/fix-issue-1"
    tree = ensure(mirror, path)
    (path / "x.log").write_text("ignored")
    assert asyncio.run(salvage(tree, "refs/mendbot/salvage/7")) is None
    (path / "new").write_text("never committed")
    assert asyncio.run(salvage(tree, "7")) == "refs/mendbot/salvage/7"
    asyncio.run(remove_worktree(mirror, path))
    assert plain("show", "refs/mendbot/salvage/7:new", cwd=mirror) == "never committed"
    assert asyncio.run(salvage(tree, "refs/mendbot/salvage/7")) is None


def test_deep_and_forbidden_directories_are_removed(mirror: Path, tmp_path: Path) -> None:
    path = tmp_path / "runs/7/fix-issue-1"
    ensure(mirror, path)
    home = os.getcwd()
    os.chdir(path)
    try:
        for _ in range(3000):
            os.mkdir("d")
            os.chdir("d")
    finally:
        os.chdir(home)
    (path / "src").chmod(0)
    asyncio.run(remove_worktree(mirror, path))
    assert not list(path.parent.iterdir())
    ensure(mirror, path)


AS_SOMEBODY = """
import asyncio, os, sys
from pathlib import Path
from bot.workspace.removal import remove_directory
from bot.workspace.tree import Tree
from bot.workspace.git import git

async def main(root):
    assert os.getuid() != 0
    repo = root / "repo"
    (repo / "src").mkdir(parents=True)
    (repo / "src/a").write_text("a")
    await git("init", "-q", cwd=repo)
    await git("add", "-A", git_dir=repo / ".git", work_tree=repo)
    await git("commit", "-q", "-m", "x", git_dir=repo / ".git", work_tree=repo)
    tree = Tree(repo, repo / ".git")
    before = await tree.snapshot()
    (repo / "src/new").write_text("n")
    (repo / "src/new").chmod(0)
    (repo / "src").chmod(0o500)
    assert await tree.snapshot() != before
    (repo / "src").chmod(0o500)
    await tree.restore(before)
    assert not (repo / "src/new").exists()
    (repo / "src").chmod(0)
    await remove_directory(repo)
    assert not list(root.iterdir())

asyncio.run(main(Path(sys.argv[1])))
"""


def test_rights_taken_away_stop_neither_restoring_nor_removing() -> None:
    """As an ordinary user, since root may do anything; with what this user can read."""
    become: list[str] = []
    if os.getuid() == 0:
        if shutil.which("setpriv") is None or not Path("/usr/bin/python3").exists():
            pytest.skip("needs setpriv and the system's Python to become somebody else")
        become = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "/usr/bin/python3"]
    with tempfile.TemporaryDirectory() as place:
        home = Path(place)
        shutil.copytree(ROOT / "bot", home / "bot", ignore=shutil.ignore_patterns("__pycache__"))
        (home / "work").mkdir()
        home.chmod(0o755)
        (home / "work").chmod(0o777)
        env = {"PATH": os.environ["PATH"], "PYTHONPATH": str(home), "PYTHONDONTWRITEBYTECODE": "1"}
        argv = [*(become or [sys.executable]), "-c", AS_SOMEBODY, str(home / "work")]
        done = subprocess.run(argv, cwd=home, env=env, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr


def test_branches_are_named_by_their_issues() -> None:
    assert branch_for([3, 1, 2, 3]) == "fix/issue-1-2-3"
