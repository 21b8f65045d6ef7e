"""Applying an agent's changes with real git and real files: all or none, and never outside the tree."""

from __future__ import annotations

import os
import resource
import subprocess
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.errors import Refused, UserError
from bot.model import Applied, Change
from bot.rules.patches.change_policy import check_path
from bot.workspace.git.tree import Tree
from bot.workspace.patch import PatchFailed, apply_changes

OLD = "one\ntwo\nthree\nfour\nfive\n"
BODY = "@@ -1,3 +1,3 @@\n one\n-two\n+TWO\n three\n"
NEW = OLD.replace("two", "TWO")
BARE = "\\ No newline at end of file\n"


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    made = tmp_path / "tree"
    made.mkdir()
    (made / "a.txt").write_text(OLD)
    return made


async def apply(tree: Tree | Path, *changes: Change, protected: tuple[str, ...] = ()) -> Applied:
    return await apply_changes(tree, changes, protected=protected)


def state(root: Path) -> dict[str, tuple[int, object]]:
    """All that is below a directory: modes, contents, targets of links."""
    found: dict[str, tuple[int, object]] = {}
    for path in sorted(root.rglob("*")):
        held: object = os.readlink(path) if path.is_symlink() else path.read_bytes() if path.is_file() else None
        found[str(path.relative_to(root))] = (path.lstat().st_mode, held)
    return found


def modified(path: str, body: str = BODY) -> Change:
    return Change(path=path, patch=f"--- a/{path}\n+++ b/{path}\n{body}")


async def test_a_diff_is_applied_and_nothing_else_is_left_behind(tree: Path) -> None:
    assert await apply(tree, modified("a.txt")) == Applied(paths=("a.txt",))
    assert {name: held for name, (_, held) in state(tree).items()} == {"a.txt": NEW.encode()}


@pytest.mark.parametrize(
    "header",
    [
        "--- a/a.txt\n+++ b/a.txt\n",
        "--- a.txt\n+++ a.txt\n",
        "--- a.txt\t2020-01-01 00:00:00\n+++ a.txt\t2020-01-01 00:00:01\n",
        '--- "a/a.txt"\n+++ "b/a.txt"\n',
        "diff --git a/a.txt b/a.txt\nindex 1234567..89abcde 100644\n--- a/a.txt\n+++ b/a.txt\n",
        "```diff\n--- a/a.txt\n+++ b/a.txt\n",
        "",
    ],
)
async def test_headers_come_in_many_forms(tree: Path, header: str) -> None:
    await apply(tree, Change(path="a.txt", patch=header + BODY))
    assert (tree / "a.txt").read_text() == NEW


async def test_a_leading_dot_slash_means_the_same_file(tree: Path) -> None:
    assert (await apply(tree, Change(path="./a.txt", content="x"))).paths == ("a.txt",)


@pytest.mark.parametrize(
    "body",
    [
        "@@ -1,9 +1,9 @@\n one\n-two\n+TWO\n three\n",
        "@@ -1,2 +1,2 @@\n one\n-two\n+TWO\n three\n",
        "@@ -40,3 +40,3 @@\n one\n-two\n+TWO\n three\n",
        "@@ ... @@\n one\n-two\n+TWO\n three\n",
        "@@ -1,3 +1,3 @@\n one\n-two\n+TWO\n three",
        "@@ -1,9 +1,9 @@\n one\n-two\n+TWO\n three\n\n\n",
        "@@ -1,3 +1,3 @@\r\n one\r\n-two\r\n+TWO\r\n three\r\n",
    ],
    ids=["too many", "too few", "wrong place", "no numbers", "no newline", "blank tail", "CRLF diff"],
)
async def test_wrong_counts_and_line_ends_of_the_diff_are_mended(tree: Path, body: str) -> None:
    """REQ-RUN-003."""
    assert (await apply(tree, modified("a.txt", body))).fallbacks == ()
    assert (tree / "a.txt").read_text() == NEW


async def test_lines_beyond_the_counts_are_not_dropped(tree: Path) -> None:
    await apply(tree, modified("a.txt", BODY + "+and more\n four\n"))
    assert (tree / "a.txt").read_text() == NEW.replace("three", "three\nand more")


