"""Reading and replacing files below a root: no link is followed, nothing blocks, and a failure undoes itself."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from bot.errors import Refused
from bot.workspace.files.nofollow import FileState, Replacement, read_state, replace_all


def test_a_regular_file_is_read_with_its_mode(tmp_path: Path) -> None:
    (tmp_path / "d").mkdir()
    (tmp_path / "d/f").write_bytes(b"x")
    (tmp_path / "d/f").chmod(0o755)
    assert read_state(tmp_path, "d/f") == FileState(b"x", 0o755)


@pytest.mark.parametrize("path", ["missing", "missing/f", "file/f"])
def test_what_is_not_there_is_none(tmp_path: Path, path: str) -> None:
    (tmp_path / "file").touch()
    assert read_state(tmp_path, path) is None


@pytest.mark.parametrize("path", ["link", "way/f", "way/deeper/f"])
def test_a_link_at_any_part_is_refused(tmp_path: Path, path: str) -> None:
    (tmp_path / "out/deeper").mkdir(parents=True)
    (tmp_path / "out/f").write_text("secret")
    (tmp_path / "tree").mkdir()
    (tmp_path / "tree/link").symlink_to("../out/f")
    (tmp_path / "tree/way").symlink_to("../out")
    with pytest.raises(Refused) as read:
        read_state(tmp_path / "tree", path)
    with pytest.raises(Refused) as written:
        replace_all(tmp_path / "tree", [Replacement("new/f", b"x"), Replacement(path, b"x")])
    assert read.value.reason == written.value.reason == "through_symlink"
    assert (tmp_path / "out/f").read_text() == "secret"
    assert sorted(os.listdir(tmp_path / "tree")) == ["link", "way"]


def test_a_fifo_or_a_directory_is_an_error_at_once(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    (tmp_path / "directory").mkdir()
    for path in ("fifo", "directory"):
        with pytest.raises(OSError, match=r"regular|directory"):
            read_state(tmp_path, path)
        with pytest.raises(OSError, match="regular"):
            replace_all(tmp_path, [Replacement(path, b"x")])


def test_a_file_may_give_way_to_a_directory(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("file")
    replace_all(tmp_path, [Replacement("a/b", b"x"), Replacement("a", None)])
    assert (tmp_path / "a/b").read_bytes() == b"x"


def test_a_failure_half_way_puts_back_files_and_takes_away_directories(tmp_path: Path) -> None:
    (tmp_path / "kept").write_text("kept")
    (tmp_path / "gone").write_text("gone")
    inodes = {name: (tmp_path / name).stat().st_ino for name in ("kept", "gone")}
    wanted = [
        Replacement("gone", None),
        Replacement("kept", b"new"),
        Replacement("x/y/z", b"new"),
        Replacement("x/y/z/impossible", b"new"),
    ]
    with pytest.raises(NotADirectoryError):
        replace_all(tmp_path, wanted)
    assert {name: (tmp_path / name).stat().st_ino for name in os.listdir(tmp_path)} == inodes


def test_a_new_file_follows_the_umask_and_an_old_one_keeps_its_bits(tmp_path: Path) -> None:
    (tmp_path / "old").touch()
    (tmp_path / "old").chmod(0o640)
    before = os.umask(0o027)
    try:
        replace_all(tmp_path, [Replacement("new", b""), Replacement("run", b"", True), Replacement("old", b"", True)])
    finally:
        os.umask(before)
    modes = {name: (tmp_path / name).stat().st_mode & 0o777 for name in ("new", "run", "old")}
    assert modes == {"new": 0o640, "run": 0o750, "old": 0o750}
