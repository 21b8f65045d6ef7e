"""Provides a directory on disk as HOME of one command with the network in the sandbox, and deletes it afterwards.
Package clients may download more than the file system in memory of other commands holds."""

from __future__ import annotations

import contextlib
import tempfile
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from bot.errors import Shortage, Transient, shortage
from bot.reports.locale.reasons import user_error
from bot.rules.reasons import make_reason
from bot.workspace.files.home_directories import create_home
from bot.workspace.files.remove_tree import remove_directory

_PREFIX = "mendbot-home-"
_LEFTOVER_S = 2 * 86_400.0
"""Seconds after which such a directory is of a process that was killed: no command runs as long."""


@asynccontextmanager
async def disk_home(home: Path | None) -> AsyncIterator[Path]:
    """Yields the directory, in `home/scratch` or, without a home, among the temporary files; deletes it afterwards.

    Raises UserError where it cannot be made, Shortage where the disk is full."""
    try:
        if home is not None:
            create_home(home)
            (home / "scratch").mkdir(exist_ok=True, mode=0o700)
        made = Path(tempfile.mkdtemp(prefix=_PREFIX, dir=home / "scratch" if home else None))
        old = time.time() - _LEFTOVER_S
        leftovers = [each for each in made.parent.glob(f"{_PREFIX}*") if each.lstat().st_mtime < old]
    except OSError as error:
        if lacking := shortage(error.errno):
            raise user_error(make_reason("sandbox.no_home", why=lacking), Shortage) from error
        raise user_error(make_reason("sandbox.no_home", why=error.strerror or "")) from error
    try:
        yield made
    finally:
        for each in (made, *leftovers):
            with contextlib.suppress(Transient):  # what withstands now is a leftover later
                await remove_directory(each)
