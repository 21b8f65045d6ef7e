"""The token that opens the HTTP routes: the operator's, or one that `serve` makes at its first start and keeps in a
file for this user alone. The file is never overwritten, so a program that has read it goes on working."""

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

TOKEN_FILE = "admin-token"  # noqa: S105  # its name
_TOKEN = re.compile(rb"\s*([!-~]{32,1024})\s*")
_MODE = 0o600

log = get_logger()


def has_admin_token(settings: Settings) -> bool:
    """Whether the operator gave one."""
    return settings.admin_token is not None and bool(settings.admin_token.get_secret_value().strip())


def with_admin_token(settings: Settings) -> Settings:
    """The settings with a token: MENDBOT_ADMIN_TOKEN, else the file's in the home, which is made where there is none.

    Raises ConfigError for a file that holds no token or that others may have read or written."""
    if has_admin_token(settings):
        return settings
    path = settings.home / TOKEN_FILE
    try:
        if not os.path.lexists(path):
            _make(path)
        token = _read(path, judging=True)
    except OSError as error:
        raise ConfigError(f"{path} cannot be used ({error.strerror}): delete it, or set MENDBOT_ADMIN_TOKEN") from None
    return settings.model_copy(update={"admin_token": SecretStr(token)})


def with_known_token(settings: Settings) -> Settings:
    """The settings with the token of a server on the same home, as far as it can be read, so that it is masked."""
    if not has_admin_token(settings):
        with suppress(OSError, ConfigError):  # one that this user cannot read is none that could be shown
            return settings.model_copy(update={"admin_token": SecretStr(_read(settings.home / TOKEN_FILE))})
    return settings


def _make(path: Path) -> None:
    file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, _MODE)
    try:
        os.write(file, f"{secrets.token_urlsafe(32)}\n".encode())
        os.fsync(file)
    except BaseException:
        path.unlink()  # an empty one would be taken for a damaged one from now on
        raise
    finally:
        os.close(file)


def _read(path: Path, *, judging: bool = False) -> str:
    """The token in the file; where `judging`, one that others may know or have written is refused or closed to them."""
    file = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        status = os.fstat(file)
        content = os.read(file, 2048) if stat.S_ISREG(status.st_mode) else b""
        found = _TOKEN.fullmatch(content)
        if found is None:
            raise ConfigError(f"{path} holds no token: delete it, and the next start of `serve` makes a new one")
        if judging:
            _judge(path, file, status)
    finally:
        os.close(file)
    return found[1].decode("ascii")


def _judge(path: Path, file: int, status: os.stat_result) -> None:
    if status.st_uid not in (0, os.geteuid()):
        raise ConfigError(f"{path} belongs to another user, who knows the token: delete it and start again")
    if status.st_mode & 0o022:
        raise ConfigError(f"{path} could be written by other users: delete it, and `serve` makes a new one")
    if status.st_mode & 0o077:
        os.fchmod(file, _MODE)
        log.warning("admin_token_open", path=str(path), because="others could read it: delete it for a new one")
