"""Marks the directories of the home that Mendbot creates. Only in marked ones does it delete old files by itself:
a home that an operator names by mistake may hold anybody's `artifacts`."""

from __future__ import annotations

import stat
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from bot.reports.locale.reasons import user_error
from bot.rules.reasons import make_reason
from bot.workspace.files.nofollow import read_or_none

MARK = ".mendbot"
"""A file in each directory that is ours."""
DIRECTORIES = ("artifacts", "dependencies", "kits", "mirrors", "pulls", "sessions", "worktrees")
_TEXT = "Mendbot made this directory and deletes what is old in it: keep no files of your own here.\n"


def mark(directory: Path) -> None:
    """Mark this directory as ours; safe to repeat. Raises OSError, also where the name is taken."""
    try:
        with (directory / MARK).open("x", encoding="utf-8") as file:  # no link is followed
            file.write(_TEXT)
    except FileExistsError:
        if not is_marked(directory):
            raise


def create_home(home: Path) -> None:
    """Make a home that begins with what was fetched into it, marked as ours, so that `serve` takes it later. One
    that holds files already is never marked. Raises UserError where it cannot be made."""
    try:
        home.mkdir(parents=True, exist_ok=True, mode=0o700)
        if not any(home.iterdir()):
            mark(home)
    except OSError as error:
        raise user_error(make_reason("tools.no_directory", path=str(home), error=error.strerror or "")) from error


def is_marked(directory: Path) -> bool:
    """Whether Mendbot's own mark lies there; somebody's file or link of that name is none."""
    return read_or_none(directory, MARK, limit=len(_TEXT)) == _TEXT.encode()


def restrict_access(directory: Path) -> None:
    """Close to everybody else a directory of ours that all users of this machine may enter. One that a group alone
    shares was arranged so by its operator and stays."""
    mode = stat.S_IMODE(directory.stat().st_mode)
    if mode & stat.S_IRWXO:
        with suppress(PermissionError):  # somebody else's, so that its owner must decide
            directory.chmod(0o700)


def claim_directories(home: Path, names: Iterable[str] = DIRECTORIES) -> tuple[Path, ...]:
    """Make and mark these directories of the home; those that hold something without our mark are left as they are and
    returned. Raises OSError."""
    left = []
    for name in names:
        where = home / name
        where.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not is_marked(where) and any(where.iterdir()):
            left.append(where)
            continue
        mark(where)
        restrict_access(where)
    return tuple(left)


def own_entries(home: Path, name: str, pattern: str = "*") -> list[Path]:
    """The entries of a directory of the home that may be cleared up, sorted; none where the directory is not marked.
    `pattern` is relative to it; what a link leads to is not in it."""
    where = home / name
    if not is_marked(where):
        return []
    inside = where.resolve()
    found = (path for path in where.glob(pattern) if path.name != MARK)
    return sorted(path for path in found if path.parent.resolve() == inside / path.parent.relative_to(where))
