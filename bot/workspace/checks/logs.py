"""Full logs on disk, one directory a run: what was cut from the events is here in full (spec A, *Output*)."""

from __future__ import annotations

from pathlib import Path

from bot.workspace.files.atomic_write import atomic_write


def directory(home: Path, run_id: str) -> Path:
    """Where a run's logs are."""
    return home / "artifacts" / run_id


def write_log(home: Path, run_id: str, name: str, content: bytes) -> str:
    """Store one log, whole or not at all; returns its name. Writing it again replaces it."""
    where = directory(home, run_id)
    where.mkdir(parents=True, exist_ok=True)
    atomic_write(where / name, content)
    return name


def read_log(home: Path, run_id: str, name: str) -> bytes | None:
    """A stored log; None where there is none of that name. Names are those that `write_log` gave."""
    if "/" in name or name.startswith("."):
        return None
    try:
        return (directory(home, run_id) / name).read_bytes()
    except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
        return None
