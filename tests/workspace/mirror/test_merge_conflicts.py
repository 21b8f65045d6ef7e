"""What would conflict is what git finds when it really merges; nothing of the repository's is run for it."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from bot.errors import UserError
from bot.workspace.mirror.merge_conflicts import conflicts
from tests.workspace.git_scene import ENV, executable, make_repo, plain

LINES = "".join(f"line {number}\n" for number in range(30))


@pytest.fixture
def work(tmp_path: Path) -> Path:
    files = {"a.txt": LINES, "b.txt": LINES, "c.txt": "c\n", "dir/d.txt": "d\n"}
    work = make_repo(tmp_path / "work", files)
    (work / "bin").write_bytes(bytes(range(256)))
    plain("add", "-A", cwd=work)
    plain("commit", "-q", "-m", "binary", cwd=work)
    return work


async def found(work: Path, ours: str = "ours", theirs: str = "theirs") -> tuple[str, ...]:
    return await conflicts(work / ".git", ours, theirs)


def side(work: Path, name: str, act: Callable[[Path], None]) -> str:
    """A branch off `main` with what `act` did."""
    plain("checkout", "-q", "-b", name, "main", cwd=work)
    act(work)
    plain("add", "-A", cwd=work)
    plain("commit", "-q", "-m", name, cwd=work)
    return plain("rev-parse", "HEAD", cwd=work)


def edit(path: str, text: str, line: int = 3) -> Callable[[Path], None]:
    def act(work: Path) -> None:
        lines = (work / path).read_text().splitlines(keepends=True)
        lines[line % len(lines)] = f"{text}\n"
        (work / path).write_text("".join(lines))

    return act


def write(path: str, data: bytes) -> Callable[[Path], None]:
    def act(work: Path) -> None:
        (work / path).parent.mkdir(parents=True, exist_ok=True)
        (work / path).write_bytes(data)

    return act


def move(source: str, to: str) -> Callable[[Path], None]:
    return lambda work: (work / source).rename(work / to) and None


def delete(path: str) -> Callable[[Path], None]:
    return lambda work: (work / path).unlink()


def file_for_directory(work: Path) -> None:
    shutil.rmtree(work / "dir")
    (work / "dir").write_text("a file\n")


@pytest.mark.parametrize(
    ("ours", "theirs", "paths"),
    [
        (edit("a.txt", "x"), edit("b.txt", "y"), ()),
        (edit("a.txt", "x", 2), edit("a.txt", "y", 25), ()),
        (edit("a.txt", "same"), edit("a.txt", "same"), ()),
        (edit("a.txt", "x"), edit("a.txt", "y"), ("a.txt",)),
        (edit("a.txt", "x"), delete("a.txt"), ("a.txt",)),
        (move("a.txt", "moved.txt"), edit("a.txt", "y"), ()),
        (move("a.txt", "moved.txt"), delete("a.txt"), ("moved.txt",)),
        (move("a.txt", "one.txt"), move("a.txt", "two.txt"), ("a.txt", "one.txt", "two.txt")),
        (write("bin", b"\0ours"), write("bin", b"\0theirs"), ("bin",)),
        (write("new", b"ours\n"), write("new", b"theirs\n"), ("new",)),
        (file_for_directory, write("dir/d.txt", b"changed\n"), ("dir", "dir/d.txt")),
        (write("a\nb\té", b"1\n"), write("a\nb\té", b"2\n"), ("a\nb\té",)),
        (write("--force", b"1\n"), write("--force", b"2\n"), ("--force",)),
    ],
)
async def test_the_paths_that_conflict_are_named(
    work: Path, ours: Callable[[Path], None], theirs: Callable[[Path], None], paths: tuple[str, ...]
) -> None:
    left, right = side(work, "ours", ours), side(work, "theirs", theirs)
    plain("checkout", "-q", "main", cwd=work)
    assert await found(work) == await found(work, left, right) == paths
    assert plain("status", "--porcelain", cwd=work) == "", "no work tree is touched"
    plain("reset", "-q", "--hard", "ours", cwd=work)
    merged = subprocess.run(["git", "merge", "-q", "theirs"], cwd=work, env=ENV, capture_output=True, check=False)
    assert (merged.returncode != 0) == bool(paths), "as git itself merges them"


async def test_what_contains_the_other_does_not_conflict(work: Path) -> None:
    side(work, "ours", edit("a.txt", "x"))
    assert (
        await found(work, "main", "ours")
        == await found(work, "ours", "main")
        == await found(work, "ours", "ours")
        == ()
    )


async def test_both_sides_of_more_than_one_file(work: Path) -> None:
    for name in ("ours", "theirs"):
        side(work, name, lambda work, name=name: [edit(f, name)(work) for f in ("a.txt", "b.txt", "c.txt")] and None)
    assert await found(work) == ("a.txt", "b.txt", "c.txt")


async def test_histories_without_a_common_commit_are_told(work: Path) -> None:
    tree = plain("rev-parse", "main^{tree}", cwd=work)
    other = plain("commit-tree", tree, "-m", "another beginning", cwd=work)
    with pytest.raises(UserError, match="no common history"):
        await found(work, "main", other)


@pytest.mark.parametrize("name", ["nothing", "-x", "--upload-pack=touch${IFS}CANARY", "0" * 40, "main^{tree}", ""])
async def test_what_is_no_commit_is_told(work: Path, name: str) -> None:
    for pair in ((name, "main"), ("main", name)):
        with pytest.raises(UserError, match="names no commit"):
            await found(work, *pair)
    assert not list(work.rglob("CANARY"))


async def test_no_driver_hook_or_filter_runs(work: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """T18: attributes name drivers, but only a configuration says what they run, and none is read but ours."""
    canary = tmp_path / "CANARY"
    evil = executable(tmp_path / "evil", canary)
    settings = f'[merge "custom"]\n\tdriver = {evil} %A\n[filter "custom"]\n\tclean = {evil}\n\tsmudge = {evil}\n'
    (tmp_path / ".gitconfig").write_text(settings)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(tmp_path / ".gitconfig"))
    plain("commit", "-q", "--allow-empty", "-m", "attributes", cwd=work)
    for name in ("ours", "theirs"):
        side(work, name, edit("a.txt", name))
    (work / ".gitattributes").write_text("* merge=custom filter=custom\n")
    (work / ".git/info/attributes").write_text("* merge=custom filter=custom\n")
    assert await found(work) == ("a.txt",)
    assert not canary.exists()
    with_it = {**ENV, "GIT_CONFIG_GLOBAL": str(tmp_path / ".gitconfig")}
    asked = ["git", "merge-tree", "--write-tree", "ours", "theirs"]
    subprocess.run(asked, cwd=work / ".git", env=with_it, check=False, capture_output=True)
    assert canary.exists(), "the trap works where such a configuration is read"
