"""Refs read from the files in which git keeps them (gitrepository-layout(5)), since a process takes long."""

from __future__ import annotations

import re
from pathlib import Path

_ID = re.compile(r"[0-9a-f]{40}")
_NAME = re.compile(r"refs(/\w[\w.+-]*)+", re.ASCII)
_HEADS = "refs/heads/"


def is_plain(name: str) -> bool:
    """Whether the name is that of a ref in full, and of nothing else that git would understand."""
    return _NAME.fullmatch(name) is not None and not name.endswith(".lock")


def read_ref(repo: Path, name: str) -> str | None:
    """The object that a ref names; None where there is none. `name` is plain."""
    return _read_loose(repo / name) or _read_packed(repo).get(name)


def read_branches(repo: Path) -> dict[str, str]:
    """Each branch and the commit it is at, by name."""
    found = {name: sha for name, sha in _read_packed(repo).items() if name.startswith(_HEADS)}
    for path in (repo / _HEADS).rglob("*"):
        name = path.relative_to(repo).as_posix()
        if not name.endswith(".lock") and (sha := _read_loose(path)):
            found[name] = sha
    return {name.removeprefix(_HEADS): found[name] for name in sorted(found)}


def _read_loose(path: Path) -> str:
    try:
        held = path.read_text("ascii").strip()
    except (FileNotFoundError, IsADirectoryError, NotADirectoryError):
        return ""
    return held if _ID.fullmatch(held) else ""


def _read_packed(repo: Path) -> dict[str, str]:
    packed = repo / "packed-refs"
    lines = packed.read_text("utf-8").splitlines() if packed.exists() else []
    return {line[41:]: line[:40] for line in lines if _ID.fullmatch(line[:40])}
