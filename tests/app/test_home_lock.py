"""The file by which one server holds a home: what stands in its place does no harm."""

from __future__ import annotations

from pathlib import Path

import pytest

from bot.app.server import lock_home
from bot.errors import ConfigError


def test_one_server_holds_the_home(tmp_path: Path) -> None:
    held = lock_home(tmp_path)
    with pytest.raises(ConfigError, match="another `mendbot serve`"):
        lock_home(tmp_path)
    held.close()
    lock_home(tmp_path).close()


def test_a_link_in_the_lock_files_place_empties_nothing(tmp_path: Path) -> None:
    theirs = tmp_path / "theirs"
    theirs.write_text("kept")
    home = tmp_path / "home"
    home.mkdir()
    (home / "serve.lock").symlink_to(theirs)
    with pytest.raises(ConfigError, match="cannot be used"):
        lock_home(home)
    assert theirs.read_text() == "kept"
