"""The token for the HTTP routes: the operator's, or one that `serve` makes at its first start and stores in a file that
only this user can read. The file is never overwritten, so a program that has read it goes on working."""

from __future__ import annotations

import os
import re
import secrets
import stat
from contextlib import suppress
from pathlib import Path

from pydantic import SecretStr

from bot.config import Settings
from bot.errors import ConfigError
from bot.logs import get_logger
from bot.reports.locale.reasons import user_error
from bot.rules.reasons import make_reason

TOKEN_FILE = "admin-token"  # noqa: S105  # its name
_TOKEN = re.compile(rb"\s*([!-~]{32,1024})\s*")
_MODE = 0o600

log = get_logger()


def has_admin_token(settings: Settings) -> bool:
    """Whether the operator set one."""
    return settings.admin_token is not None and bool(settings.admin_token.get_secret_value().strip())


def with_admin_token(settings: Settings) -> Settings:
    """The settings with a token: MENDBOT_ADMIN_TOKEN, or that of the file in the home, which is made if it is missing.

    Raises ConfigError for a file without a token, and for one that other users could write."""
    if has_admin_token(settings):
        return settings
    path = settings.home / TOKEN_FILE
    try:
        if not os.path.lexists(path):
            _make(path)
        token = _read(path, require_private=True)
    except OSError as error:
        raise _bad_file("unusable", path, error=error.strerror or "") from None
    return settings.model_copy(update={"admin_token": SecretStr(token)})


def with_known_token(settings: Settings) -> Settings:
    """The settings with the token of a server on the same home, if it can be read, so that it is masked."""
    if not has_admin_token(settings):
        with suppress(OSError, ConfigError):  # a token that this user cannot read cannot be shown either
            return settings.model_copy(update={"admin_token": SecretStr(_read(settings.home / TOKEN_FILE))})
    return settings


def _bad_file(kind: str, path: Path, **values: str) -> ConfigError:
    return user_error(make_reason(f"token_file.{kind}", path=str(path), **values), ConfigError)


def _make(path: Path) -> None:
    file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, _MODE)
    try:
        os.write(file, f"{secrets.token_urlsafe(32)}\n".encode())
        os.fsync(file)
    except BaseException:
        path.unlink()  # the next start would refuse an empty file as damaged
        raise
    finally:
        os.close(file)


def _read(path: Path, *, require_private: bool = False) -> str:
    """The token in the file. `require_private` refuses a file that other users could write, and stops their reading."""
    file = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        status = os.fstat(file)
        content = os.read(file, 2048) if stat.S_ISREG(status.st_mode) else b""
        match = _TOKEN.fullmatch(content)
        if match is None:
            raise _bad_file("empty", path)
        if require_private:
            _require_private(path, file, status)
    finally:
        os.close(file)
    return match[1].decode("ascii")


def _require_private(path: Path, file: int, status: os.stat_result) -> None:
    if status.st_uid not in (0, os.geteuid()):
        raise _bad_file("other_owner", path)
    if status.st_mode & 0o022:
        raise _bad_file("writable", path)
    if status.st_mode & 0o077:
        os.fchmod(file, _MODE)
        log.warning("admin_token_open", path=str(path), because="others could read it: delete it for a new one")
