"""A file is written whole or not at all, and a failed write leaves nothing behind."""

from __future__ import annotations

from pathlib import Path

import pytest

from bot.workspace.files.atomic_write import atomic_write


def test_new_content_takes_the_place_of_the_old(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("file")
    for content in (b"old\n", b"new\n"):
        atomic_write(tmp_path / "file", content)
        assert (tmp_path / "link").read_bytes() == content
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file", "link"]


def test_a_write_that_fails_leaves_all_as_it_was(tmp_path: Path) -> None:
    (tmp_path / "taken" / "below").mkdir(parents=True)
    with pytest.raises(OSError):
        atomic_write(tmp_path / "taken", b"new\n")
    assert [path.name for path in tmp_path.iterdir()] == ["taken"]
