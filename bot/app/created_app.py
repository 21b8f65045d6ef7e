"""The credentials of an App that `mendbot setup` or the page `/setup` made: a file in the home that only its owner may
read, and that is never overwritten. `serve` takes them where the environment names no App."""

from __future__ import annotations

import os
import stat
from contextlib import suppress
from pathlib import Path

from bot.config import Settings
from bot.errors import ConfigError
from bot.github.app_manifest import NewApp
from bot.reports.locale.reasons import user_error
from bot.rules.reasons import make_reason

APP_FILE = "github-app.env"
_MODE = 0o600
_MAX_BYTES = 65_536
_FIELDS = {
    "APP_ID": "app_id",
    "PRIVATE_KEY": "private_key",
    "WEBHOOK_SECRET": "webhook_secret",
    "GITHUB_CLIENT_ID": "github_client_id",
    "GITHUB_CLIENT_SECRET": "github_client_secret",
}
"""The variables of the file and their fields in the settings; a field that the settings lack is left out."""


class AppFile:
    """A new, empty file for the credentials. It is removed again unless they are written to it."""

    def __init__(self, home: Path) -> None:
        """Raises ConfigError if there is such a file already, or if it cannot be made."""
        self.path = home / APP_FILE
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        try:
            self._file = os.open(self.path, flags, _MODE)
        except FileExistsError:
            raise user_error(make_reason("app_setup.exists", path=str(self.path)), ConfigError) from None
        except OSError as error:
            reason = make_reason("app_setup.unwritable", path=str(self.path), error=error.strerror or "")
            raise user_error(reason, ConfigError) from None

    def write(self, app: NewApp) -> None:
        """Write the credentials to the disk. Raises ConfigError, and the file is then removed."""
        secret = app.webhook_secret.get_secret_value() if app.webhook_secret is not None else ""
        values = {
            "APP_ID": str(app.id),
            # a line: a shell, systemd and `Settings.key_pem` all read `\\n` in quotes
            "PRIVATE_KEY": app.pem.get_secret_value().strip().replace("\r", "").replace("\n", "\\n") + "\\n",
            "WEBHOOK_SECRET": secret,
            "GITHUB_CLIENT_ID": app.client_id,
            "GITHUB_CLIENT_SECRET": app.client_secret.get_secret_value(),
        }
        text = "".join(f'{name}="{value}"\n' for name, value in values.items() if value)
        try:
            with os.fdopen(self._file, "wb") as file:
                file.write(text.encode())
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            self.path.unlink(missing_ok=True)
            reason = make_reason("app_setup.unwritable", path=str(self.path), error=error.strerror or "")
            raise user_error(reason, ConfigError) from None

    def remove(self) -> None:
        """Remove the empty file."""
        os.close(self._file)
        with suppress(OSError):
            self.path.unlink()


def with_created_app(settings: Settings) -> Settings:
    """The settings with the credentials of the file in the home, where the environment names neither App nor key.

    A variable of the environment wins over that of the file. Raises ConfigError for a file that other users could read
    or write, and for one without an App."""
    if settings.app_id or settings.private_key or settings.private_key_path:
        return settings
    path = settings.home / APP_FILE
    try:
        values = _read(path)
    except FileNotFoundError:
        return settings
    except (OSError, UnicodeDecodeError):
        raise _bad("unreadable", path) from None
    found = {_FIELDS[name]: value for name, value in values.items() if name in _FIELDS and value}
    if "app_id" not in found or "private_key" not in found:
        raise _bad("broken", path)
    known = {name: value for name, value in found.items() if name in Settings.model_fields}
    mine = {name: value for name in known if (value := getattr(settings, name)) is not None}
    return Settings.model_validate({**dict(settings), **known, **mine}, by_alias=False, by_name=True)


def _read(path: Path) -> dict[str, str]:
    file = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        status = os.fstat(file)
        if not stat.S_ISREG(status.st_mode) or status.st_uid not in (0, os.geteuid()) or status.st_mode & 0o077:
            raise _bad("open", path)
        text = os.read(file, _MAX_BYTES).decode()
    finally:
        os.close(file)
    pairs = (line.partition("=") for line in text.splitlines() if not line.startswith("#"))
    return {name.strip(): value.strip().strip('"') for name, _, value in pairs}


def _bad(kind: str, path: Path) -> ConfigError:
    return user_error(make_reason(f"app_setup.file.{kind}", path=str(path)), ConfigError)