@pytest.mark.parametrize(
    "body",
    [
        "@@ -1,2 +1,2 @@\none\n-two\n+TWO\nthree\n",
        "@@ -1,3 +1,3 @@\n   one\n-  two\n+  TWO\n   three\n",
        "@@ -1,3 +1,3 @@\n one \n-two\t\n+TWO\n three\n",
        "@@ -1,4 +1,4 @@\n one\n-two\n+TWO\n...\n five\n",
        "@@ -1,3 +1,3 @@\n one\n-two\n+TWO\n three\n" + BARE,
        "@@ TWO @@\n-two\n+TWO\n",
    ],
    ids=["no markers", "moved", "spaces at ends", "dots", "a last newline in the midst", "no context"],
)
async def test_what_git_refuses_is_placed_by_its_lines(tree: Path, body: str) -> None:
    assert (await apply(tree, modified("a.txt", body))).fallbacks == ()
    assert (tree / "a.txt").read_text() == NEW


async def test_a_right_hunk_that_git_would_place_elsewhere_is_not_given_to_it(tree: Path) -> None:
    (tree / "a.txt").write_text("a\nb\nc\na\nb\n")
    with pytest.raises(PatchFailed, match="2 times"):
        await apply(tree, modified("a.txt", "@@ -1,2 +1,1 @@\n a\n-b\n"))
    (tree / "a.txt").write_text(OLD * 2)
    with pytest.raises(PatchFailed, match="2 times"):  # git takes the nearest
        await apply(tree, modified("a.txt", "@@ -4,3 +4,3 @@\n one\n-two\n+TWO\n three\n"))


@pytest.mark.parametrize(
    "body",
    [
        "@@ -1,2 +1,2 @@\n one\n-two\n+TWO\n\n three\n-four\n+FOUR\n",
        "@@ -1,2 +1,2 @@\n one\n-two\n+TWO\nthree\n-four\n+FOUR\n",
        "@@ -1,2 +1,2 @@\n one\n-two\n+TWO\n```\n-four\n+FOUR\n",
    ],
    ids=["a blank line", "a line without a marker", "a fence that is none"],
)
async def test_what_comes_after_too_small_counts_is_not_left_out_in_silence(tree: Path, body: str) -> None:
    try:
        await apply(tree, modified("a.txt", body))
    except PatchFailed:
        assert (tree / "a.txt").read_text() == OLD
    else:
        assert (tree / "a.txt").read_text() == NEW.replace("four", "FOUR")


async def test_wrong_counts_with_two_possible_places_are_not_guessed(tree: Path) -> None:
    (tree / "a.txt").write_text(OLD + OLD)
    with pytest.raises(PatchFailed, match=r"a\.txt.*2 times"):
        await apply(tree, modified("a.txt", "@@ -1,9 +1,9 @@\n one\n-two\n+TWO\n three\n"))
    assert (tree / "a.txt").read_text() == OLD + OLD


@pytest.mark.parametrize(
    ("old", "body", "new"),
    [
        ("one\r\ntwo\r\n", "@@ -1,2 +1,2 @@\n one\r\n-two\r\n+TWO\r\n", "one\r\nTWO\r\n"),
        ("one\r\ntwo\r\n", "@@ -1,2 +1,2 @@\n one\n-two\n+TWO\n", "one\r\nTWO\r\n"),
        ("one\ntwo", "@@ -1,2 +1,2 @@\n one\n-two\n" + BARE + "+TWO\n" + BARE, "one\nTWO"),
        ("one\ntwo", "@@ -1,2 +1,2 @@\n one\n-two\n" + BARE + "+TWO\n", "one\nTWO\n"),
        ("one\ntwo\n", "@@ -1,2 +1,2 @@\n one\n-two\n+TWO\n" + BARE, "one\nTWO"),
        ("one\ntwo", "@@ -1,2 +1,2 @@\n one\n-two\n+TWO\n", "one\nTWO"),
        ("one\r\ntwo", "@@ -1,2 +1,2 @@\n one\n-two\n+TWO\n", "one\r\nTWO"),
        ("one\ntwo\n", "@@ -1,2 +1,2 @@\n one\n-two\n" + BARE + "+TWO\n" + BARE, "one\nTWO\n"),
        ("one\n\ntwo\n", "@@ -1,3 +1,3 @@\n one\n\n-two\n+TWO\n", "one\n\nTWO\n"),
    ],
)  # fmt: skip
async def test_a_files_own_line_ends_stay(tree: Path, old: str, body: str, new: str) -> None:
    (tree / "a.txt").write_bytes(old.encode())
    await apply(tree, modified("a.txt", body))
    assert (tree / "a.txt").read_bytes() == new.encode()


