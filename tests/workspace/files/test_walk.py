"""Everything below a directory is named once, links are not followed, and depth does no harm."""

from __future__ import annotations

import os
from pathlib import Path

from bot.workspace.files.walk import walk


def test_files_directories_and_links_are_named_and_links_not_followed(tmp_path: Path) -> None:
    (tmp_path / "a" / "b").mkdir(parents=True)
    (tmp_path / "a" / "b" / "file").touch()
    (tmp_path / "to-a").symlink_to("a")
    assert sorted(name for name, _ in walk(tmp_path)) == ["a", "a/b", "a/b/file", "to-a"]


def test_a_directory_that_is_not_entered_is_named(tmp_path: Path) -> None:
    (tmp_path / "a" / "b").mkdir(parents=True)
    assert [name for name, _ in walk(tmp_path, enters=lambda name: name != "a")] == ["a"]


def test_a_tree_may_be_deeper_than_python_recurses(tmp_path: Path) -> None:
    place = os.open(tmp_path, os.O_RDONLY)
    for _ in range(1500):
        os.mkdir("d", dir_fd=place)
        below = os.open("d", os.O_RDONLY, dir_fd=place)
        os.close(place)
        place = below
    os.close(place)
    assert sum(1 for _ in walk(tmp_path)) == 1500
