"""Files and small directories are deleted without a process, large ones by rm(1), and no link is followed."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from bot.workspace.files.remove_tree import remove_directory


def link(path: Path) -> None:
    path.symlink_to("../outside")


def small(path: Path) -> None:
    (path / "a" / "b").mkdir(parents=True)
    (path / "a" / "b" / "file").write_text("1\n")
    (path / "a" / "link").symlink_to("../../../outside")


def large(path: Path) -> None:
    small(path)
    for number in range(100):
        (path / f"{number}").write_text("")


def unwritable(path: Path) -> None:
    small(path)
    (path / "a" / "b").chmod(0o500)


@pytest.mark.parametrize(
    ("make", "alone"),
    [(lambda path: path.write_text("1\n"), True), (link, True), (small, True), (large, False), (unwritable, False)],
    ids=["file", "link", "small", "large", "unwritable"],
)
async def test_all_is_deleted_and_no_link_is_followed(
    make: Callable[[Path], None], alone: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "file").write_text("stays\n")
    place = tmp_path / "parent"
    place.mkdir()
    make(place / "path")
    if alone:
        monkeypatch.setenv("PATH", str(tmp_path))  # no program is found
    await remove_directory(place / "path")
    assert list(place.iterdir()) == []
    assert (tmp_path / "outside" / "file").read_text() == "stays\n"
