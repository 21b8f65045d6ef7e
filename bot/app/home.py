"""The home that `serve` takes: a new one, or one that is Mendbot's already. It deletes what is old there, so somebody
else's directory is refused before anything is written to it."""

from __future__ import annotations

from pathlib import Path

from bot.errors import ConfigError
from bot.logs import get_logger
from bot.reports.format.truncate import one_line
from bot.store.database.engines import APPLICATION_ID
from bot.store.database.open import FILE, application_id
from bot.workspace.files.home_directories import claim_directories, is_marked, mark, restrict_access

_OF_THE_SYSTEM = frozenset({"lost+found"})
"""What a new file system holds."""

_OF_A_SESSION = ("artifacts", "kits", "sessions")

log = get_logger()


def claim_home(home: Path) -> None:
    """Make the home and mark it and its directories as ours; one with our database is ours, marked or not.

    Raises ConfigError for a home that holds others' files, that has another program's database, or that cannot be
    used; nothing is changed then."""
    try:
        home.mkdir(parents=True, exist_ok=True, mode=0o700)
        found = application_id(home / FILE)
        if found not in (None, APPLICATION_ID):
            raise ConfigError(f"MENDBOT_HOME: {home / FILE} is another program's database: name another directory")
        others = sorted({path.name for path in home.iterdir()} - _OF_THE_SYSTEM)
        if others and found is None and not is_marked(home):
            raise ConfigError(
                f"MENDBOT_HOME: {home} is not Mendbot's, as it holds `{one_line(others[0], 80)}`: "
                "name a new or an empty directory"
            )
        mark(home)
        restrict_access(home)
        for where in claim_directories(home):
            log.warning("directory_left", path=str(where), because="it holds what Mendbot did not make")
    except OSError as error:
        raise _unusable(home, error) from None


def open_home(home: Path) -> None:
    """Make what a session on this machine keeps in the home, whosever that is: it clears up nothing but its own.

    Raises ConfigError for a home that cannot be used."""
    try:
        home.mkdir(parents=True, exist_ok=True, mode=0o700)
        if is_marked(home):
            restrict_access(home)
        claim_directories(home, _OF_A_SESSION)
    except OSError as error:
        raise _unusable(home, error) from None


def _unusable(home: Path, error: OSError) -> ConfigError:
    return ConfigError(f"MENDBOT_HOME: {home} cannot be used ({error.strerror}): name a directory of ours")
