"""Marks: what Mendbot made is cleared up, what somebody else made never, however much it looks the same."""

from __future__ import annotations

from pathlib import Path

import pytest

from bot.workspace.files.home_directories import DIRECTORIES, MARK, claim_directories, is_marked, own_entries


def test_new_directories_are_made_and_marked(tmp_path: Path) -> None:
    for _ in range(2):
        assert claim_directories(tmp_path / "home") == ()
        assert all(is_marked(tmp_path / "home" / name) for name in DIRECTORIES)
        assert all(own_entries(tmp_path / "home", name) == [] for name in DIRECTORIES)


@pytest.mark.parametrize("name", DIRECTORIES)
@pytest.mark.parametrize("somebodys", ["thesis", "a/b/c/d", "run-0a1b2c", ".mendbot"])
def test_a_directory_with_others_files_is_never_ours(tmp_path: Path, name: str, somebodys: str) -> None:
    where = tmp_path / name / somebodys
    where.parent.mkdir(parents=True, exist_ok=True)
    where.symlink_to("nowhere") if somebodys == MARK else where.touch()
    assert claim_directories(tmp_path) == (tmp_path / name,)
    assert own_entries(tmp_path, name, "**/*") == []


@pytest.mark.parametrize("text", ["", "my notes about mending bots\n", "x" * 100_000])
def test_somebodys_own_file_by_the_marks_name_is_no_mark(tmp_path: Path, text: str) -> None:
    (tmp_path / "kits").mkdir()
    (tmp_path / "kits" / MARK).write_text(text)
    assert not is_marked(tmp_path / "kits")
    assert tmp_path / "kits" in claim_directories(tmp_path)
    assert (tmp_path / "kits" / MARK).read_text() == text


def test_what_a_link_leads_to_is_not_in_a_directory(tmp_path: Path) -> None:
    home, elsewhere = tmp_path / "home", tmp_path / "elsewhere" / "tiny"
    claim_directories(home)
    (elsewhere / "run-0a1b2c" / "tree").mkdir(parents=True)
    (home / "worktrees" / "octo").symlink_to(elsewhere.parent)
    (home / "worktrees" / "ada" / "tiny" / "run-0a1b2c" / "tree").mkdir(parents=True)
    assert own_entries(home, "worktrees", "*/*/*/*") == [home / "worktrees/ada/tiny/run-0a1b2c/tree"]


def test_a_whole_directory_may_lie_on_another_disk(tmp_path: Path) -> None:
    (tmp_path / "large").mkdir()
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "artifacts").symlink_to(tmp_path / "large")
    assert claim_directories(tmp_path / "home") == ()
    (tmp_path / "large" / "run-0a1b2c").mkdir()
    assert [path.name for path in own_entries(tmp_path / "home", "artifacts")] == ["run-0a1b2c"]
