"""Working trees at which git would hang, compute for years or run out of memory: refused by name, and soon."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from bot.errors import Refused
from bot.workspace.git.hazards import MAX_RULES_BYTES, costly_pattern, find_hazard
from bot.workspace.git.tree import Tree
from tests.machine import PATIENCE_S
from tests.workspace.git_scene import ROOT, make_repo, names, plain
from tests.workspace.sandbox.sandboxed_commands import until

SLOW = "**/" * 26 + "b"
"""git tries all the ways in which 26 wildcards can share the parts of a path."""


def pipe(path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.unlink(missing_ok=True)
    os.mkfifo(path)


def sparse(path: Path, size: int = 10 << 30) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("wb") as file:
        file.truncate(size)


async def snapshot(tree: Tree) -> str:
    return await asyncio.wait_for(tree.snapshot(), PATIENCE_S)


@pytest.mark.parametrize(
    "name", [".gitignore", "src/.gitignore", "deep/er/.gitignore", ".gitattributes", "x/.git/HEAD"]
)
async def test_a_pipe_that_git_would_wait_at_is_refused_by_name(tree: Tree, name: str) -> None:
    before = await snapshot(tree)
    pipe(tree.path / name)
    (tree.path / name).with_name("beside.txt").write_text("new")
    (tree.path / "other.txt").write_text("new")
    for look in (tree.snapshot(), tree.restore(before)):
        with pytest.raises(Refused, match=f"cannot read this working tree: `{name}` is a named pipe") as caught:
            await asyncio.wait_for(look, PATIENCE_S)
        assert caught.value.reason == "unreadable_tree"
    (tree.path / name).unlink()
    assert await snapshot(tree) != before


async def test_a_file_of_rules_as_large_as_the_memory_is_refused(tree: Tree) -> None:
    sparse(tree.path / "sub/.gitignore")
    (tree.path / "sub/new.txt").write_text("new")
    with pytest.raises(Refused, match=r"`sub/\.gitignore` is larger than 10 MiB"):
        await snapshot(tree)


async def test_what_only_looks_dangerous_is_no_hindrance(tree: Tree) -> None:
    """Links are not followed by git, a directory holds no rules, and of other files it asks the kind first."""
    pipe(tree.path / "pipe")
    (tree.path / "linked").mkdir()
    (tree.path / "linked/.gitignore").symlink_to("../pipe")
    (tree.path / "linked/.gitattributes").symlink_to("/dev/zero")
    (tree.path / "kept/.gitignore").mkdir(parents=True)
    (tree.path / "kept/.gitignore/file").write_text("x")
    assert find_hazard(tree.path) is None
    assert "kept/.gitignore/file" in await names(tree, await snapshot(tree))


async def test_a_pattern_that_takes_years_is_stopped_and_named(tree: Tree, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bot.workspace.git.command._MIN_CPU_S", 1.0)
    monkeypatch.setattr("bot.workspace.git.command._CPU_SHARE", 0.0)
    deep = tree.path / "/".join("a" * 100)
    deep.mkdir(parents=True)
    (deep / "file").write_text("x")
    (tree.path / "src/.gitignore").write_text("*.log\n*.tmp\n")
    (tree.path / ".gitignore").write_text(f"*.log\n\n{SLOW}\n")
    with pytest.raises(Refused, match=r"computed too long .*`\.gitignore`, line 3") as caught:
        await snapshot(tree)
    assert caught.value.reason == "unreadable_tree"


def test_ordinary_rules_are_never_blamed(tmp_path: Path) -> None:
    repo = make_repo(tmp_path / "r", {".gitignore": "*.py[cod]\n**/build/*.o\n/a/*/b/*.c\n"})
    assert costly_pattern(repo) is None
    (repo / ".gitattributes").write_text("x" * MAX_RULES_BYTES)
    assert find_hazard(repo) is None


WAITS = """
import asyncio, sys
from pathlib import Path
from bot.workspace.git.command import git
asyncio.run(git("hash-object", "--", "pipe", git_dir=Path(sys.argv[1]), cwd=Path(sys.argv[2])))
"""


def waiting(directory: Path) -> list[str]:
    """The processes of git that work in the directory."""
    found = []
    for entry in Path("/proc").iterdir():
        try:
            if entry.name.isdigit() and (entry / "cwd").readlink() == directory:
                found.append((entry / "cmdline").read_bytes().split(b"\0")[0].decode())
        except OSError:  # gone, or another user's
            continue
    return [name for name in found if name.rpartition("/")[2] == "git"]


def test_git_ends_with_the_bot(tree: Tree) -> None:
    pipe(tree.path / "pipe")
    argv = (sys.executable, "-c", WAITS, str(tree.git_dir), str(tree.path))
    with subprocess.Popen(argv, cwd=ROOT) as mendbot:
        until(lambda: waiting(tree.path) != [] or mendbot.poll() is not None)
        assert mendbot.poll() is None
        mendbot.send_signal(signal.SIGKILL)
    until(lambda: waiting(tree.path) == [])
    assert plain("status", "--porcelain", cwd=tree.path) == ""
