"""A machine that lacks disk, descriptors or processes makes work wait and says the remedy: it is nobody's fault."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from bot.errors import Shortage, Transient, shortage_behind
from bot.reports.locale.reasons import english
from bot.workspace.sandbox.sandbox import open_sandbox
from tests.machine import PATIENCE_S
from tests.workspace.git_scene import ROOT

COMMON = """
import asyncio, errno, os, resource, sys
from pathlib import Path
from bot.model import Change, ShellCommand, StopReason
from bot.workflows.job_runner import guarded
from bot.workspace.checks.logs import write_log
from bot.workspace.git.command import git
from bot.workspace.mirror.mirror import ensure_mirror, fetch
from bot.workspace.mirror.remote import Remote
from bot.workspace.patch import apply_changes
from bot.workspace.sandbox.sandbox import open_sandbox
from bot.workspace.worktree.run_worktree import ensure_worktree
from tests.workspace.git_scene import make_bare, make_repo

said = []

async def outcome(work):
    "Whether a job that does the work is done, or waits for better times; never ended for a fault."
    async def advance(args):
        try:
            await work()
        except BaseException as error:
            said.append(f"{type(error).__name__}: {error}")
            raise
    async def bury(args, stop, tidy):
        raise SystemExit(f"ended: {stop.reason}: {stop.details}")
    async def step(args):
        from bot.model.jobs import StepResult
        await advance(args)
        return StepResult(done=True)
    ended = await guarded("test", step, bury)({}, 0)
    assert ended.done or ended.fault, ended
    return ended.done
"""

FULL = (
    COMMON
    + """
async def main(root):
    mirror = root / "mirrors/r.git"
    remote = Remote(str(make_bare(root / "remote.git", make_repo(root / "repo"))))
    await ensure_mirror(mirror)
    await fetch(mirror, remote)
    tree = await ensure_worktree(mirror, root / "runs/1/fix-issue-1", "fix/issue-1", "main", 3)
    (tree.path / "new.txt").write_text("new")
    before = await tree.snapshot()
    works = {
        "fetch": lambda: fetch(mirror, remote),
        "snapshot": tree.snapshot,
        "restore": lambda: tree.restore(before),
        "keep": lambda: tree.keep(before, "refs/mendbot/salvage/9"),
        "commit": lambda: tree.commit(before, "a message", "A <a@example.org>"),
        "worktree": lambda: ensure_worktree(mirror, root / "runs/2/fix-issue-2", "fix/issue-2", "main", 3),
        "mirror": lambda: ensure_mirror(root / "mirrors/other.git"),
        "apply": lambda: apply_changes(tree, [Change(path="b.txt", content="x" * 5000)]),
    }
    async def log():
        write_log(root / "home", "run-1", "test.log", b"x" * 5000)
    works["log"] = log
    for name in ("n.txt", "m.txt"):
        (tree.path / name).write_text(name * 3000)
    ballast = open(root / "ballast", "wb", buffering=0)
    try:
        while True:
            ballast.write(b"x" * 4096)
    except OSError as error:
        assert error.errno == errno.ENOSPC
    waited = {name for name, work in works.items() if not await outcome(work)}
    assert {"snapshot", "worktree", "mirror", "log", "apply"} <= waited, (waited, said)
    assert all("the disk is full: free some space" in one or "No space left" in one for one in said), said
    os.unlink(root / "ballast")
    ballast.close()
    assert all([await outcome(work) for work in works.values()]), said

asyncio.run(main(Path(sys.argv[1])))
"""
)

DESCRIPTORS = (
    COMMON
    + """
