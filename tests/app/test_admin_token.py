"""The token of a server that the operator gave none: made once, for this user alone, never written again."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from bot.app.admin_token import with_admin_token, with_known_token
from bot.config import Settings
from bot.errors import ConfigError
from bot.logs import captured_logs

TOKEN = "t" * 43


def token_of(settings: Settings) -> str | None:
    return settings.admin_token.get_secret_value() if settings.admin_token else None


def test_it_is_made_once_for_this_user_alone(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        with captured_logs() as said:
            first = token_of(with_admin_token(Settings(home=tmp_path)))
    finally:
        os.umask(before)
    assert first is not None and len(first) >= 43
    assert first not in str(said)
    assert (tmp_path / "admin-token").stat().st_mode & 0o777 == 0o600
    assert [path.name for path in tmp_path.iterdir()] == ["admin-token"]
    assert token_of(with_admin_token(Settings(home=tmp_path))) == first
    assert token_of(with_known_token(Settings(home=tmp_path))) == first


@pytest.mark.parametrize("given", ["short", TOKEN])
def test_the_operators_own_comes_first_and_leaves_no_file(tmp_path: Path, given: str) -> None:
    assert token_of(with_admin_token(Settings(home=tmp_path, admin_token=given))) == given
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("given", ["", " ", "\n"])
def test_an_empty_one_is_none(tmp_path: Path, given: str) -> None:
    assert (token_of(with_admin_token(Settings(home=tmp_path, admin_token=given))) or "").strip()


def empty(path: Path) -> None:
    path.touch(mode=0o600)


def cut(path: Path) -> None:
    path.write_text(TOKEN[:20])


def two_words(path: Path) -> None:
    path.write_text(f"{TOKEN} {TOKEN}")


def no_text(path: Path) -> None:
    path.write_bytes(b"\xff" * 43)


def endless(path: Path) -> None:
    path.write_bytes(b"t" * 1_000_000)


def link(path: Path) -> None:
    (path.parent / "elsewhere").write_text(TOKEN)
    path.symlink_to("elsewhere")


def dangling(path: Path) -> None:
    path.symlink_to("nowhere")


def writable(path: Path) -> None:
    path.write_text(TOKEN)
    path.chmod(0o660)


@pytest.mark.parametrize(
    "spoil", [empty, cut, two_words, no_text, endless, link, dangling, writable, Path.mkdir, os.mkfifo]
)
def test_a_file_that_holds_no_token_is_told_and_stays(tmp_path: Path, spoil: Callable[[Path], object]) -> None:
    path = tmp_path / "admin-token"
    spoil(path)
    before = path.lstat()
    with pytest.raises(ConfigError, match=r"admin-token .*delete it") as raised:
        with_admin_token(Settings(home=tmp_path))
    assert TOKEN[:20] not in str(raised.value)
    assert path.lstat() == before
    assert token_of(with_known_token(Settings(home=tmp_path))) in (None, TOKEN if spoil is writable else None)


def test_what_others_could_read_is_closed_to_them_and_said(tmp_path: Path) -> None:
    path = tmp_path / "admin-token"
    path.write_text(f"{TOKEN}\n")
    path.chmod(0o644)
    with captured_logs() as said:
        assert token_of(with_admin_token(Settings(home=tmp_path))) == TOKEN
    assert path.stat().st_mode & 0o777 == 0o600
    assert [(entry["event"], entry["level"]) for entry in said] == [("admin_token_open", "warning")]
    assert TOKEN not in str(said)