async def test_added_lines_get_the_files_indentation(tree: Path) -> None:
    (tree / "a.txt").write_text("def f():\n\tif a:\n\t\tb()\n\treturn c\n")
    body = "@@ -2,2 +2,4 @@\n     if a:\n-        b()\n+        for d in b():\n+            d()\n"
    await apply(tree, modified("a.txt", body))
    assert (tree / "a.txt").read_text() == "def f():\n\tif a:\n\t\tfor d in b():\n\t\t\td()\n\treturn c\n"


async def test_a_deleting_diff_with_wrong_counts_deletes_all_or_nothing(tree: Path) -> None:
    body = "--- a/a.txt\n+++ /dev/null\n@@ -1,9 +0,0 @@\n-" + "\n-".join(OLD.splitlines())
    with pytest.raises(PatchFailed, match="more than the diff deletes"):
        await apply(tree, Change(path="a.txt", patch=body.removesuffix("\n-five") + "\n"))
    await apply(tree, Change(path="a.txt", patch=body + "\n"))
    assert not (tree / "a.txt").exists()


async def test_a_file_of_mixed_line_ends_is_not_guessed_about(tree: Path) -> None:
    (tree / "a.txt").write_bytes(b"one\r\ntwo\nthree\n")
    with pytest.raises(PatchFailed, match="mixed"):
        await apply(tree, modified("a.txt", "@@ -1,2 +1,2 @@\n one\n-two\n+TWO\n"))


async def test_bytes_that_are_no_utf8_survive(tree: Path) -> None:
    (tree / "a.txt").write_bytes(b"one\ntwo\nthree\n\xe9\xff\n")
    await apply(tree, modified("a.txt", "@@ -1,9 +1,9 @@\n one\n-two\n+TWO\n three\n"))
    assert (tree / "a.txt").read_bytes() == b"one\nTWO\nthree\n\xe9\xff\n"


async def test_files_come_and_go_and_change_their_mode(tree: Path) -> None:
    (tree / "deep/er").mkdir(parents=True)
    (tree / "deep/er/gone").write_text("x\n")
    (tree / "empty").touch()
    applied = await apply(
        tree,
        Change(path="new/dir/f.sh", patch="diff --git a/new/dir/f.sh b/new/dir/f.sh\nnew file mode 100755\n"
               "--- /dev/null\n+++ b/new/dir/f.sh\n@@ -0,0 +1 @@\n+x\n"),
        Change(path="bare", patch="--- a/bare\n+++ b/bare\n@@ -0,0 +1,9 @@\n+x\n"),
        Change(path="blank", patch="diff --git a/blank b/blank\nnew file mode 100644\nindex 0000000..e69de29\n"),
        Change(path="deep/er/gone", patch="--- a/deep/er/gone\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n"),
        Change(path="empty", patch="diff --git a/empty b/empty\ndeleted file mode 100644\nindex e69de29..0000000\n"),
        Change(path="a.txt", patch="diff --git a/a.txt b/a.txt\nold mode 100644\nnew mode 100755\n"),
    )  # fmt: skip
    assert applied.paths == ("new/dir/f.sh", "bare", "blank", "deep/er/gone", "empty", "a.txt")
    assert {name: held for name, (_, held) in state(tree).items() if held is not None} == {
        "new/dir/f.sh": b"x\n", "bare": b"x\n", "blank": b"", "a.txt": OLD.encode(),
    }  # fmt: skip
    assert os.access(tree / "new/dir/f.sh", os.X_OK)
    assert os.access(tree / "a.txt", os.X_OK)
    assert not (tree / "bare").stat().st_mode & 0o111
    assert not (tree / "deep").exists()