async def main(root):
    mirror = root / "mirrors/r.git"
    await ensure_mirror(mirror)
    await fetch(mirror, Remote(str(make_bare(root / "remote.git", make_repo(root / "repo")))))
    tree = await ensure_worktree(mirror, root / "runs/1/fix-issue-1", "fix/issue-1", "main", 3)
    (tree.path / "new.txt").write_text("new")
    box = await open_sandbox("none", ())

    async def check():
        result = await box.run(ShellCommand(run=("true",), timeout_s=60), tree.path)
        assert result.spawn_error is None, result

    works = {
        "git": lambda: git("version"),
        "snapshot": tree.snapshot,
        "again": lambda: ensure_worktree(mirror, root / "runs/1/fix-issue-1", "fix/issue-1", "main", 3),
        "apply": lambda: apply_changes(tree, [Change(path="a/b/c.txt", content="x")]),
        "check": check,
    }
    for work in works.values():
        assert await outcome(work), said
    resource.setrlimit(resource.RLIMIT_NOFILE, (200, 200))
    held = []
    try:
        while True:
            held.append(os.open("/dev/null", os.O_RDONLY))
    except OSError as error:
        assert error.errno == errno.EMFILE
    waited = 0
    for left in range(14):
        for work in works.values():
            waited += not await outcome(work)
        os.close(held.pop())
    assert waited >= 10, waited
    assert all("ulimit -n" in one or "Too many open files" in one for one in said), said
    for number in held:
        os.close(number)
    assert all([await outcome(work) for work in works.values()]), said
    assert (tree.git_dir / "gitdir").exists()

asyncio.run(main(Path(sys.argv[1])))
"""
)

PROCESSES = (
    COMMON
    + """
import concurrent.futures.thread, encodings.ascii, encodings.idna

async def main(root):
    if os.getuid() == 0:  # whom no limit on processes binds
        os.setresgid(65534, 65534, 65534)
        os.setresuid(65534, 65534, 65534)
    box = await open_sandbox("none", ())
    resource.setrlimit(resource.RLIMIT_NPROC, (0, 0))

    async def check():
        result = await box.run(ShellCommand(run=("true",), timeout_s=60), root)
        assert result.spawn_error is None, result

    for work in (lambda: git("version"), check):
        assert not await outcome(work)
    assert len(said) == 2 and all("too many processes: raise the limit (ulimit -u)" in one for one in said), said

asyncio.run(main(Path(sys.argv[1])))
"""
)


def passes(program: str, place: Path, *around: str) -> None:
    argv = (*around, sys.executable, "-c", program, str(place))
    env = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(argv, cwd=ROOT, env=env, capture_output=True, text=True, timeout=PATIENCE_S, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


async def test_a_full_disk_makes_work_wait_and_no_more(tmp_path: Path) -> None:
    box = (await open_sandbox("bubblewrap", ())).bubblewrap
    if box is None:
        pytest.skip("a small disk of our own takes bubblewrap, which does not work here")
    small = ("--dev-bind", "/", "/", "--size", str(6 << 20), "--tmpfs", str(tmp_path), "--chdir", str(ROOT), "--")
    passes(FULL, tmp_path, str(box.bwrap), *small)


def test_without_descriptors_work_waits_and_git_is_not_said_to_be_missing(tmp_path: Path) -> None:
    passes(DESCRIPTORS, tmp_path)


def test_without_processes_work_waits() -> None:
    with tempfile.TemporaryDirectory() as place:
        Path(place).chmod(0o777)
        passes(PROCESSES, Path(place))


def test_a_shortage_is_seen_behind_other_errors() -> None:
    assert shortage_behind(ValueError("x")) is None
    assert shortage_behind(BlockingIOError(11, "would block")) is None
    assert shortage_behind(FileNotFoundError(2, "none")) is None
    assert "free some space" in english(shortage_behind(OSError(28, "full")))
    assert "memory" in english(shortage_behind(MemoryError()))
    try:
        try:
            raise OSError(24, "Too many open files")
        except OSError as error:
            raise LookupError("nothing found") from error
    except LookupError as error:
        assert "ulimit -n" in english(shortage_behind(error))
        assert "ulimit -n" in english(shortage_behind(ExceptionGroup("several", [ValueError("x"), error])))
    assert isinstance(Shortage("x"), Transient)
