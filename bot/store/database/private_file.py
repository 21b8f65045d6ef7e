"""Database files that only their own user can read: they hold other people's code, logs and comments."""

from __future__ import annotations

import os
from pathlib import Path

_OWNER_ALONE = 0o600


def create_private(path: Path) -> None:
    """Create an empty file that its owner alone may read and write; one that is there already stays as it is.

    SQLite gives the files that it adds (-wal, -shm) the same mode. Raises OSError."""
    os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, _OWNER_ALONE))