async def test_an_edited_file_keeps_its_mode_and_other_names_of_it_their_content(tree: Path, tmp_path: Path) -> None:
    (tree / "a.txt").chmod(0o750)
    os.link(tree / "a.txt", tmp_path / "elsewhere")
    await apply(tree, modified("a.txt"))
    assert (tree / "a.txt").stat().st_mode & 0o777 == 0o750
    assert (tmp_path / "elsewhere").read_text() == OLD


async def test_an_empty_file_may_be_filled_by_a_creating_diff(tree: Path) -> None:
    (tree / "__init__.py").touch()
    await apply(tree, Change(path="__init__.py", patch="--- /dev/null\n+++ b/__init__.py\n@@ -0,0 +1 @@\n+x\n"))
    assert (tree / "__init__.py").read_text() == "x\n"


async def test_a_file_may_not_be_created_over_another(tree: Path) -> None:
    with pytest.raises(PatchFailed, match=r"a\.txt.*already exists"):
        await apply(tree, Change(path="a.txt", patch="--- /dev/null\n+++ b/a.txt\n@@ -0,0 +1 @@\n+x\n"))


async def test_what_does_not_apply_falls_back_and_says_so(tree: Path) -> None:
    """REQ-RUN-003."""
    wrong = modified("a.txt", "@@ -1,2 +1,2 @@\n nowhere\n-two\n+TWO\n").patch
    applied = await apply(
        tree,
        Change(path="a.txt", patch=wrong, fallback_content="fallen back\n", content="not this\n"),
        Change(path="b.txt", patch="garbage", content="content\n"),
        Change(path="c.txt", content="plain\n"),
        Change(path="d.txt", patch="", fallback_content="no patch at all\n"),
    )
    assert applied == Applied(paths=("a.txt", "b.txt", "c.txt", "d.txt"), fallbacks=("a.txt", "b.txt"))
    assert (tree / "a.txt").read_text() == "fallen back\n"
    assert (tree / "b.txt").read_text() == "content\n"


async def test_a_diff_that_applies_is_preferred_to_its_fallback(tree: Path) -> None:
    change = modified("a.txt").model_copy(update={"fallback_content": "no", "content": "no"})
    assert (await apply(tree, change)).fallbacks == ()
    assert (tree / "a.txt").read_text() == NEW


async def test_changes_of_one_file_build_on_each_other(tree: Path) -> None:
    second = modified("a.txt", "@@ -1,3 +1,3 @@\n one\n-TWO\n+2\n three\n")
    assert (await apply(tree, modified("a.txt"), second)).paths == ("a.txt",)
    assert (tree / "a.txt").read_text() == OLD.replace("two", "2")


async def test_a_fallback_is_recorded_also_where_a_diff_follows_it(tree: Path) -> None:
    first = Change(path="a.txt", patch="garbage", fallback_content=OLD + "six\n")
    assert (await apply(tree, first, modified("a.txt"))).fallbacks == ("a.txt",)
    assert (tree / "a.txt").read_text() == NEW + "six\n"


async def test_what_changes_nothing_is_not_counted_as_changed(tree: Path) -> None:
    assert await apply(tree, Change(path="a.txt", content=OLD)) == Applied(paths=())


@pytest.mark.parametrize(
    "last",
    [
        modified("missing.txt"),
        Change(path="b.txt"),
        Change(path="b.txt", patch="nothing like a diff"),
        Change(path="directory", content="x"),
        Change(path="fifo", content="x"),
        Change(path="b.txt", content="\ud800"),
        Change(path="../b.txt", content="x"),
        Change(path="new/x/y", content="x"),  # where `new/x` is made a file by the same changes
    ],
    ids=lambda change: repr(change.path),
)
async def test_one_change_that_fails_leaves_everything_as_it_was(tree: Path, last: Change) -> None:
    """REQ-RUN-003."""
    (tree / "directory").mkdir()
    (tree / "deleted").write_text("x\n")
    os.mkfifo(tree / "fifo")
    before, inode = state(tree), (tree / "a.txt").stat().st_ino
    good = [
        modified("a.txt"),
        Change(path="new/x", content="x"),
        Change(path="deleted", patch="--- a/deleted\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n"),
    ]
    with pytest.raises(UserError, match=str(last.path).replace(".", r"\.")):
        await apply(tree, *good, last)
    assert state(tree) == before
    assert (tree / "a.txt").stat().st_ino == inode


