"""Full logs on disk, one directory per run; events hold only a part of them (spec A, *Output*)."""

from __future__ import annotations

from pathlib import Path

from bot.workspace.files.atomic_write import atomic_write


def directory(home: Path, run_id: str) -> Path:
    """The directory of a run's logs."""
    return home / "artifacts" / run_id


def write_log(home: Path, run_id: str, name: str, content: bytes) -> str:
    """Stores one log atomically and returns its name; replaces an earlier log of that name."""
    where = directory(home, run_id)
    where.mkdir(parents=True, exist_ok=True)
    atomic_write(where / name, content)
    return name


def read_log(home: Path, run_id: str, name: str) -> bytes | None:
    """A stored log by the name that `write_log` returned; None if there is none."""
    if "/" in name or name.startswith("."):
        return None
    try:
        return (directory(home, run_id) / name).read_bytes()
    except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
        return None
