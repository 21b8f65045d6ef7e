"""What the setup command made in a tree: directories that only tools fill, such as `node_modules` and `.venv`.
They count as if `.gitignore` named them: no snapshot has them, no restore deletes them, nothing of them is pushed."""

from __future__ import annotations

import asyncio
import os
import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path

from bot.workspace.files.atomic_write import atomic_write
from bot.workspace.files.tree_digest import MADE_BY_TOOLS

RECORD = "mendbot-setup-products"
"""The file in a tree's git directory that names them."""

_MAX_FILES = 2_000
"""Files of a directory that setup made, beyond which it is taken for a tool's, whatever its name is."""

_SPECIAL = re.compile(rb"([\\*?\[\] ])")


def products(git_dir: Path) -> tuple[bytes, ...]:
    """The directories on record, relative to the work tree, `/`-separated and without a slash at the end."""
    try:
        return tuple(name for name in (git_dir / RECORD).read_bytes().split(b"\0") if name)
    except FileNotFoundError:
        return ()


async def record_products(tree: Path, git_dir: Path, untracked: Iterable[bytes]) -> None:
    """Put on record what setup made in `tree`. `untracked` are the names there that no commit has, those of whole
    directories with a slash at the end."""
    found = await asyncio.to_thread(lambda: sorted(_of_tools(tree, untracked)))
    atomic_write(git_dir / RECORD, b"".join(os.fsencode(name) + b"\0" for name in found))


def hide_products(tree: Path, git_dir: Path) -> None:
    """Have each directory on record ignore all that it holds, so that it stays out of the `git status` of whoever the
    tree belongs to. One that is gone, is a link or has a `.gitignore` of its own stays as it is."""
    for name in products(git_dir):
        with suppress(OSError):
            directory = os.open(tree / os.fsdecode(name), os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
            try:
                flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
                file = os.open(".gitignore", flags, 0o644, dir_fd=directory)
                with os.fdopen(file, "wb") as ignore:
                    ignore.write(b"*\n")
            finally:
                os.close(directory)


def patterns(names: Iterable[bytes]) -> list[str]:
    """The same directories as options of `git ls-files`, so that it need not look into them (gitignore(5))."""
    return [os.fsdecode(b"--exclude=/" + _SPECIAL.sub(rb"\\\1", name) + b"/") for name in names]


def within(name: bytes, directories: Iterable[bytes]) -> bool:
    """Whether a name is one of the directories or lies below one."""
    return any(name == directory or name.startswith(directory + b"/") for directory in directories)


def _of_tools(tree: Path, untracked: Iterable[bytes]) -> Iterator[Path]:
    for name in map(os.fsdecode, untracked):
        directory = Path(name)
        if not name.endswith("/") or (tree / directory).is_symlink():
            continue
        if _is_of_tools(tree, directory):
            yield directory
        else:
            yield from _below(tree, directory)


def _below(tree: Path, directory: Path) -> list[Path]:
    """Those below a directory that setup made, or the directory itself where it holds too many files to be sources."""
    found: list[Path] = []
    files, waiting = 0, [directory]
    while waiting:  # not os.walk, which in Python 3.11 calls itself for each directory in another
        here = waiting.pop()
        try:
            with os.scandir(tree / here) as entries:
                names = {entry.name: entry.is_dir(follow_symlinks=False) for entry in entries}
        except OSError:  # closed to us, gone, or too deep to be named
            continue
        below = [here / name for name, is_directory in names.items() if is_directory]
        of_tools = {path for path in below if _is_of_tools(tree, path)}
        found += of_tools
        waiting += [path for path in below if path not in of_tools]
        files += len(names) - len(below)
        if files > _MAX_FILES:
            return [directory]
    return found


def _is_of_tools(tree: Path, directory: Path) -> bool:
    if any(part in MADE_BY_TOOLS or part.endswith(".egg-info") for part in directory.parts):
        return True
    return (tree / directory / "pyvenv.cfg").exists()  # a virtual environment of any name (PEP 405)
