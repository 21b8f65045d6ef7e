"""What a change may touch: every hostile path and diff of the threat table has its own reason."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.model import Change
from bot.reports.locale.reasons import english
from bot.rules.patches.change_policy import (
    MAX_BYTES,
    Refusal,
    check_changes,
    check_patch_text,
    check_path,
    check_proposed,
    refused_changes,
)

HOSTILE_PATHS = [
    ("../x", "outside_tree"),
    ("a/../../x", "outside_tree"),
    ("a/..", "outside_tree"),
    ("a\\..\\..\\x", "outside_tree"),
    ("/etc/passwd", "absolute_path"),
    ("//server/share", "absolute_path"),
    ("\\\\server\\share", "absolute_path"),
    ("C:/x", "absolute_path"),
    ("c:x", "absolute_path"),
    (".git/config", "git_directory"),
    (".git", "git_directory"),
    (".GIT/hooks/pre-commit", "git_directory"),
    (".git /config", "git_directory"),
    (".git./config", "git_directory"),
    (".git . ./config", "git_directory"),
    ("git~1/config", "git_directory"),
    ("GIT~1/config", "git_directory"),
    (".git::$INDEX_ALLOCATION/config", "git_directory"),
    (".git:stream", "git_directory"),
    ("sub/.git/config", "git_directory"),
    ("sub\\.git\\config", "git_directory"),
    (".g\u200cit/config", "git_directory"),
    (".git\ufeff/config", "git_directory"),
    (".gi\u206at/config", "git_directory"),
    ("", "odd_path"),
    (".", "odd_path"),
    ("./x", "odd_path"),
    ("a//b", "odd_path"),
    ("a/", "odd_path"),
    ("a\\b", "odd_path"),
    ("x" * 256, "odd_path"),
    ("a/" * 2000 + "b", "odd_path"),
    ("new\nline", "control_character"),
    ("nul\0byte", "control_character"),
    ("tab\tbed", "control_character"),
    ("escape\x1b[31m", "control_character"),
    ("lone\udc80", "control_character"),
    ("right\u202eleft", "control_character"),
    (".gitmodules", "gitmodules"),
    ("sub/.GitModules", "gitmodules"),
    ("gitmod~1", "gitmodules"),
    ("gi7eba~1", "gitmodules"),
    (".github/workflows/ci.yml", "workflow_file"),
    (".github/workflows/deep/ci.yml", "workflow_file"),
    (".GitHub/Workflows/ci.yml", "workflow_file"),
    (".github /workflows./ci.yml", "workflow_file"),
    (".github/mendbot.yml", "protected_path"),
    (".gitattributes", "protected_path"),
    ("sub/.gitattributes", "protected_path"),
    ("gitatt~1", "protected_path"),
    ("CODEOWNERS", "protected_path"),
    (".github/CODEOWNERS", "protected_path"),
    ("docs/codeowners", "protected_path"),
    (".husky/pre-commit", "protected_path"),
    ("web/.husky/_/husky.sh", "protected_path"),
    (".pre-commit-config.yaml", "protected_path"),
    (".github/actions/setup/action.yml", "protected_path"),
    ("package-lock.json", "protected_path"),
    ("web/yarn.lock", "protected_path"),
    ("requirements-dev.lock", "protected_path"),
]


def reason(refusal: Refusal | None) -> str | None:
    return refusal.reason if refusal else None


@pytest.mark.parametrize(("path", "expected"), HOSTILE_PATHS)
def test_a_hostile_path_is_refused_with_its_own_reason(path: str, expected: str) -> None:
    """REQ-RUN-003."""
    refusal = check_path(path)
    assert reason(refusal) == expected
    assert refusal is not None
    assert repr(path[:200]) in english(refusal.because)


@pytest.mark.parametrize(
    "path",
    ["src/app.py", "--force", "-x", "a b/c'd.txt", ".gitignore", ".github/dependabot.yml", "git/x", "x.git/y", "git~x",
     "docs/CODEOWNERS.md", "src/CODEOWNERS",
     "日本語/ファイル.txt", "app/[id]/(group)/page.tsx", "a" * 255, "...", "e\u0301",
     "github/workflows/x", "x/.github/workflows/ci.yml", "~/x", "lock.json"],
)  # fmt: skip
def test_an_ordinary_path_is_allowed(path: str) -> None:
    assert check_path(path) is None


@pytest.mark.parametrize(
    ("glob", "path", "protected"),
    [
        ("infra/**", "infra/a/b.tf", True),
        ("infra/", "infra/a", True),
        ("infra", "sub/infra/a", True),
        ("/infra", "sub/infra/a", False),
        ("infra/**", "infrastructure/a", False),
        ("*.pem", "keys/a.pem", True),
        ("*.pem", "keys/a.pem.txt", False),
        ("src/*.py", "src/a.py", True),
        ("src/*.py", "src/a/b.py", False),
        ("src/**/b.py", "src/b.py", True),
        ("src/**/b.py", "src/x/y/B.py", True),
        ("**/secret", "a/secret/b", True),
        ("Src/A.py", "src/a.py", True),
        ("", "src/a.py", False),
        ("**", "src/a.py", True),
    ],
)
def test_a_repositorys_own_globs_protect(glob: str, path: str, protected: bool) -> None:
    assert reason(check_path(path, [glob])) == ("protected_path" if protected else None)


def test_a_repository_may_lift_a_default_but_neither_git_nor_workflows() -> None:
    assert check_path("uv.lock", ["!uv.lock"]) is None
    assert reason(check_path("uv.lock", ["!uv.lock", "*.lock"])) == "protected_path"
    for path in (".git/config", ".gitmodules", ".github/workflows/a.yml", "../x"):
        assert check_path(path, ["!**", f"!{path}"]) is not None


def test_a_hostile_glob_costs_little() -> None:
    assert check_path("a/" * 100 + "b", ["**/a/" * 40 + "x", "*a" * 40]) is None


def modified(path: str, body: str = "@@ -1 +1 @@\n-a\n+b\n") -> str:
    return f"--- a/{path}\n+++ b/{path}\n{body}"


HOSTILE_DIFFS = [
    (modified("../x"), "outside_tree"),
    (modified("/etc/passwd"), "absolute_path"),
    ("diff --git /etc/passwd /etc/passwd\nnew file mode 100644\n--- /dev/null\n+++ /etc/passwd\n", "absolute_path"),
    (modified(".git/hooks/pre-commit"), "git_directory"),
    (modified("git~1/config"), "git_directory"),
    (modified("y"), "path_mismatch"),
    (modified("x") + modified("y"), "path_mismatch"),
    ("--- a/x\n+++ b/y\n@@ -1 +1 @@\n-a\n+b\n", "path_mismatch"),
    ("diff --git a/x b/y\nrename from x\nrename to y\n", "path_mismatch"),
    ("diff --git a/x b/../y\nrename from x\nrename to ../y\n", "outside_tree"),
    ("diff --git a/x b/y\ncopy from y\ncopy to x\n", "path_mismatch"),
    ("diff --git a/y b/y\nnew file mode 100644\nindex 0000000..e69de29\n", "path_mismatch"),
    (modified("x", "@@ -1,7 +1,7 @@\n-a\n+b\n") + modified("../y"), "outside_tree"),
    ("diff --git a/x b/x\nnew file mode 120000\n--- /dev/null\n+++ b/x\n@@ -0,0 +1 @@\n+/etc/passwd\n", "symlink"),
    ("diff --git a/x b/x\nold mode 100644\nnew mode 120000\n", "symlink"),
    ("diff --git a/x b/x\nindex 1234567..89abcde 120000\n" + modified("x"), "symlink"),
    ("diff --git a/x b/x\nnew file mode 160000\n--- /dev/null\n+++ b/x\n@@ -0,0 +1 @@\n+Subproject\n", "gitlink"),
    ("diff --git a/x b/x\nindex 1234567..89abcde 160000\n" + modified("x"), "gitlink"),
    ("diff --git a/x b/x\nnew file mode 104755\n--- /dev/null\n+++ b/x\n@@ -0,0 +1 @@\n+a\n", "odd_mode"),
    ("diff --git a/x b/x\nold mode 100644\nnew mode 100777\n", "odd_mode"),
    ("diff --git a/x b/x\nnew file mode 040000\n", "odd_mode"),
    ("diff --git a/x b/x\nnew file mode banana\n", "odd_mode"),
    ("diff --git a/x b/x\nindex 0000000..1111111\nGIT binary patch\nliteral 1\nIcmZQz00IC2\n", "binary_patch"),
    ("diff --git a/x b/x\nindex 0000000..1111111\nBinary files a/x and b/x differ\n", "binary_patch"),
    (modified("x", "@@ -1 +1 @@\n-a\n+\0\n"), "control_character"),
    (modified("x", "@@ -1 +1 @@\n-a\n+" + "b" * MAX_BYTES + "\n"), "too_large"),
    ('--- "a/x\\ny"\n+++ "b/x\\ny"\n@@ -1 +1 @@\n-a\n+b\n', "control_character"),
    ('--- "a/x\\000y"\n+++ "b/x\\000y"\n@@ -1 +1 @@\n-a\n+b\n', "control_character"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "expected"), HOSTILE_DIFFS)
def test_a_hostile_diff_is_refused_with_its_own_reason(text: str, expected: str) -> None:
    """REQ-RUN-003."""
    assert reason(check_patch_text(text, "x")) == expected


@pytest.mark.parametrize(
    ("text", "path"),
    [
        (modified("x"), "x"),
        (modified("a/x"), "a/x"),
        ("--- a/x\n+++ a/x\n@@ -1 +1 @@\n-a\n+b\n", "a/x"),
        ("--- x\n+++ x\n@@ -1 +1 @@\n-a\n+b\n", "x"),
        (modified("--force"), "--force"),
        ("@@ -1 +1 @@\n-a\n+b\n", "x"),
        ("diff --git a/x b/x\nnew file mode 100755\n--- /dev/null\n+++ b/x\n@@ -0,0 +1 @@\n+a\n", "x"),
        (modified("x", "@@ -1,2 +1,2 @@\n--- ../y\n+++ ../y\n a\n"), "x"),
        (modified("x", "@@ -0,0 +1,3 @@\n+new file mode 120000\n+GIT binary patch\n+Binary files differ\n"), "x"),
    ],
)  # fmt: skip
def test_a_diff_of_its_own_file_is_allowed_whatever_its_lines_say(text: str, path: str) -> None:
    assert check_patch_text(text, path) is None


@dataclass(frozen=True)
class Item:
    path: str
    old_mode: str = "100644"
    new_mode: str = "100644"
    binary: bool = False
    size: int = 10


@pytest.mark.parametrize(
    ("item", "expected"),
    [
        (Item("x"), None),
        (Item("x", old_mode="000000"), None),
        (Item("x", new_mode="000000"), None),
        (Item("x", new_mode="100755"), None),
        (Item("x", new_mode="120000"), "symlink"),
        (Item("x", old_mode="120000", new_mode="000000"), None),
        (Item("x", new_mode="160000"), "gitlink"),
        (Item("x", old_mode="160000", new_mode="000000"), "gitlink"),
        (Item("x", new_mode="040000"), "odd_mode"),
        (Item("x", binary=True), "binary_patch"),
        (Item("x", binary=True, new_mode="000000"), None),
        (Item("x", size=MAX_BYTES + 1), "too_large"),
        (Item(".github/workflows/a.yml", new_mode="000000"), "workflow_file"),
        (Item("infra/a"), "protected_path"),
    ],
)
def test_what_became_of_a_tree_is_judged_by_the_same_rules(item: Item, expected: str | None) -> None:
    assert reason(check_changes([item], ["infra"])) == expected


def test_too_many_files_are_refused() -> None:
    items = [Item(f"f{number}") for number in range(201)]
    assert reason(check_changes(items)) == "too_many_files"
    assert check_changes(items[:200]) is None
    changes = [Change(path=item.path, content="") for item in items]
    assert reason(check_proposed(changes)) == "too_many_files"
    assert check_proposed(changes[:200]) is None


def test_each_refused_file_of_a_tree_is_named_so_that_the_rest_may_stay() -> None:
    found = refused_changes([Item("a"), Item("uv.lock"), Item("b"), Item("c", new_mode="120000")])
    assert [(path, refusal.reason) for path, refusal in found] == [("uv.lock", "protected_path"), ("c", "symlink")]


def test_contents_count_towards_the_size() -> None:
    half = "x" * (MAX_BYTES // 2 + 1)
    assert check_proposed([Change(path="a", content=half)]) is None
    assert (
        reason(check_proposed([Change(path="a", content=half), Change(path="b", fallback_content=half)])) == "too_large"
    )
    assert reason(check_proposed([Change(path="a", content="é" * (MAX_BYTES // 2 + 1))])) == "too_large"


@given(st.text())
def test_any_text_may_be_asked_about(text: str) -> None:
    refusal = check_path(text)
    if refusal is None:
        assert not text.startswith("/")
        assert ".." not in text.split("/")
        assert ".git" not in text.lower().split("/")
