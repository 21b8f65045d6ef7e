"""Finds the projects of a repository: its top, the directories above a file, and the only one below the top.

In a monorepo the nearest project file wins. Directories above the repository's top are never read."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator
from pathlib import Path

from bot.workspace.detect.target_finders import JUSTFILES, MAKEFILES
from bot.workspace.files.project_files import NOT_OURS

PROJECT_FILES = frozenset(
    (
        *("package.json", "pyproject.toml", "setup.py", "setup.cfg", "requirements.txt", "go.mod", "Cargo.toml"),
        *(*MAKEFILES, *JUSTFILES, "tox.ini", "noxfile.py"),
    )
)
"""The files that make a directory a project. A tool's file (ruff.toml) does not, as `tests/` may have one."""

_DEPTH = 3
_ENTRIES = 5_000
_CLOSED = frozenset({".git", "node_modules"})


def repository_top(path: Path) -> Path:
    """The nearest directory with `.git` at or above `path`; `path` itself without one.

    A repository that holds the home directory (for dotfiles) does not count: a check must not see all of that."""
    home = Path("~").expanduser()
    for place in (path, *path.parents):
        if home.is_relative_to(place):
            break
        if os.path.lexists(place / ".git"):
            return place
    return path


def top_and_focus(path: Path) -> tuple[Path, tuple[str, ...]]:
    """The top of the repository of the directory `path` (absolute), and the `focus` for `detect`."""
    path = path.resolve()
    top = repository_top(path)
    return top, () if top == path else (path.relative_to(top).as_posix(),)


def projects_above(tree: Path, focus: str) -> tuple[str, ...]:
    """The directories in which a command for `focus`, a path relative to `tree`, is looked for: the nearest first.

    They are those with a project file, then `focus` itself if it is a directory, then the tree, which is "". A missing
    path, a link, or a path outside the tree counts as its nearest real directory above."""
    existing = list(_directories(tree, focus))
    projects = [place for place in (*reversed(existing), "") if is_project(tree / place)]
    directory = focus.strip("/")
    return tuple(dict.fromkeys((*projects, *([directory] if directory in existing else []), "")))


def _directories(tree: Path, focus: str) -> Iterator[str]:
    """The real directories on the way to `focus`, the highest first, without the tree itself."""
    if "\0" in focus or focus.startswith("/") or ".." in focus.split("/"):
        return
    place = ""
    for part in focus.strip("/").split("/"):
        place = f"{place}/{part}" if place else part
        if part in ("", ".", *_CLOSED) or not _is(stat.S_ISDIR, tree / place):
            return
        yield place


def _is(kind: Callable[[int], bool], path: Path) -> bool:
    """Whether the path itself, no link followed, is of the kind."""
    try:
        return kind(path.lstat().st_mode)
    except OSError:  # not there, not to be seen, or no name that the system knows
        return False


def projects_below(tree: Path) -> tuple[str, ...]:
    """The projects up to three directories below the tree, sorted; directories inside a project belong to it.

    Hidden and installed directories and links are left out; only a part of a very large tree is searched."""
    found: list[str] = []
    level, left = [""], _ENTRIES
    for _ in range(_DEPTH):
        below: list[str] = []
        for place in level:
            names = _subdirectories(tree / place)
            left -= len(names)
            below += [f"{place}/{name}" if place else name for name in names] if left >= 0 else []
        found += [place for place in below if is_project(tree / place)]
        level = [place for place in below if place not in set(found)]
    return tuple(sorted(found))


def is_project(directory: Path) -> bool:
    """Whether the directory has one of PROJECT_FILES as a regular file."""
    return any(_is(stat.S_ISREG, directory / name) for name in PROJECT_FILES)


def _subdirectories(directory: Path) -> list[str]:
    try:
        with os.scandir(directory) as entries:
            names = [entry.name for entry in entries if entry.is_dir(follow_symlinks=False)]
    except OSError:  # unreadable or gone: nothing can be run there
        return []
    return sorted(name for name in names if name not in NOT_OURS and not name.startswith("."))
