"""The reader of diffs, held against git itself: it must find every path and every hunk of what git writes."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.rules.patches.diff_parser import parse_diff

# what a body line may hold to look like a header
LINES = [
    "", "a", "b", "c", " ", "-- x", "++ y", "- ", "-", "--", "++ b/../x", "-- a/../x", "@ -1 +1 @",
    "@@ -1 +1 @@", "\\ No", "diff --git a/x b/x", "rename from x", "new file mode 120000", "GIT binary patch",
    "été", "x\r", "\x0b", "\u2028",
]  # fmt: skip
contents = st.tuples(st.lists(st.sampled_from(LINES), max_size=12), st.booleans()).map(
    lambda made: "\n".join(made[0]) + ("\n" if made[1] and made[0] else "")
)
part = st.text(st.sampled_from('ab 0."\\\t\n-é→'), min_size=1, max_size=6).filter(lambda name: name not in (".", ".."))
paths = st.lists(part, min_size=1, max_size=3).map("/".join)
trees = st.dictionaries(paths, contents, max_size=4).filter(
    lambda tree: not any(one != other and other.startswith(one + "/") for one in tree for other in tree)
)


@pytest.fixture(scope="module")
def repository() -> Iterator[Path]:
    made = Path(tempfile.mkdtemp(prefix="mendbot-diffs-"))
    subprocess.run(["git", "init", "-q", "--bare", str(made)], check=True)
    yield made
    shutil.rmtree(made)


def git(repository: Path, *args: str, stdin: bytes = b"") -> bytes:
    return subprocess.run(["git", "-C", str(repository), *args], input=stdin, capture_output=True, check=True).stdout


def commit_both(repository: Path, before: dict[str, str], after: dict[str, str]) -> None:
    """Two commits, `before` and `after`, through one process."""
    stream = bytearray()
    for ref, tree in (("before", before), ("after", after)):
        stream += f"commit refs/heads/{ref}\ncommitter t <t@t> 0 +0000\ndata 0\ndeleteall\n".encode()
        for path, content in tree.items():
            quoted = "".join(f"\\{byte:03o}" for byte in path.encode())
            data = content.encode()
            stream += f'M 100644 inline "{quoted}"\ndata {len(data)}\n'.encode() + data + b"\n"
    git(repository, "fast-import", "--force", "--quiet", stdin=bytes(stream))


def diff(repository: Path, *options: str) -> str:
    return git(repository, "diff-tree", "-p", "-r", *options, "before", "after").decode("utf-8", "surrogateescape")


@pytest.mark.parametrize("options", [(), ("-M",), ("-c",)], ids=["plain", "renames", "quoted"])
@settings(max_examples=40)
@given(before=trees, after=trees)
def test_every_path_of_a_diff_that_git_made_is_found(
    repository: Path, options: tuple[str, ...], before: dict[str, str], after: dict[str, str]
) -> None:
    commit_both(repository, before, after)
    git(repository, "config", "core.quotePath", "true" if "-c" in options else "false")
    flags = tuple(flag for flag in options if flag != "-c")
    names = git(repository, "diff-tree", "-r", "--name-only", "-z", "before", "after").decode().split("\0")[:-1]

    found = {path for file in parse_diff(diff(repository, *flags)) for path in file.paths}

    assert found == set(names)


@settings(max_examples=60)
@given(before=contents, after=contents)
def test_hunks_of_a_diff_that_git_made_are_read_whole(repository: Path, before: str, after: str) -> None:
    commit_both(repository, {"f": before}, {"f": after})
    text = diff(repository)
    parts = parse_diff(text)

    hunks = [hunk for part in parts for hunk in part.hunks]
    assert all(hunk.counted for hunk in hunks)
    body = text[text.index("@@ ") :] if hunks else ""
    assert body == "".join("\n".join([hunk.header, *hunk.lines]) + "\n" for hunk in hunks)


@given(st.text(st.sampled_from('-+@ ,0123\n\\ab/"diff gtx\r\0'), max_size=300))
def test_any_text_is_read_without_an_error(text: str) -> None:
    for part in parse_diff(text):
        assert isinstance(part.paths, tuple)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n", ("x",)),
        ("--- x\n+++ x\n@@ -1 +1 @@\n-a\n+b\n", ("x",)),
        ("--- x.orig\t2020-01-01 00:00:00\n+++ x\t2020-01-01\n@@ -1 +1 @@\n-a\n+b\n", ("x", "x.orig")),
        ("--- /dev/null\n+++ b/new file\t\n@@ -0,0 +1 @@\n+b\n", ("new file",)),
        ('--- "a/t\\303\\251\\tx"\n+++ "b/t\\303\\251\\tx"\n@@ -1 +1 @@\n-a\n+b\n', ("té\tx",)),
        ("diff --git a/one two b/one two\nold mode 100644\nnew mode 100755\n", ("one two",)),
        ("diff --git a/x b/y\nsimilarity index 100%\nrename from x\nrename to y\n", ("x", "y")),
        ("diff --git a/b/x a/b/x\n--- a/b/x\n+++ a/b/x\n@@ -1 +1 @@\n-a\n+b\n", ("a/b/x",)),
        ("diff --git a/x b/../../etc/passwd\nnew file mode 100644\n", ("../../etc/passwd", "x")),
        ("Here you go:\n```diff\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n```\nDone.\n", ("x",)),
        ("--- a/x\r\n+++ b/x\r\n@@ -1 +1 @@\r\n-a\r\n+b\r\n", ("x",)),
        ("@@ -1 +1 @@\n-a\n+b\n", ()),
        ("nothing\n", ()),
    ],
)
def test_paths_are_read_as_git_reads_them(text: str, expected: tuple[str, ...]) -> None:
    assert tuple(path for part in parse_diff(text) for path in part.paths) == expected


def test_a_second_file_hidden_behind_wrong_counts_is_still_seen() -> None:
    first = "--- a/x\n+++ b/x\n@@ -1,9 +1,9 @@\n a\n-b\n+c\n"
    second = "--- a/../y\n+++ b/../y\n@@ -1 +1 @@\n-a\n+b\n"
    assert [part.paths for part in parse_diff(first + second)] == [("x",), ("../y",)]


def test_lines_beyond_what_the_header_counts_make_the_hunk_miscounted_not_shorter() -> None:
    (part_,) = parse_diff("--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n a\n-b\n+c\n+d\n e\n")
    (hunk,) = part_.hunks
    assert not hunk.counted
    assert hunk.lines == (" a", "-b", "+c", "+d", " e")


def test_a_mail_signature_is_no_deletion() -> None:
    (part_,) = parse_diff("--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n a\n-b\n+c\n-- \n2.39.5\n")
    assert part_.hunks[0].counted
    assert part_.hunks[0].lines == (" a", "-b", "+c")


def test_lines_that_lost_their_marker_are_context_where_more_of_the_hunk_follows() -> None:
    (part_,) = parse_diff("--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\na\n-b\n+c\nd\n\n-e\n\nThat is all.\n")
    assert part_.hunks[0].lines == (" a", "-b", "+c", " d", "", "-e")
    # the counts alone would let it end after its third line
    (part_,) = parse_diff("--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n a\n-b\n+c\n\n d\n-e\n")
    assert not part_.hunks[0].counted
    assert part_.hunks[0].lines == (" a", "-b", "+c", "", " d", "-e")


def test_what_is_said_around_a_fenced_diff_is_no_part_of_it() -> None:
    text = "I mend:\n- the sum\n\n```diff\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n```\n\n- It was wrong.\n"
    assert [hunk.lines for part in parse_diff(text) for hunk in part.hunks] == [("-a", "+b")]
    twice = text + "And:\n```\n@@ -7 +7 @@\n-c\n+d\n```\n"
    assert [hunk.lines for part in parse_diff(twice) for hunk in part.hunks] == [("-a", "+b"), ("-c", "+d")]


def test_a_fence_within_a_hunk_does_not_end_it() -> None:
    text = "--- a/x.md\n+++ b/x.md\n@@ -1,3 +1,3 @@\n```\n-a\n+b\n```\n"
    assert parse_diff(text)[0].hunks[0].lines == (" ```", "-a", "+b")


def test_a_header_tells_its_numbers_and_its_function() -> None:
    hunk, bare = parse_diff("@@ -3,2 +4 @@ def f(): # @@\n-a\n@@ class C @@\n-b\n")[0].hunks
    assert (hunk.starts, bare.starts) == ((3, 4), None)
    assert bare.section == ""
