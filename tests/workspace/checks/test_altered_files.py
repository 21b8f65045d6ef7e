"""`run_checks` leaves a tree's files as they are, whatever the checks rewrite, with and without a repository."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import pytest

from bot.config import ChecksPolicy
from bot.errors import UserError
from bot.model import CheckResult
from tests.workspace.checks.check_projects import _own_tools_on_path, check, node_project, policy
from tests.workspace.git_scene import content, make_repo, plain

__all__ = ["_own_tools_on_path"]


@pytest.fixture(autouse=True)
def _aside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where copies are kept, so that nothing is left behind."""
    (tmp_path / "aside").mkdir()
    monkeypatch.setenv("TMPDIR", str(tmp_path / "aside"))
    monkeypatch.setattr(tempfile, "tempdir", None)


def files(tree: Path) -> dict[str, object]:
    """All that a person would write there."""
    return {name: found for name, found in content(tree).items() if not name.startswith(".ruff_cache")}


async def one(tree: Path, names: str = "lint", **options: Any) -> CheckResult:
    (result,) = (await check(tree, [names], max_attempts=1, **options)).results
    return result


@pytest.fixture(params=["repository", "plain directory"])
def tree(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """With an edit that was never committed, and a file that git has never seen."""
    sources = {"app.py": "import os\n", "notes.txt": "committed\n", "src/deep/b.py": "b = 1\n", ".gitignore": "out\n"}
    path = make_repo(tmp_path / "project", sources)
    (path / "notes.txt").write_text("edited, and nowhere else\n")
    (path / "new.py").write_text("import sys\n")
    if request.param == "plain directory":
        shutil.rmtree(path / ".git")
    return path


async def test_ruff_that_fixes_by_its_configuration_leaves_the_files_as_they_are(tree: Path) -> None:
    """REQ-PROOF-003."""
    (tree / "ruff.toml").write_text('fix = true\n[lint]\nselect = ["F401"]\n')
    before = files(tree)
    result = await one(tree, policy=policy(lint="ruff check ."))
    assert result.passed  # by its own words: it has fixed what it found
    assert result.restored == ("app.py", "new.py")
    kept = Path(result.found_in)
    assert (kept / "app.py").read_text() == "" and files(tree) == before


async def test_a_guessed_linter_does_not_fix_whatever_its_configuration_says(tree: Path) -> None:
    (tree / "ruff.toml").write_text('fix = true\n[lint]\nselect = ["F401"]\n')
    before = files(tree)
    result = await one(tree, policy=ChecksPolicy())
    assert (result.command, result.passed, result.restored) == ("ruff check --no-fix", False, ())
    assert "F401" in result.output and files(tree) == before


async def test_a_lint_script_that_fixes_leaves_the_files_as_they_are(tree: Path) -> None:
    script = "require('fs').writeFileSync('notes.txt', 'linted'); require('fs').mkdirSync('dist')"
    node_project(tree, lint=f'node -e "{script}"')
    before = files(tree)
    result = await one(tree)
    assert result.passed and result.restored == ("notes.txt",)
    assert (tree / "dist").is_dir()  # new files stay
    assert {name: text for name, text in files(tree).items() if name in before} == before


@pytest.mark.parametrize(
    ("harm", "restored"),
    [
        ("rm notes.txt", "notes.txt"),
        ("rm -r src", "src/deep/b.py"),
        ("rm -r src && echo file > src", "src/deep/b.py"),
        ("rm notes.txt && mkdir notes.txt && touch notes.txt/x", "notes.txt"),
        ("rm notes.txt && ln -s /etc/hostname notes.txt", "notes.txt"),
        ("chmod 755 notes.txt", "notes.txt"),
        ("chmod 0 notes.txt", "notes.txt"),
        ("touch -r notes.txt ../then; echo EDITED,_and_nowhere_else > notes.txt; touch -r ../then *.txt", "notes.txt"),
    ],
)  # fmt: skip
async def test_whatever_a_check_does_to_a_file_it_is_restored(tree: Path, harm: str, restored: str) -> None:
    before, status = files(tree), (tree / "notes.txt").stat()
    result = await one(tree, policy=policy(lint=harm))
    assert result.restored == (restored,)
    assert files(tree) == before
    assert (tree / "notes.txt").stat().st_mode == status.st_mode
    assert (tree / "notes.txt").stat().st_mtime_ns == status.st_mtime_ns


@pytest.mark.parametrize("harm", ["rm notes.txt", "chmod 755 notes.txt", "cp notes.txt x; chmod 700 x; mv x notes.txt"])
async def test_where_nothing_was_found_no_directory_is_left(tree: Path, tmp_path: Path, harm: str) -> None:
    result = await one(tree, policy=policy(lint=harm))
    assert "notes.txt" in result.restored and result.found_in == ""
    assert list((tmp_path / "aside").iterdir()) == []


async def test_a_link_in_a_directorys_place_is_not_followed(tree: Path, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    (elsewhere / "deep").mkdir(parents=True)
    (elsewhere / "deep/b.py").write_text("not of this tree\n")
    before = files(tree)
    result = await one(tree, policy=policy(lint=f"rm -r src && ln -s {elsewhere} src"))
    assert result.restored == ("src/deep/b.py",) and files(tree) == before
    assert (elsewhere / "deep/b.py").read_text() == "not of this tree\n"


async def test_each_check_sees_the_files_as_they_were(tree: Path) -> None:
    commands = policy(lint="echo linted > notes.txt", test="grep -q nowhere notes.txt")
    result = await check(tree, ["lint", "test"], max_attempts=1, policy=commands)
    assert result.passed


async def test_what_the_caller_changes_between_two_attempts_stays(tree: Path) -> None:
    def change(errors: object) -> None:
        (tree / "notes.txt").write_text("by the caller\n")

    command = "grep -q caller notes.txt && echo more >> notes.txt"
    result = await check(tree, ["test"], policy=policy(test=command), before_retry=change)
    assert result.passed and (tree / "notes.txt").read_text() == "by the caller\n"


async def test_a_link_of_the_tree_is_kept_as_a_link(tree: Path) -> None:
    (tree / "link").symlink_to("notes.txt")
    result = await one(tree, policy=policy(lint="rm link && ln -s app.py link"))
    assert result.restored == ("link",) and os.readlink(tree / "link") == "notes.txt"


async def test_the_index_of_the_repository_is_not_touched(tmp_path: Path) -> None:
    repo = make_repo(tmp_path / "r", {"a.txt": "one\n"})
    (repo / "a.txt").write_text("staged\n")
    plain("add", "a.txt", cwd=repo)
    (repo / "a.txt").write_text("not staged\n")
    before = plain("status", "--porcelain", cwd=repo)
    assert (await one(repo, policy=policy(lint="echo linted > a.txt"))).restored == ("a.txt",)
    assert (repo / "a.txt").read_text() == "not staged\n" and plain("show", ":a.txt", cwd=repo) == "staged"
    assert plain("status", "--porcelain", cwd=repo) == before


INTERRUPTED = """
import asyncio, sys
from pathlib import Path
from bot.config import CheckPolicy, ChecksPolicy
from bot.workspace.checks.run_checks import run_checks

async def main() -> None:
    lint = "echo half > notes.txt; touch ../begun; sleep 600"
    asked = asyncio.create_task(
        run_checks(sys.argv[1], ["lint"], policy=ChecksPolicy(lint=CheckPolicy(command=lint, timeout=900)))
    )
    while not Path(sys.argv[1], "../begun").exists():
        await asyncio.sleep(0.01)
    asked.cancel()
    await asked

try:
    asyncio.run(main())
except asyncio.CancelledError:
    print("cancelled")
"""


def test_an_interrupted_check_leaves_the_files_as_they_were(tree: Path) -> None:
    before = files(tree)
    done = subprocess.run([sys.executable, "-c", INTERRUPTED, str(tree)], capture_output=True, text=True, check=True)
    assert done.stdout == "cancelled\n" and files(tree) == before


async def test_files_that_cannot_be_restored_are_saved_and_said(tree: Path) -> None:
    """The whole tree has become a file."""
    with pytest.raises(UserError, match="cannot be restored") as caught:
        await one(tree, policy=policy(lint='tree=$PWD; cd ..; rm -r "$tree"; touch "$tree"'))
    saved = Path(str(caught.value).rpartition(" ")[2])
    assert (saved / "notes.txt").read_text() == "edited, and nowhere else\n" and (saved / "src/deep/b.py").exists()