async def test_a_write_that_finds_no_room_leaves_everything_as_it_was(tree: Path) -> None:
    before = state(tree)
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, hard))
    try:
        with pytest.raises(PatchFailed, match="nothing was written: File too large"):
            await apply(tree, Change(path="a.txt", content="x"), Change(path="b.txt", content="x" * 90_000))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert state(tree) == before


LINK = "diff --git a/x b/x\nnew file mode 120000\n--- /dev/null\n+++ b/x\n@@ -0,0 +1 @@\n+../outside\n"
HOSTILE = [
    (Change(path="../outside/x", content="evil"), "outside_tree"),
    (modified("../outside/canary"), "outside_tree"),
    (modified("sub/../../outside/canary"), "outside_tree"),
    (Change(path="/etc/mendbot", content="evil"), "absolute_path"),
    (modified("/etc/passwd"), "absolute_path"),
    (Change(path="C:/x", content="evil"), "absolute_path"),
    (Change(path=".git/hooks/pre-commit", content="evil"), "git_directory"),
    (Change(path=".GIT/config", content="evil"), "git_directory"),
    (Change(path=".git /config", content="evil"), "git_directory"),
    (Change(path="git~1/config", content="evil"), "git_directory"),
    (Change(path=".git::$INDEX_ALLOCATION/config", content="evil"), "git_directory"),
    (Change(path="sub/.git/config", content="evil"), "git_directory"),
    (Change(path=".g\u200cit/config", content="evil"), "git_directory"),
    (Change(path=".git", content="gitdir: evil"), "git_directory"),
    (Change(path="x", patch=LINK), "symlink"),
    (Change(path="x", patch=LINK.replace("120000", "160000")), "gitlink"),
    (Change(path="x", patch=LINK.replace("120000", "104755")), "odd_mode"),
    (Change(path="x", patch="diff --git a/x b/x\nGIT binary patch\nliteral 1\nIcmZQz00IC2\n"), "binary_patch"),
    (Change(path="a.txt", patch="--- a/a.txt\n+++ b/b.txt\n" + BODY), "path_mismatch"),
    (Change(path="a.txt", patch="diff --git a/a.txt b/b\nrename from a.txt\nrename to b\n"), "path_mismatch"),
    (Change(path="a.txt", patch="diff --git a/a.txt b/../b\nrename from a.txt\nrename to ../b\n"), "outside_tree"),
    (Change(path="a.txt", patch=(modified("a.txt").patch or "") + (modified(".git/x").patch or "")), "git_directory"),
    (Change(path="a.txt", patch="bad", fallback_content="x" * 1_000_001), "too_large"),
    (Change(path=".gitmodules", content="evil"), "gitmodules"),
    (Change(path=".gitattributes", content="evil"), "protected_path"),
    (Change(path=".github/workflows/x.yml", content="evil"), "workflow_file"),
    (Change(path=".github/mendbot.yml", content="evil"), "protected_path"),
    (Change(path="kept/by/policy", content="evil"), "protected_path"),
    (Change(path="new\nline", content="evil"), "control_character"),
    (Change(path="nul\0", content="evil"), "control_character"),
    (Change(path="to-file", content="evil"), "through_symlink"),
    (modified("to-file"), "through_symlink"),
    (Change(path="to-dir/x", content="evil"), "through_symlink"),
    (
        Change(path="to-dir/canary", patch="--- a/to-dir/canary\n+++ /dev/null\n@@ -1 +0,0 @@\n-alive\n"),
        "through_symlink",
    ),
    (Change(path="sub/to-dir/deep/x", content="evil"), "through_symlink"),
    (Change(path="dangling", content="evil"), "through_symlink"),
    (Change(path="loop/x", content="evil"), "through_symlink"),
]


@pytest.mark.parametrize(("change", "reason"), HOSTILE)
async def test_a_hostile_change_is_refused_and_touches_nothing(
    tree: Path, tmp_path: Path, change: Change, reason: str
) -> None:
    """REQ-RUN-003."""
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "canary").write_text("alive\n")
    (tree / "sub").mkdir()
    (tree / "to-file").symlink_to("../outside/canary")
    (tree / "to-dir").symlink_to("../outside")
    (tree / "sub/to-dir").symlink_to(outside)
    (tree / "dangling").symlink_to("../outside/new")
    (tree / "loop").symlink_to("loop")
    before = state(tmp_path)
    with pytest.raises(Refused) as caught:
        await apply(tree, Change(path="b.txt", content="good"), change, protected=("kept/**",))
    assert caught.value.reason == reason
    assert state(tmp_path) == before


