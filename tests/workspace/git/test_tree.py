"""Snapshots, going back, differences and commits of work trees."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.errors import UserError
from bot.workspace.git.diff import PathChange
from bot.workspace.git.tree import Tree
from tests.workspace.git_scene import (
    content,
    executable,
    names,
    plain,
)


async def test_a_clean_tree_is_the_tree_of_its_commit(tree: Tree) -> None:
    assert await tree.snapshot() == plain("rev-parse", "HEAD^{tree}", cwd=tree.path)
    assert await tree.head() == plain("rev-parse", "HEAD", cwd=tree.path)


async def test_a_snapshot_has_new_files_and_not_the_ignored_ones(tree: Tree) -> None:
    (tree.path / "new.txt").write_text("n")
    (tree.path / "build.log").write_text("noise")
    assert await names(tree, await tree.snapshot()) == {".gitignore", "a.txt", "src/b.py", "new.txt"}


async def test_what_becomes_ignored_leaves_the_next_snapshot_unless_committed(tree: Tree) -> None:
    (tree.path / "new.txt").write_text("n")
    await tree.snapshot()
    (tree.path / ".gitignore").write_text("*.txt\n")
    assert await names(tree, await tree.snapshot()) == {".gitignore", "a.txt", "src/b.py"}


async def test_a_file_rewritten_with_the_same_size_in_the_same_second_is_seen_in_the_next(tree: Tree) -> None:
    """git compares whole seconds, and trusts that an index is no younger than what it says (its racy-git.txt)."""

    while True:
        second = int(time.time())
        (tree.path / "new.txt").write_text("41\n")
        before = await tree.snapshot()
        (tree.path / "new.txt").write_text("40\n")
        if int(time.time()) == second:  # else it was not the same second
            break
    await asyncio.sleep(second + 1.01 - time.time())
    after = await tree.snapshot()
    assert tuple(plain("show", f"{one}:new.txt", cwd=tree.path) for one in (before, after)) == ("41", "40")


async def test_the_trees_own_index_is_untouched(tree: Tree) -> None:
    (tree.path / "a.txt").write_text("staged")
    plain("add", "a.txt", cwd=tree.path)
    (tree.path / "a.txt").write_text("not staged")
    before = (tree.git_dir / "index").read_bytes()
    snapshot = await tree.snapshot()
    assert (tree.git_dir / "index").read_bytes() == before
    assert plain("show", f"{snapshot}:a.txt", cwd=tree.path) == "not staged"


@pytest.mark.parametrize(
    "name", [b"--force", b"new\nline", b" spaces ", b"not\xffutf8", b"quo\"te'", b"$(id)", b"git~1", b"*"]
)
async def test_odd_names_survive_the_round_trip(tree: Tree, name: bytes) -> None:
    before = await tree.snapshot()
    file = os.path.join(os.fsencode(tree.path), name)
    with open(file, "wb") as out:
        out.write(b"odd\n")
    after = await tree.snapshot()
    expected = PathChange(os.fsdecode(name), "A", "000000", "100644", False, 4)
    assert await tree.changed(before, after) == (expected,)
    await tree.restore(before)
    assert not os.path.lexists(file)
    await tree.restore(after, [os.fsdecode(name)])
    assert os.path.lexists(file)


def _to_directory(root: Path) -> None:
    (root / "a.txt").unlink()
    (root / "a.txt").mkdir()
    (root / "a.txt/inner").write_text("i")


def _to_empty_directory(root: Path) -> None:
    (root / "a.txt").unlink()
    (root / "a.txt").mkdir()


def _to_file(root: Path) -> None:
    (root / "src/b.py").unlink()
    (root / "src").rmdir()
    (root / "src").write_text("file")


def _to_link_outside(root: Path) -> None:
    outside = root.parent / "outside"
    outside.mkdir()
    (outside / "b.py").write_text("precious\n")
    (root / "src/b.py").unlink()
    (root / "src").rmdir()
    (root / "src").symlink_to(outside)


def _to_ignored_link(root: Path) -> None:
    _to_link_outside(root)
    (root / ".gitignore").write_text("src\n")


def _to_fifo(root: Path) -> None:
    (root / "a.txt").unlink()
    os.mkfifo(root / "a.txt")


def _ignore_all(root: Path) -> None:
    (root / ".gitignore").write_text("*\n")
    (root / "junk").write_text("j")
    (root / "a.txt").write_text("changed")


def _executable(root: Path) -> None:
    (root / "a.txt").chmod(0o755)


def _deleted(root: Path) -> None:
    for path in ("a.txt", "src/b.py", ".gitignore"):
        (root / path).unlink()


def _nested_without_commit(root: Path) -> None:
    plain("init", "-q", "nested", cwd=root)
    (root / "nested/x").write_text("x")
    (root / "a.txt").write_text("changed")


MISCHIEF: tuple[Callable[[Path], None], ...] = (
    _to_directory, _to_empty_directory, _to_file, _to_link_outside, _to_ignored_link, _to_fifo, _ignore_all,
    _executable, _deleted, _nested_without_commit,
)  # fmt: skip


@pytest.mark.parametrize("mischief", MISCHIEF)
async def test_whatever_was_done_to_it_the_tree_goes_back(tree: Tree, mischief: Callable[[Path], None]) -> None:
    before, files = await tree.snapshot(), content(tree.path)
    mischief(tree.path)
    after = await tree.snapshot()
    assert after != before
    await tree.restore(before)
    nested = {name: data for name, data in content(tree.path).items() if not name.startswith("nested/")}
    assert nested == files
    assert await tree.snapshot() == before
    if (outside := tree.path.parent / "outside").exists():
        assert (outside / "b.py").read_text() == "precious\n"


async def test_going_back_and_forth_gives_the_same_bytes(tree: Tree) -> None:
    before = await tree.snapshot()
    (tree.path / "a.txt").write_text("two\n")
    (tree.path / "deep/er").mkdir(parents=True)
    (tree.path / "deep/er/f").write_text("f")
    (tree.path / "src/b.py").unlink()
    (tree.path / "kept.log").write_text("ignored")
    after, files = await tree.snapshot(), content(tree.path)
    await tree.restore(before)
    assert not (tree.path / "deep").exists()
    assert (tree.path / "kept.log").exists()
    await tree.restore(after)
    assert content(tree.path) == files


async def test_only_the_named_paths_go_back(tree: Tree) -> None:
    before = await tree.snapshot()
    (tree.path / "a.txt").write_text("two\n")
    (tree.path / "src/b.py").write_text("x = 2\n")
    (tree.path / "src/new.py").write_text("n")
    (tree.path / "other").write_text("o")
    await tree.restore(before, ["src", "other"])
    assert (tree.path / "a.txt").read_text() == "two\n"
    assert (tree.path / "src/b.py").read_text() == "x = 1\n"
    assert not (tree.path / "src/new.py").exists() and not (tree.path / "other").exists()


async def test_no_paths_means_nothing_goes_back(tree: Tree) -> None:
    before = await tree.snapshot()
    (tree.path / "a.txt").write_text("two\n")
    await tree.restore(before, [])
    assert (tree.path / "a.txt").read_text() == "two\n"


@settings(max_examples=6)
@given(
    st.dictionaries(
        st.text(st.characters(blacklist_characters="/\0", blacklist_categories=["Cs"]), min_size=1, max_size=20).filter(
            lambda name: name not in (".", "..") and name.lower() != ".git" and not name.endswith(".log")
        ).filter(lambda name: name != ".gitignore"),
        st.binary(max_size=200),
        max_size=4,
    )
)  # fmt: skip
async def test_any_content_comes_back(tree: Tree, files: dict[str, bytes]) -> None:
    before = await tree.snapshot()
    for name, data in files.items():
        (tree.path / name).write_bytes(data)
    after, held = await tree.snapshot(), content(tree.path)
    await tree.restore(before)
    await tree.restore(after)
    assert content(tree.path) == held
    await tree.restore(before)


async def test_differences_tell_mode_kind_and_size(tree: Tree) -> None:
    before = await tree.snapshot()
    (tree.path / "a.txt").chmod(0o755)
    (tree.path / "bin").write_bytes(b"\0" * 100)
    (tree.path / "link").symlink_to("/etc/passwd")
    (tree.path / "src/b.py").rename(tree.path / "src/c.py")
    # an attribute must not make a binary file look like text
    (tree.path / ".gitattributes").write_text("* diff\n*.py binary\n")
    changes = {c.path: c for c in await tree.changed(before, await tree.snapshot())}
    assert changes["a.txt"] == PathChange("a.txt", "M", "100644", "100755", False, 4)
    assert changes["bin"] == PathChange("bin", "A", "000000", "100644", True, 100)
    assert changes["link"].new_mode == "120000"
    assert (changes["src/b.py"].status, changes["src/c.py"].status, changes["src/c.py"].binary) == ("D", "A", False)


async def test_the_diff_is_plain_and_runs_no_driver(tree: Tree, tmp_path: Path) -> None:
    program = executable(tmp_path / "evil", tmp_path / "canary")
    for key in ("diff.external", "diff.evil.command", "diff.evil.textconv"):
        plain("config", key, str(program), cwd=tree.path)
    plain("config", "diff.noprefix", "true", cwd=tree.path)
    before = await tree.snapshot()
    (tree.path / ".gitattributes").write_text("* diff=evil\n")
    (tree.path / "a.txt").write_text("two\n")
    diff = await tree.diff(before, await tree.snapshot())
    assert "--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-one\n+two\n" in diff
    assert not (tmp_path / "canary").exists()


async def test_a_kept_snapshot_survives_garbage_collection(tree: Tree) -> None:
    (tree.path / "new.txt").write_text("n")
    snapshot = await tree.snapshot()
    commit = await tree.keep(snapshot, "refs/mendbot/keep/1")
    assert await tree.keep(snapshot, "refs/mendbot/keep/1") == commit
    plain("gc", "--prune=now", "-q", cwd=tree.path)
    (tree.path / "new.txt").unlink()
    await tree.restore(snapshot)
    assert (tree.path / "new.txt").read_text() == "n"
    assert plain("rev-parse", f"{commit}^", cwd=tree.path) == await tree.head()


async def test_keeping_again_at_the_same_ref_loses_nothing(tree: Tree) -> None:
    (tree.path / "new.txt").write_text("first")
    first = await tree.keep(await tree.snapshot(), "refs/mendbot/keep/1")
    (tree.path / "new.txt").write_text("second")
    second = await tree.keep(await tree.snapshot(), "refs/mendbot/keep/1")
    assert plain("show", f"{second}:new.txt", cwd=tree.path) == "second"
    assert plain("merge-base", "--is-ancestor", first, second, cwd=tree.path) == ""


@pytest.mark.parametrize(
    "ref", ["refs/heads/main", "-x", "refs/mendbot/../heads/main", "refs/mendbot/", "refs/mendbot/a b"]
)
async def test_keeping_is_possible_under_our_own_refs_only(tree: Tree, ref: str) -> None:
    with pytest.raises(ValueError, match="is not a ref"):
        await tree.keep("HEAD", ref)


async def test_a_commit_moves_the_branch_once_and_runs_no_hook(tree: Tree, tmp_path: Path) -> None:
    for hook in ("pre-commit", "commit-msg", "post-commit", "reference-transaction", "post-index-change"):
        executable(tree.git_dir.parent.parent / "hooks" / hook, tmp_path / "canary")
    parent = await tree.head()
    (tree.path / "a.txt").write_text("two\n")
    snapshot = await tree.snapshot()
    (tree.path / "late.txt").write_text("not in the snapshot")
    author = "mendbot[bot] <1+mendbot[bot]@users.noreply.github.com>"
    message = "Fix it\n\nMendbot-Run: 7\n"
    commit = await tree.commit(snapshot, message, author)
    assert await tree.commit(snapshot, message, author) == commit
    assert plain("rev-parse", "work", "work^", cwd=tree.path).split() == [commit, parent]
    assert plain("log", "-1", "--format=%an %ae %cn %B", cwd=tree.path).startswith("mendbot[bot] 1+mendbot[bot]@")
    assert not (tmp_path / "canary").exists()
    assert plain("status", "--porcelain", cwd=tree.path) == "?? late.txt"


async def test_committing_what_is_committed_is_refused_in_words(tree: Tree) -> None:
    with pytest.raises(UserError, match="nothing to commit"):
        await tree.commit("HEAD", "other words", "A <a@example.org>")


@pytest.mark.parametrize("author", ["nobody", "A <a>\nB <b>", "<a@b>", "A <a> <b>"])
async def test_an_author_is_a_name_and_an_address(tree: Tree, author: str) -> None:
    with pytest.raises(ValueError, match="Name <email>"):
        await tree.commit("HEAD", "m", author)
