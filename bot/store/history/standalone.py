"""Look-ups and records in the error history, for commands and tools that open the database for one call."""

from __future__ import annotations

from collections.abc import Sequence

from bot.config import Settings
from bot.model import KnownError, Resolution
from bot.reports.format.redact import Redactor
from bot.reports.format.truncate import strip_control
from bot.store.database.open import database_url, reading, writing
from bot.store.history.history import History
from bot.store.history.resolutions import masked

MAX_LISTED = 10


async def errors_of_file(settings: Settings, file: str) -> tuple[KnownError, ...]:
    """The resolved errors that involve a file of this name, most recently used first; empty without a database."""
    async with reading(database_url(settings)) as database:
        return () if database is None else await History(database).by_file(file, MAX_LISTED)


async def errors_like(settings: Settings, error: str) -> tuple[KnownError, ...]:
    """The resolved error with the fingerprint of this text; empty if there is none, or no database."""
    async with reading(database_url(settings)) as database:
        known = None if database is None else await History(database).by_error(error)
        return () if known is None else (known,)


async def record_resolution(
    settings: Settings, redactor: Redactor, error: str, resolution: Resolution, files: Sequence[str]
) -> int:
    """Store how an error was resolved, with secrets masked; returns the id of the record."""
    text = redactor.mask(strip_control(error))
    paths = [redactor.mask(strip_control(path)) for path in files]
    async with writing(database_url(settings)) as database:
        return await History(database).record(text, masked(resolution, redactor), paths=paths)
