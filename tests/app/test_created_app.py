"""The credentials of a new App are in a file that only its owner can read, and that nothing overwrites."""

from __future__ import annotations

import shlex
import stat
from pathlib import Path

import pytest

from bot.app.created_app import APP_FILE, AppFile, with_created_app
from bot.errors import ConfigError
from tests.app.created_apps import new_app, unset


def test_what_is_written_is_read_by_serve_and_by_a_shell(tmp_path: Path) -> None:
    app = new_app()
    AppFile(tmp_path).write(app)
    path = tmp_path / APP_FILE
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    settings = with_created_app(unset(tmp_path))
    assert settings.app_id == "77"
    assert settings.key_pem == app.pem.get_secret_value()
    assert settings.webhook_secret is not None and settings.webhook_secret.get_secret_value() == "w" * 40
    words = dict(word.split("=", 1) for word in shlex.split(path.read_text().replace("\\n", "|")))
    assert words["GITHUB_CLIENT_ID"] == "Iv1.77"
    assert words["PRIVATE_KEY"] == "-----BEGIN KEY-----|abc|-----END KEY-----|"


def test_a_file_that_is_there_is_never_overwritten_and_an_unused_one_goes(tmp_path: Path) -> None:
    AppFile(tmp_path).write(new_app())
    before = (tmp_path / APP_FILE).read_bytes()
    with pytest.raises(ConfigError, match="already"):
        AppFile(tmp_path)
    assert (tmp_path / APP_FILE).read_bytes() == before
    (tmp_path / APP_FILE).unlink()
    AppFile(tmp_path).remove()
    assert not (tmp_path / APP_FILE).exists()


def test_no_link_is_followed(tmp_path: Path) -> None:
    (tmp_path / APP_FILE).symlink_to(tmp_path / "elsewhere")
    with pytest.raises(ConfigError):
        AppFile(tmp_path)
    with pytest.raises(ConfigError):
        with_created_app(unset(tmp_path))
    assert not (tmp_path / "elsewhere").exists()


@pytest.mark.parametrize("more", [{"app_id": "5"}, {"private_key": "k"}, {"private_key_path": "k.pem"}])
def test_an_app_of_the_environment_is_never_mixed_with_that_of_the_file(tmp_path: Path, more: dict[str, str]) -> None:
    AppFile(tmp_path).write(new_app())
    settings = unset(tmp_path, **more)
    assert with_created_app(settings) is settings


def test_another_variable_of_the_environment_wins(tmp_path: Path) -> None:
    AppFile(tmp_path).write(new_app())
    settings = with_created_app(unset(tmp_path, webhook_secret="e" * 40, workers=2))
    assert settings.webhook_secret is not None and settings.webhook_secret.get_secret_value() == "e" * 40
    assert (settings.app_id, settings.workers) == ("77", 2)


def test_without_a_file_the_settings_stay(tmp_path: Path) -> None:
    settings = unset(tmp_path)
    assert with_created_app(settings) is settings


@pytest.mark.parametrize(("mode", "text"), [(0o644, 'APP_ID="1"\nPRIVATE_KEY="k"\n'), (0o600, "APP_ID=1\n")])
def test_a_file_that_others_can_read_or_that_lacks_the_key_is_refused(tmp_path: Path, mode: int, text: str) -> None:
    path = tmp_path / APP_FILE
    path.write_text(text)
    path.chmod(mode)
    with pytest.raises(ConfigError, match=APP_FILE.replace(".", r"\.")):
        with_created_app(unset(tmp_path))
