"""What a worktree holds beside its commits is kept in two tries or named as lost; its slot is free either way."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest

from bot.model import Loss
from bot.workflows.runs.finish import save_and_remove_tree
from bot.workspace.worktree.registry import entries
from tests.machine import PATIENCE_S
from tests.workspace.git_scene import ROOT, ensure, plain

REF = "refs/mendbot/salvage/1"


async def clear(mirror: Path, path: Path) -> Loss | None:
    return await asyncio.wait_for(save_and_remove_tree(mirror, path, REF), PATIENCE_S)


def kept(mirror: Path) -> set[str]:
    return set(plain("ls-tree", "-r", "--name-only", REF, cwd=mirror).splitlines())


def _bad_encoding(path: Path) -> None:
    (path / ".gitattributes").write_text("*.txt working-tree-encoding=UTF-16\n")


def _unknown_encoding(path: Path) -> None:
    (path / ".gitattributes").write_text("*.txt working-tree-encoding=NO-SUCH\n")


def _pipe(path: Path) -> None:
    os.mkfifo(path / "sub/.gitignore")


def _no_rights(path: Path) -> None:
    (path / "sub/new.txt").chmod(0)
    (path / "sub").chmod(0)
    path.chmod(0)


@pytest.mark.parametrize("spoil", [_bad_encoding, _unknown_encoding, _pipe, _no_rights])
async def test_a_tree_that_git_cannot_read_is_kept_as_it_is(
    mirror: Path, tmp_path: Path, spoil: Callable[[Path], None]
) -> None:
    path = tmp_path / "runs/1/fix-issue-1"
    await ensure(mirror, path, limit=1)
    (path / "sub").mkdir()
    (path / "sub/new.txt").write_text("never committed")
    (path / "a.txt").write_text("changed")
    (path / "src/b.py").unlink()
    spoil(path)
    assert await clear(mirror, path) is None
    assert kept(mirror) >= {"a.txt", "sub/new.txt"}
    assert plain("show", f"{REF}:sub/new.txt", cwd=mirror) == "never committed"
    assert await entries(mirror) == () and not path.parent.exists()
    await ensure(mirror, tmp_path / "runs/2/fix-issue-2", "fix/issue-2", limit=1)


async def test_what_cannot_be_kept_is_named(mirror: Path, tmp_path: Path) -> None:
    path = tmp_path / "runs/1/fix-issue-1"
    await ensure(mirror, path, limit=1)
    (path / "sub").mkdir()
    _pipe(path)
    (path / "new.txt").write_text("kept")
    (path / "link").symlink_to("/etc/shadow")
    (path / "run.sh").write_text("echo")
    (path / "run.sh").chmod(0o755)
    with (path / "huge\n`x`.bin").open("wb") as file:
        file.truncate(100 << 20)
    loss = await clear(mirror, path)
    assert loss is not None and loss.files == (r"huge\n`x`.bin",) and loss.more == 0
    assert "`sub/.gitignore` is a named pipe" in loss.because
    listed = plain("ls-tree", "-r", REF, cwd=mirror)
    assert "120000" in listed and "100755" in listed
    assert plain("show", f"{REF}:link", cwd=mirror) == "/etc/shadow"
    assert await entries(mirror) == ()


async def test_the_number_of_lost_files_is_told_and_not_all_names(mirror: Path, tmp_path: Path) -> None:
    path = tmp_path / "runs/1/fix-issue-1"
    await ensure(mirror, path)
    (path / "sub").mkdir()
    _pipe(path)
    for number in range(530):
        (path / f"n{number:03}.txt").write_text(str(number))
    loss = await clear(mirror, path)
    assert loss is not None and (len(loss.files), loss.more) == (20, 10)
    assert len(kept(mirror)) == 500 + 3


AS_SOMEBODY = """
import asyncio, os, sys
from pathlib import Path
from bot.errors import Transient
from bot.workflows.runs.finish import save_and_remove_tree
from bot.workspace.mirror.mirror import ensure_mirror, fetch
from bot.workspace.mirror.remote import Remote
from bot.workspace.worktree.registry import entries
from bot.workspace.worktree.run_worktree import SlotsFull, ensure_worktree
from tests.workspace.git_scene import make_bare, make_repo, plain
import concurrent.futures.thread, encodings.ascii, encodings.idna

async def main(root):
    mirror, path = root / "mirrors/r.git", root / "runs/1/fix-issue-1"
    was_root = os.getuid() == 0
    if was_root:
        (root / "foreign/sub").mkdir(parents=True)
        (root / "foreign/sub/file").touch()
        (root / "foreign").chmod(0o777)
        os.setresgid(65534, 65534, 65534)
        os.setresuid(65534, 65534, 65534)
    await ensure_mirror(mirror)
    await fetch(mirror, Remote(str(make_bare(root / "remote.git", make_repo(root / "repo")))))
    tree = await ensure_worktree(mirror, path, "fix/issue-1", "main", 1)
    (path / "sub").mkdir()
    (path / "sub/new.txt").write_text("never committed")
    (path / "sub").chmod(0)
    assert "sub/new.txt" in plain("ls-tree", "-r", "--name-only", await tree.snapshot(), cwd=mirror).split()
    (path / "closed.txt").write_text("closed")
    (path / "closed.txt").chmod(0)
    (path / "sub").chmod(0)
    path.chmod(0)
    assert await save_and_remove_tree(mirror, path, "refs/mendbot/salvage/1") is None
    kept = plain("ls-tree", "-r", "--name-only", "refs/mendbot/salvage/1", cwd=mirror).split()
    assert {"closed.txt", "sub/new.txt"} <= set(kept), kept
    assert await entries(mirror) == () and not path.parent.exists()
    if not was_root:
        return
    # what belongs to somebody else can be neither made ours nor deleted
    await ensure_worktree(mirror, path, "fix/issue-2", "main", 1)
    (root / "foreign").rename(path / "foreign")
    for _ in range(3):
        try:
            await save_and_remove_tree(mirror, path, "refs/mendbot/salvage/2")
        except Transient as error:
            assert "could not be deleted" in str(error), error
        assert await entries(mirror) == () and not path.exists()
    await ensure_worktree(mirror, root / "runs/2/fix-issue-3", "fix/issue-3", "main", 1)

asyncio.run(main(Path(sys.argv[1])))
"""


def test_rights_taken_away_leak_no_slot() -> None:
    """As an ordinary user, since root may do anything."""
    with tempfile.TemporaryDirectory() as place:
        Path(place).chmod(0o777)
        argv = (sys.executable, "-c", AS_SOMEBODY, place)
        env = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
        done = subprocess.run(argv, cwd=ROOT, env=env, capture_output=True, text=True, timeout=PATIENCE_S, check=False)
    assert done.returncode == 0, done.stderr
