"""Writes a file in one step: whoever reads it, also after a crash, finds the old content or the new one."""

from __future__ import annotations

import uuid
from pathlib import Path


def atomic_write(path: Path, content: bytes) -> None:
    """Make `content` the file's content. Raises OSError, and then the file is as it was."""
    fresh = path.with_name(f".{path.name}.{uuid.uuid4().hex}")
    try:
        fresh.write_bytes(content)
        fresh.replace(path)
    except OSError:
        fresh.unlink(missing_ok=True)
        raise
