"""What differs between two trees and what their files hold, read by content: nothing in a repository can hide it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from bot.workspace.git.diff import changed, diff, texts
from tests.workspace.git_scene import make_repo, plain


def commit(repo: Path) -> str:
    plain("add", "-A", cwd=repo)
    plain("commit", "-q", "--allow-empty", "-m", "next", cwd=repo)
    return plain("rev-parse", "HEAD^{tree}", cwd=repo)


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    return make_repo(tmp_path / "r")


async def read(repo: Path, snapshot: str, *paths: str) -> dict[str, str]:
    return (await texts(repo / ".git", (snapshot,), paths))[0]


async def test_texts_are_those_of_the_snapshot_each_whole(repo: Path) -> None:
    before = commit(repo)
    held = {"a.txt": "two\n", "empty": "", "no end": "x", 'sp ace/ü "q"\'s.py': "y\n", "x missing": "blob 3\n\n"}
    for name, text in held.items():
        (repo / name).parent.mkdir(exist_ok=True)
        (repo / name).write_text(text)
    after = commit(repo)
    assert await read(repo, after, *held) == held
    assert await read(repo, before, *held) == {"a.txt": "one\n"}
    assert await read(repo, after) == {}
    assert await texts(repo / ".git", (before, after), list(held)) == ({"a.txt": "one\n"}, held)


async def test_what_is_no_file_has_no_text(repo: Path) -> None:
    nested = make_repo(repo / "sub")
    plain("add", "sub", cwd=repo)
    (repo / "link").symlink_to("a.txt")
    tree = commit(repo)
    assert nested.is_dir()
    asked = ("gone", "src", "sub", "link", "", "a.txt/x", "-x", "a\nb", "a.txt")
    assert await read(repo, tree, *asked) == {"link": "a.txt", "a.txt": "one\n"}


async def test_bytes_that_are_no_text_are_replaced_and_names_of_them_found(repo: Path) -> None:
    name = os.fsdecode(b"caf\xe9.txt")
    (repo / name).write_bytes(b"a\xffb\n")
    assert await read(repo, commit(repo), name) == {name: "a\ufffdb\n"}


async def test_attributes_and_drivers_of_the_repository_hide_nothing(repo: Path) -> None:
    before = commit(repo)
    (repo / ".gitattributes").write_text("* -diff binary export-ignore filter=x diff=x\n")
    plain("config", "diff.x.textconv", "true", cwd=repo)
    plain("config", "diff.external", "true", cwd=repo)
    (repo / "a.txt").write_text("two\n")
    after = commit(repo)
    found = {one.path: one for one in await changed(repo / ".git", before, after)}
    assert (found["a.txt"].binary, found["a.txt"].size, found["a.txt"].status) == (False, 4, "M")
    assert "-one\n+two\n" in await diff(repo / ".git", before, after)
    assert await read(repo, after, "a.txt") == {"a.txt": "two\n"}


@pytest.mark.parametrize("name", ["", "-x", "--output=x"])
async def test_what_is_no_objects_name_is_refused(repo: Path, name: str) -> None:
    with pytest.raises(ValueError, match="no object name"):
        await diff(repo / ".git", name, "HEAD")
