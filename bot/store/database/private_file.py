"""Creates database files that only their owner can read, since they hold other people's code, logs and comments."""

from __future__ import annotations

import os
from pathlib import Path

_OWNER_ONLY = 0o600


def create_private(path: Path) -> None:
    """Create an empty file that only its owner may read and write. An existing file is not changed.

    SQLite gives its additional files (-wal, -shm) the same mode. Raises OSError."""
    os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, _OWNER_ONLY))
