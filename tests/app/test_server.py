"""What `serve` refuses to start without."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from bot.app.server import check_settings
from bot.config import Settings
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
