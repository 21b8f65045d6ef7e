"""The one door to git: nothing leaks in, nothing runs by itself, stale locks don't stop it."""

from __future__ import annotations

import asyncio
import os
import time
from pathlib import Path

import pytest

from bot.errors import Transient
from bot.workspace.git.command import GitError, environment, git
from tests.machine import PATIENCE_S
from tests.workspace.git_scene import HOSTILE_NAMES, executable, make_repo, plain


def test_the_environment_holds_nothing_of_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("WEBHOOK_SECRET", "GIT_DIR", "GIT_CONFIG_COUNT", "GIT_SSH_COMMAND", "HOME", "EDITOR"):
        monkeypatch.setenv(name, "leak")
    env = environment()
    assert "leak" not in env.values()
    assert env["GIT_TERMINAL_PROMPT"] == "0" and env["GIT_CONFIG_GLOBAL"] == "/dev/null" and env["LC_ALL"] == "C"


async def test_an_error_carries_gits_own_sentence(tmp_path: Path) -> None:
    with pytest.raises(GitError, match=r"git rev-parse failed \(128\): Needed a single revision") as caught:
        await git("rev-parse", "--verify", "nothing", git_dir=make_repo(tmp_path / "r") / ".git")
    assert caught.value.exit_code == 128


async def test_a_worktree_that_is_just_being_made_by_another_is_no_reason_to_fail(tmp_path: Path) -> None:
    repo = make_repo(tmp_path / "r")
    record = repo / ".git/worktrees/head"
    record.mkdir(parents=True)
    (record / "gitdir").write_text(f"{tmp_path}/head/.git\n")
    (record / "HEAD").write_text("ref: refs/heads/main\n")
    (record / "commondir").touch()

    async def look() -> bytes:
        asyncio.get_running_loop().call_later(0.02, (record / "commondir").write_text, "../..\n")
        return await git("worktree", "list", "--porcelain", git_dir=repo / ".git")

    assert f"worktree {tmp_path}/head\n".encode() in await look()


async def test_hooks_fsmonitor_and_pagers_of_a_repository_never_run(tmp_path: Path) -> None:
    repo, canary = make_repo(tmp_path / "r"), tmp_path / "canary"
    program = executable(tmp_path / "evil", canary)
    hooks = tmp_path / "hooks"
    hooks.mkdir()
    for hook in ("pre-commit", "post-checkout", "post-index-change", "reference-transaction", "pre-push"):
        executable(hooks / hook, canary)
        executable(repo / ".git/hooks" / hook, canary)
    for key, value in (
        ("core.hooksPath", str(hooks)),
        ("core.fsmonitor", str(program)),
        ("core.pager", str(program)),
        ("diff.external", str(program)),
    ):
        plain("config", key, value, cwd=repo)
    (repo / "a.txt").write_text("two\n")
    canary.unlink(missing_ok=True)

    git_dir = repo / ".git"
    await git("status", "--porcelain", git_dir=git_dir, work_tree=repo)
    await git("add", "-A", git_dir=git_dir, work_tree=repo)
    await git("commit", "-q", "-m", "x", git_dir=git_dir, work_tree=repo)
    await git("worktree", "add", "-q", "-b", "b", str(tmp_path / "w"), git_dir=git_dir)
    assert not canary.exists(), canary.read_text()


@pytest.mark.parametrize(
    "url", ["ext::sh -c 'touch CANARY'", "file:///nowhere", "ssh://h/x", "git://h/x", "http://127.0.0.1:9/x"]
)
async def test_no_transport_is_open_unless_a_caller_opens_it(tmp_path: Path, url: str) -> None:
    repo = make_repo(tmp_path / "r")
    with pytest.raises(GitError, match=r"transport '.*' not allowed"):
        await git("fetch", "--", url, git_dir=repo / ".git", cwd=tmp_path)
    assert not (tmp_path / "CANARY").exists()


@pytest.mark.parametrize("name", HOSTILE_NAMES)
async def test_a_hostile_name_as_argument_runs_nothing(tmp_path: Path, name: str) -> None:
    repo = make_repo(tmp_path / "r")
    for args in (("rev-parse", "--verify", "--quiet", name), ("show-ref", "--verify", "--", name)):
        await git(*args, git_dir=repo / ".git", cwd=tmp_path, ok=range(256))
    assert sorted(p.name for p in tmp_path.iterdir()) == ["r"]


async def test_a_command_past_its_time_is_transient(tmp_path: Path) -> None:
    repo = make_repo(tmp_path / "r")
    plain("config", "alias.wait", "!sleep 600", cwd=repo)
    with pytest.raises(Transient, match="time limit"):
        await git("wait", git_dir=repo / ".git", timeout_s=0.3)


def _plant(lock: Path, age_s: float) -> Path:
    lock.parent.mkdir(parents=True, exist_ok=True)
    lock.touch()
    os.utime(lock, (time.time() - age_s,) * 2)
    return lock


@pytest.mark.parametrize(
    ("lock", "args"),
    [
        ("index.lock", ("add", "-A")),
        ("packed-refs.lock", ("pack-refs", "--all")),
        ("config.lock", ("config", "x.y", "z")),
        ("HEAD.lock", ("symbolic-ref", "HEAD", "refs/heads/other")),
        ("refs/heads/new.lock", ("update-ref", "refs/heads/new", "HEAD")),
    ],
)
async def test_a_stale_lock_is_removed_and_the_command_done(tmp_path: Path, lock: str, args: tuple[str, ...]) -> None:
    """REQ-GIT-001."""
    repo = make_repo(tmp_path / "r")
    (repo / "new.txt").write_text("x")
    planted = _plant(repo / ".git" / lock, age_s=3600)
    await git(*args, git_dir=repo / ".git", work_tree=repo)
    assert not planted.exists()


async def test_a_young_lock_is_left_alone_and_said_to_be_so(tmp_path: Path) -> None:
    repo = make_repo(tmp_path / "r")
    planted = _plant(repo / ".git/index.lock", age_s=0)
    with pytest.raises(Transient, match=r"index\.lock") as caught:
        await git("add", "-A", git_dir=repo / ".git", work_tree=repo)
    assert planted.exists()
    assert caught.value.retry_after_s is not None and 1 <= caught.value.retry_after_s <= 61


async def test_a_young_lock_that_is_let_go_of_only_delays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bot.workspace.git.repo_lock._LOCK_WAIT_S", PATIENCE_S)
    repo = make_repo(tmp_path / "r")
    planted = _plant(repo / ".git/index.lock", age_s=0)

    adding = asyncio.create_task(git("add", "-A", git_dir=repo / ".git", work_tree=repo))
    await asyncio.sleep(0.2)
    planted.unlink()
    await adding


async def test_a_lock_outside_the_repository_is_never_deleted(tmp_path: Path) -> None:
    repo, foreign = make_repo(tmp_path / "r"), _plant(tmp_path / "precious.lock", age_s=3600)
    plain("config", "alias.lie", f"!echo \"Unable to create '{foreign}': File exists\" >&2; exit 1", cwd=repo)
    with pytest.raises(GitError):
        await git("lie", git_dir=repo / ".git")
    assert foreign.exists()