@pytest.mark.parametrize("path", ["--force", "-x", "a b.txt", "日本.txt", 'quo"te', "$(id)"])
async def test_odd_but_honest_names_work(tree: Path, path: str) -> None:
    (tree / path).write_text(OLD)
    await apply(tree, modified(path))
    assert (tree / path).read_text() == NEW


async def test_a_repositorys_configuration_and_attributes_have_no_say(
    tree: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    canary = tmp_path / "canary"
    subprocess.run(["git", "init", "-q", str(tree)], check=True)
    for key in ("filter.evil.clean", "filter.evil.smudge", "core.fsmonitor"):
        subprocess.run(["git", "-C", str(tree), "config", key, f"touch {canary}; cat"], check=True)
    (tree / ".gitattributes").write_text("* text eol=crlf filter=evil\n")
    (tree / "tmp").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tree / "tmp"))
    assert (await apply(Tree(tree, tree / ".git"), modified("a.txt"))).paths == ("a.txt",)
    assert (tree / "a.txt").read_bytes() == NEW.encode()
    assert not canary.exists()


text_files = st.lists(st.sampled_from(["a", "b", "", " ", "-- x", "++ y", "@@ -1 +1 @@", "é"]), max_size=15)


@settings(max_examples=25, deadline=None)
@given(
    before=text_files,
    after=text_files,
    newline=st.sampled_from(["\n", "\r\n"]),
    ends=st.tuples(st.booleans(), st.booleans()),
)
async def test_every_diff_that_git_makes_applies_exactly(
    before: list[str], after: list[str], newline: str, ends: tuple[bool, bool]
) -> None:
    old = newline.join(before) + (newline if ends[0] else "")
    new = newline.join(after) + (newline if ends[1] else "")
    with tempfile.TemporaryDirectory(prefix="mendbot-test-") as made:
        for name, content in (("old", old), ("f", new)):
            Path(made, name).write_bytes(content.encode())
        compared = ["git", "-c", "core.safecrlf=false", "diff", "--no-index", "--no-prefix", "old", "f"]
        patch = subprocess.run(compared, cwd=made, capture_output=True, check=False).stdout.decode()
        patch = patch.replace("--- old", "--- f", 1).replace("diff --git old f", "diff --git f f", 1)
        Path(made, "f").write_bytes(old.encode())
        if patch:
            await apply(Path(made), Change(path="f", patch=patch))
        assert Path(made, "f").read_bytes() == (new if patch else old).encode()


pieces = st.sampled_from(
    ["..", ".", "", ".git", ".GIT", "sub", "to-dir", "to-file", "f", ".github", "workflows", "git~1", "~"]
)


@settings(max_examples=60, deadline=None)
@given(path=st.lists(pieces, min_size=1, max_size=4).map("/".join), by_patch=st.booleans())
async def test_no_refused_path_is_ever_written(path: str, by_patch: bool) -> None:
    with tempfile.TemporaryDirectory(prefix="mendbot-test-") as made:
        top, tree = Path(made), Path(made, "tree")
        (tree / "sub").mkdir(parents=True)
        (top / "outside").mkdir()
        (tree / "to-dir").symlink_to("../outside")
        (tree / "to-file").symlink_to("../outside/f")
        before = state(top)
        patch = f"--- /dev/null\n+++ b/{path}\n@@ -0,0 +1 @@\n+x\n" if by_patch else None
        try:
            applied = await apply(tree, Change(path=path, patch=patch, content=None if by_patch else "x\n"))
        except UserError:
            assert state(top) == before
        else:
            (written,) = applied.paths
            assert check_path(written) is None
            assert not written.startswith("to-")
            new = set(state(top)) - set(before)
            assert {f"tree/{written}"} == {name for name in new if (top / name).is_file()}
            assert not any((top / "outside").iterdir())
