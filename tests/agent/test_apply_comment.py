"""A diff from a person's comment: what it says is offered once, and may touch no more than any agent's."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from bot.agent.apply_comment import CommentPatchAgent, parse_comment_patch
from bot.errors import Refused, UserError
from bot.model import AgentTask, Change, Proposal
from bot.reports.locale.reasons import english
from bot.rules.patches.diff_parser import parse_diff
from bot.workspace.patch import PatchFailed, apply_changes
from tests.agent.git_tree import files_of, git, make_tree

GIT = """\
diff --git a/a.c b/a.c
index 1111111..2222222 100644
--- a/a.c
+++ b/a.c
@@ -1 +1 @@
-boom
+fine
"""
PLAIN = GIT.split("100644\n")[1]


async def propose(text: str, attempt: int = 1) -> Proposal:
    task = AgentTask(run_id="r1", attempt=attempt, max_attempts=3, task="mend")
    return await CommentPatchAgent(text).propose(task, Path("/nowhere"))


async def apply(tree: Path, text: str) -> tuple[str, ...]:
    return (await apply_changes(tree, (await propose(text)).changes)).paths


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    return make_tree(tmp_path / "tree", 'b é "q".txt')


def change_all(tree: Path) -> None:
    (tree / "a.c").write_bytes(b"fine\ndiff --git a/x b/x\n```\n-- \n--- a/x\n+++ b/x\n")
    odd = tree / "sub dir" / 'b é "q".txt'
    odd.write_bytes(odd.read_bytes().replace(b"line 3\r", b"LINE 3\r").replace(b"line 38\r\n", b""))
    (tree / "gone.txt").unlink()
    (tree / "empty").unlink()
    (tree / "run.sh").chmod(0o755)
    (tree / "new" / "deep").mkdir(parents=True)
    (tree / "new" / "deep" / "n.py").write_bytes(b"x = 1\n\n\nno end")
    (tree / "new" / "none").touch()


async def test_it_offers_the_diff_at_the_first_attempt_and_nothing_later() -> None:
    proposal = await propose(PLAIN)
    assert (proposal.agent, proposal.offered, proposal.untouched) == ("given", True, True)
    assert [change.path for change in proposal.changes] == ["a.c"]
    assert await propose(PLAIN) == proposal, "the same after a crash"
    for attempt in (2, 3):
        later = await propose(PLAIN, attempt)
        assert (later.offered, later.changes, later.untouched) == (False, (), True)
        assert "first attempt" in english(later.because)


@pytest.mark.parametrize("ends", ["\n", "\r\n"])
@pytest.mark.parametrize("context", [3, 0])
async def test_what_git_prints_does_what_it_did(tree: Path, ends: str, context: int) -> None:
    """Files that come, go, are empty, become executable; odd names; line ends of the comment and of the file."""
    change_all(tree)
    git(tree, "add", "-A")
    said = git(tree, "diff", "--cached", "--no-renames", f"-U{context}")
    wanted = files_of(tree)
    git(tree, "reset", "-q", "--hard")
    # a comment's form makes every line end the same
    text = said.replace("\r\n", "\n").replace("\n", ends)
    assert len(await apply(tree, text)) == 7
    assert files_of(tree) == wanted


@pytest.mark.parametrize(
    "text",
    [
        GIT,
        PLAIN,
        PLAIN.replace("\n", "\r\n"),
        PLAIN.replace("\n", "\r\n").removesuffix("\r\n"),
        PLAIN.removesuffix("\n"),
        f"```diff\n{PLAIN}```\n",
        f"```diff\n{PLAIN}```\n".replace("\n", "\r\n"),
        f"Try this:\n\n{PLAIN}\nthanks\n",
        PLAIN.replace("a/a.c", "a.c").replace("b/a.c", "a.c"),
        PLAIN.replace("a/a.c", "a/a.c\t2026-01-01 00:00:00 +0000"),
        PLAIN.replace("@@ -1 +1 @@", "@@ -1,7 +1,9 @@"),
        PLAIN.replace("@@ -1 +1 @@", "@@"),
        PLAIN.replace("a/a.c", "./a.c").replace("b/a.c", "./a.c"),
    ],
)
async def test_people_write_diffs_in_many_ways(tree: Path, text: str) -> None:
    assert await apply(tree, text) == ("a.c",)
    assert (tree / "a.c").read_bytes() == b"fine\n"


async def test_a_plain_diff_makes_and_deletes_files(tree: Path) -> None:
    text = "--- /dev/null\n+++ b/new.txt\n@@ -0,0 +1 @@\n+n\n--- a/a.c\n+++ /dev/null\n@@ -1 +0,0 @@\n-boom\n"
    assert await apply(tree, text) == ("new.txt", "a.c")
    assert (tree / "new.txt").read_text() == "n\n" and not (tree / "a.c").exists()


async def test_parts_of_one_file_build_on_each_other(tree: Path) -> None:
    assert await apply(tree, PLAIN + PLAIN.replace("fine", "better").replace("boom", "fine")) == ("a.c",)
    assert (tree / "a.c").read_text() == "better\n"


async def test_what_does_not_fit_is_told_and_nothing_is_written(tree: Path) -> None:
    before = files_of(tree)
    with pytest.raises(PatchFailed, match=r"a\.c: the diff does not apply"):
        await apply(tree, "--- /dev/null\n+++ b/new.txt\n@@ -0,0 +1 @@\n+n\n" + PLAIN.replace("boom", "something else"))
    assert files_of(tree) == before


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "no diff was found; give a unified diff in a code block"),
        ("please fix it", "no diff was found"),
        ("```diff\n```\n", "no diff was found"),
        ("```python\nx = 1\n```\n", "no diff was found"),
        ("@@ -1 +1 @@\n-boom\n+fine\n", "names no file; give a unified diff"),
        ("--- a/a.c\n+++ b/a.c\n", r"says nothing about 'a\.c'"),
        ("diff --git a/a.c b/a.c\nindex 1..2 100644\n", r"says nothing about 'a\.c'"),
        (PLAIN.replace("b/a.c", "b/b.c"), r"names two files, 'a\.c', 'b\.c': name the same one"),
        ("diff --git a/a b/b\nsimilarity index 100%\nrename from a\nrename to b\n", "`git diff --no-renames`"),
        ("diff --git a/a b/b\ncopy from a\ncopy to b\n", "`git diff --no-renames`"),
        (PLAIN.replace("fine", "\udcff"), "no text"),
        (PLAIN.replace("a/a.c", '"a/\\377"').replace("b/a.c", '"b/\\377"'), "no UTF-8"),
    ],
)
def test_what_is_no_diff_of_files_is_told_with_what_is_wanted(text: str, told: str) -> None:
    with pytest.raises(UserError, match=told):
        CommentPatchAgent(text)


def _new(path: str, mode: str = "100644") -> str:
    return f"diff --git a/{path} b/{path}\nnew file mode {mode}\n--- /dev/null\n+++ b/{path}\n@@ -0,0 +1 @@\n+evil\n"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (_new("../out"), "outside_tree"),
        (_new("sub/../../out"), "outside_tree"),
        ("--- /dev/null\n+++ /etc/out\n@@ -0,0 +1 @@\n+evil\n", "absolute_path"),
        ("--- ../a.c\n+++ ../a.c\n@@ -1 +1 @@\n-boom\n+evil\n", "outside_tree"),
        (_new(".git/hooks/pre-commit"), "git_directory"),
        (_new("sub/.GIT/config"), "git_directory"),
        (_new("git~1/config"), "git_directory"),
        (_new(".git /config"), "git_directory"),
        (_new(".git::$INDEX_ALLOCATION/config"), "git_directory"),
        (_new(".gitmodules"), "gitmodules"),
        (_new(".gitattributes"), "protected_path"),
        (_new(".github/workflows/x.yml"), "workflow_file"),
        (_new(".github/mendbot.yml"), "protected_path"),
        (_new("link", "120000"), "symlink"),
        (_new("module", "160000"), "gitlink"),
        (_new("setuid", "104755"), "odd_mode"),
        ("diff --git a/a.c b/a.c\nold mode 100644\nnew mode 120000\n", "symlink"),
        ("diff --git a/a.c b/a.c\nindex 1..2 120000\n" + PLAIN, "symlink"),
        ("diff --git a/b b/b\nnew file mode 100644\nGIT binary patch\nliteral 1\nIcmZ\n", "binary_patch"),
        ("Binary files a/b and b/b differ\n" + _new("b").replace("@@", "GIT binary patch\n@@", 1), "binary_patch"),
        ('--- /dev/null\n+++ "b/a\\nb"\n@@ -0,0 +1 @@\n+evil\n', "control_character"),
        ('--- /dev/null\n+++ "b/a\\000b"\n@@ -0,0 +1 @@\n+evil\n', "control_character"),
        (_new("dangling/out"), "through_symlink"),
        ("".join(_new(f"f{number}") for number in range(201)), "too_many_files"),
        (PLAIN + _new("../out"), "outside_tree"),
    ],
)
async def test_a_hostile_diff_is_refused_and_nothing_is_written(
    tree: Path, tmp_path: Path, text: str, reason: str
) -> None:
    """T20, T21: the policy judges what a person gave as it judges an agent."""
    (tmp_path / "outside").mkdir()
    (tree / "dangling").symlink_to("../outside")
    before = files_of(tmp_path)
    for given_text in (text, text.replace("\n", "\r\n")):
        with pytest.raises(Refused) as caught:
            await apply(tree, given_text)
        assert caught.value.reason == reason
    assert files_of(tmp_path) == before
    assert not (tree / ".git/hooks/pre-commit").exists() and not Path("/etc/out").exists()


@pytest.mark.parametrize("path", ["--force", "-x", "a b.txt", "日本.txt", 'quo"te', "$(id)", "a/a/x", "b/x", "trail "])
async def test_odd_but_honest_names_work(tree: Path, path: str) -> None:
    assert await apply(tree, f"--- /dev/null\n+++ b/{path}\n@@ -0,0 +1 @@\n+n\n") == (path,)
    assert (tree / path).read_text() == "n\n"


_PIECES = [
    *"ab/ \n+-@\\0\"", "\r\n", "diff --git a/b b/b\n", "\n--- a/b\n", "\n+++ b/b\n", "\n+++ /dev/null\n", "\n--- ../x",
    "\n@@ -1 +1 @@\n", "new file mode 100644\n", "old mode 100755\n", "rename to x\n", "```\n", GIT, "\x0c", "é", "\0",
]  # fmt: skip


@given(st.lists(st.sampled_from(_PIECES)).map("".join))
@example(GIT + "\n@@ -1 +1 @@\na")
@example("--- a/b\n+++ b/b\n@@ -1,2 +1,2 @@\n-x\n+y\nprose\n")
def test_any_text_is_told_or_says_the_same_once_more(text: str) -> None:
    """What is offered means, read as it is applied, what the text meant."""
    try:
        changes = parse_comment_patch(text)
    except UserError:
        return
    parts = parse_diff(text.replace("\r\n", "\n") if text.count("\r\n") == text.count("\n") else text)
    assert len(changes) == len(parts)
    for change, part in zip(changes, parts, strict=True):
        (said,) = parse_diff(change.patch or "")
        assert (said.hunks, said.new_mode, said.creates, said.deletes) == (
            part.hunks, part.new_mode, part.creates, part.deletes,
        )  # fmt: skip
        assert said.paths == part.paths == (change.path,) and set(part.modes) <= set(said.modes)
        assert isinstance(change, Change) and said.binary == part.binary
