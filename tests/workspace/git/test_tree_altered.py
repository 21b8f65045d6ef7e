"""Restoring what a check altered: the snapshot's files, and nothing beside them."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from bot.workspace.git.index import Index
from bot.workspace.git.tree import Tree
from tests.workspace.git_scene import content, plain


def _edited(path: Path) -> None:
    (path / "a.txt").write_text("rewritten\n")


def _same_size_and_time(path: Path) -> None:
    before = (path / "a.txt").stat()
    (path / "a.txt").write_text("two\n")
    os.utime(path / "a.txt", ns=(before.st_atime_ns, before.st_mtime_ns))


def _deleted(path: Path) -> None:
    (path / "a.txt").unlink()


def _executable(path: Path) -> None:
    (path / "a.txt").chmod(0o755)


def _unreadable(path: Path) -> None:
    (path / "a.txt").write_text("rewritten\n")
    (path / "a.txt").chmod(0)


def _directory_instead(path: Path) -> None:
    (path / "a.txt").unlink()
    (path / "a.txt").mkdir()
    (path / "a.txt/more").write_text("x")


def _link_instead(path: Path) -> None:
    (path / "a.txt").unlink()
    (path / "a.txt").symlink_to("/etc/hostname")


def _hidden_by_attributes(path: Path) -> None:
    (path / ".gitattributes").write_text("* text eol=crlf\n")
    (path / "a.txt").write_text("one\r\n")


def _ignored(path: Path) -> None:
    (path / ".gitignore").write_text("*\n")
    (path / "a.txt").write_text("rewritten\n")


@pytest.mark.parametrize(
    "harm",
    [
        _edited, _same_size_and_time, _deleted, _executable, _unreadable, _directory_instead, _link_instead,
        _hidden_by_attributes, _ignored,
    ],
)  # fmt: skip
async def test_an_altered_file_is_restored_and_named(tree: Tree, harm: Callable[[Path], None]) -> None:
    (tree.path / ".gitattributes").write_text("* -text\n")
    before, held = await tree.snapshot(), content(tree.path)
    harm(tree.path)
    # where the attributes hide a change, they are what is named
    assert {"a.txt", ".gitattributes"} & {*await tree.restore_altered(before)}
    assert content(tree.path) == held
    assert await tree.restore_altered(before) == ()
    assert await tree.snapshot() == before


async def test_a_directory_that_became_a_link_is_restored_and_the_link_is_not_followed(
    tree: Tree, tmp_path: Path
) -> None:
    before = await tree.snapshot()
    shutil.copytree(tree.path / "src", tmp_path / "elsewhere")
    shutil.rmtree(tree.path / "src")
    (tree.path / "src").symlink_to(tmp_path / "elsewhere")
    assert await tree.restore_altered(before) == ("src/b.py",)
    assert not (tree.path / "src").is_symlink() and (tree.path / "src/b.py").is_file()
    assert (tmp_path / "elsewhere/b.py").exists()


async def test_what_the_snapshot_does_not_have_stays(tree: Tree) -> None:
    (tree.path / "proposed.py").write_text("new\n")
    before = await tree.snapshot()
    (tree.path / "build").mkdir()
    (tree.path / "build/out").write_text("built")
    (tree.path / "x.log").write_text("ignored")
    (tree.path / "proposed.py").write_text("rewritten\n")
    assert await tree.restore_altered(before) == ("proposed.py",)
    assert (tree.path / "proposed.py").read_text() == "new\n"
    assert (tree.path / "build/out").read_text() == "built" and (tree.path / "x.log").exists()
    (tree.path / "build/out").write_text("built again")
    assert await tree.restore_altered(before) == ()


async def test_a_file_that_was_only_written_again_is_not_named(tree: Tree) -> None:
    before = await tree.snapshot()
    (tree.path / "a.txt").write_text((tree.path / "a.txt").read_text())
    assert await tree.restore_altered(before) == ()


async def test_what_the_index_holds_stays_known_when_git_stores_the_times_of_files(tree: Tree) -> None:
    """Else the next look at the tree begins with two more processes."""
    commit = await tree.head()
    for name in ("index", "mendbot-index"):
        (tree.git_dir / name).unlink(missing_ok=True)
    assert await tree.restore_altered(commit) == ()
    index = Index(tree.path, tree.git_dir, tree.git_dir / "mendbot-index")
    assert index.recorded() == (plain("rev-parse", "HEAD^{tree}", cwd=tree.path), commit)


async def test_it_works_whatever_snapshot_was_looked_at_last(tree: Tree) -> None:
    """A commit will do, too, and so will an index that is damaged or gone."""
    first = await tree.snapshot()
    (tree.path / "a.txt").write_text("later\n")
    later = await tree.snapshot()
    assert await tree.restore_altered(later) == ()
    assert await tree.restore_altered(first) == ("a.txt",)
    (tree.git_dir / "mendbot-index").write_bytes(b"DIRC garbage")
    (tree.path / "a.txt").write_text("again\n")
    assert await tree.restore_altered("HEAD") == ("a.txt",)
    (tree.git_dir / "mendbot-index").unlink()
    assert await tree.restore_altered(plain("rev-parse", "HEAD", cwd=tree.path)) == ()
