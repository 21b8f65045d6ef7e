"""The home of `serve`: a new directory, or one that is Mendbot's already. The cleanup deletes old files there, so any
other directory is refused before anything is written to it."""

from __future__ import annotations

from pathlib import Path

from bot.errors import ConfigError
from bot.logs import get_logger
from bot.reports.format.truncate import one_line
from bot.reports.locale.reasons import user_error
from bot.rules.reasons import make_reason
from bot.store.database.engines import APPLICATION_ID
from bot.store.database.open import FILE, application_id
from bot.workspace.files.home_directories import claim_directories, is_marked, mark, restrict_access

_SYSTEM_DIRECTORIES = frozenset({"lost+found"})
"""Directories of a new file system."""

_SESSION_DIRECTORIES = ("artifacts", "kits", "sessions")

log = get_logger()


def claim_home(home: Path) -> None:
    """Make the home, and mark it and its directories as Mendbot's. A home with Mendbot's database needs no mark.

    Raises ConfigError for a home that holds other files or another program's database, or that cannot be used; nothing
    is changed then."""
    try:
        home.mkdir(parents=True, exist_ok=True, mode=0o700)
        check_home(home)
        mark(home)
        restrict_access(home)
        for where in claim_directories(home):
            log.warning("directory_left", path=str(where), because="it holds what Mendbot did not make")
    except OSError as error:
        raise unusable_home(home, error) from None


def check_home(home: Path) -> None:
    """Check that the directory may become a home, and change nothing. Raises ConfigError if it holds other files or
    another program's database, and OSError if it cannot be read."""
    identifier = application_id(home / FILE)
    if identifier not in (None, APPLICATION_ID):
        raise user_error(make_reason("home.other_database", path=str(home / FILE)), ConfigError)
    others = sorted({path.name for path in home.iterdir()} - _SYSTEM_DIRECTORIES)
    if others and identifier is None and not is_marked(home):
        raise user_error(make_reason("home.not_ours", path=str(home), name=one_line(others[0], 80)), ConfigError)


def open_home(home: Path) -> None:
    """Make the directories of a local session in the home. The home may hold other files: a session deletes only its
    own. Raises ConfigError for a home that cannot be used."""
    try:
        home.mkdir(parents=True, exist_ok=True, mode=0o700)
        if is_marked(home):
            restrict_access(home)
        claim_directories(home, _SESSION_DIRECTORIES)
    except OSError as error:
        raise unusable_home(home, error) from None


def unusable_home(home: Path, error: OSError) -> ConfigError:
    """The error for a home that the system does not let this user work in."""
    return user_error(make_reason("home.unusable", path=str(home), error=error.strerror or ""), ConfigError)
