"""What `serve` refuses to start without."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from bot.app.server import check_settings
from bot.config import Settings, unknown_variables
from bot.errors import ConfigError

SETTINGS = Settings(app_id="1", webhook_secret="s3cr" * 8, private_key="key", allow_root=True)

Install = Callable[[str], None]


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Install:
    """Puts a git on PATH, alone, that says this of its version."""

    def put(version: str) -> None:
        (tmp_path / "git").write_text(f"#!/bin/sh\necho git version {version}\n")
        (tmp_path / "git").chmod(0o755)
        monkeypatch.setenv("PATH", str(tmp_path))

    return put


def test_a_machine_that_has_all_is_fine() -> None:
    check_settings(SETTINGS)


@pytest.mark.parametrize("version", ["2.39.0", "2.100.1", "3.0", "'2.39.5 (Apple Git-154)'", "2.47.1.windows.1"])
def test_a_git_that_is_new_enough_is_fine(install: Install, version: str) -> None:
    install(version)
    check_settings(SETTINGS)


@pytest.mark.parametrize("version", ["2.38.5", "1.99.0", "2.4.11", "unknown"])
def test_an_old_git_is_refused_with_both_versions(install: Install, version: str) -> None:
    """T19: a git with known holes is not started."""
    install(version)
    with pytest.raises(ConfigError, match=rf"git 2\.39 or newer is needed, .*{version}"):
        check_settings(SETTINGS)


def test_a_machine_without_git_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ConfigError, match="install git"):
        check_settings(SETTINGS)


@pytest.mark.parametrize("app_id", ["1", " 1234\n", "Iv23liAbCdEfGhIjKlMn", "Iv1.8a61f9b3a7aba766"])
def test_an_apps_number_and_its_client_id_are_fine(app_id: str) -> None:
    check_settings(SETTINGS.model_copy(update={"app_id": app_id}))


def test_variables_that_no_setting_is_read_from_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in list(os.environ):
        if name.startswith("MENDBOT_"):
            monkeypatch.delenv(name)
    mine = ("MENDBOT_HOME", "MENDBOT_ENABLED", "MENDBOT_PROC", "MENDBOTTLE")
    for name in (*mine, "MENDBOT_MAX_WORKTREE", "MENDBOT_XYZ"):
        monkeypatch.setenv(name, "1")
    assert unknown_variables() == {"MENDBOT_MAX_WORKTREE": "MENDBOT_MAX_WORKTREES", "MENDBOT_XYZ": ""}
