"""Copies of installed directories for another worktree, with the absolute paths in them rewritten.

Scripts, `pyvenv.cfg`, `.pth` files and records hold such paths; a copy must never lead to another worktree."""

from __future__ import annotations

import mmap
import os
import re
import stat
from collections.abc import Iterable, Iterator
from pathlib import Path
from urllib.parse import quote

from bot.errors import UserError
from bot.model import Model
from bot.reports.locale.reasons import user_error
from bot.rules.reasons import make_reason
from bot.workspace.files.walk import walk

MAX_FILES = 300_000
MAX_BYTES = 4_000_000_000
_END = rb"(?![\w.+@~-])"
"""What follows a path where it ends: `/tmp/tree` is no part of `/tmp/tree-2`."""
_HEAD = re.compile(rb"\A#!(\S*/python[\w.]*)\n")
_MAX_HEAD_BYTES = 127
"""Bytes of a `#!` line that every kernel reads (pip goes by the same number)."""
_SHELL_HEAD = b"#!/bin/sh\n'''exec' \"%s\" \"$0\" \"$@\"\n' '''\n"


class Unmovable(UserError):
    """The directory cannot be used in another worktree."""


class Moved(Model):
    """The files of a copy that must be changed, by relative paths: `texts` hold the tree's path, `links` lead to it."""

    texts: tuple[str, ...] = ()
    links: tuple[str, ...] = ()


def is_plain(tree: Path) -> bool:
    """Whether scripts, records and URLs write the path alike: it has letters, digits and `/_.-~` only."""
    return quote(os.fsencode(tree)) == str(tree)


def survey(source: Path, name: str, tree: Path, places: Iterable[str]) -> int:
    """The size on disk of `source`, which is at `name` in `tree`, in bytes; checks whether it can be copied.

    Links may lead to anywhere in the tree, absolute ones also to programs below `places`. Raises Unmovable for another
    link, a special file, a file with setuid or setgid, and too many files or bytes; OSError."""
    entries = size = 0
    allowed = tuple(f"{place.rstrip('/')}/" for place in places)
    for path, status in _all(source):
        entries, size = entries + 1, size + status.st_blocks * 512
        if entries > MAX_FILES or size > MAX_BYTES:
            reason = make_reason("cache.too_much", name=name, files=f"{MAX_FILES:,}", bytes=f"{MAX_BYTES:,}")
            raise user_error(reason, Unmovable)
        if stat.S_ISLNK(status.st_mode):
            _check_link(path, os.path.join(tree, name, os.path.relpath(path, source)), tree, allowed)  # noqa: PTH118
        elif not (stat.S_ISREG(status.st_mode) or stat.S_ISDIR(status.st_mode)):
            raise user_error(make_reason("cache.special_file", path=path), Unmovable)
        elif status.st_mode & (stat.S_ISUID | stat.S_ISGID) and not stat.S_ISDIR(status.st_mode):
            raise user_error(make_reason("cache.setuid", path=path), Unmovable)
    return size


def prepare(copy: Path, tree: Path) -> Moved:
    """Prepares a fresh copy of a directory of `tree` for the cache; returns the files to change for another tree.

    In compiled Python the tree's path is blanked, as Python sets it when it reads the file. If the source itself holds
    the path, the compiled file is removed. Raises Unmovable for another binary file that holds the path; OSError."""
    texts: list[str] = []
    links: list[str] = []
    compiled: list[str] = []
    wanted = _naming(tree)
    for path, status in _all(copy):
        name = os.path.relpath(path, copy)
        if stat.S_ISLNK(status.st_mode):
            if wanted.search(os.fsencode(Path(path).readlink())) is not None:
                links.append(name)
        elif stat.S_ISREG(status.st_mode) and _holds(path, status.st_size, tree, wanted):
            if path.endswith(".pyc"):
                compiled.append(path)
            elif b"\0" in Path(path).read_bytes():
                raise user_error(make_reason("cache.binary", name=name), Unmovable)
            else:
                texts.append(name)
    sources = {os.path.join(copy, name) for name in texts if name.endswith(".py")}  # noqa: PTH118
    for path in compiled:
        _make_placeless(Path(path), sources, wanted)
    return Moved(texts=tuple(texts), links=tuple(links))


def move(copy: Path, moved: Moved, old: Path, new: Path) -> None:
    """Rewrites the paths of the tree `old` to `new` in a copy. Raises OSError."""
    wanted = _naming(old)
    into = os.fsencode(new)
    for name in moved.links:
        link = os.path.join(copy, name)  # noqa: PTH118
        target = wanted.sub(lambda _: into, os.fsencode(Path(link).readlink()))
        os.unlink(link)  # noqa: PTH108
        os.symlink(target, link)  # noqa: PTH211
    for name in moved.texts:
        path = Path(os.path.join(copy, name))  # noqa: PTH118
        status = path.stat()
        text = wanted.sub(lambda _: into, path.read_bytes())
        path.chmod(status.st_mode | stat.S_IWUSR)
        path.write_bytes(_HEAD.sub(_readable_head, text, count=1) if text.startswith(b"#!") else text)
        path.chmod(stat.S_IMODE(status.st_mode))
        os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))


def _all(top: Path) -> Iterator[tuple[str, os.stat_result]]:
    """`top` and everything below it; no link is followed, and any depth is fine."""
    yield os.fspath(top), os.lstat(top)
    if stat.S_ISDIR(os.lstat(top).st_mode):
        yield from ((entry.path, entry.stat(follow_symlinks=False)) for _, entry in walk(top))


def _check_link(path: str, where: str, tree: Path, allowed: tuple[str, ...]) -> None:
    target = str(Path(path).readlink())
    leads_to = os.path.normpath(os.path.join(os.path.dirname(where), target))  # noqa: PTH118, PTH120
    if leads_to == str(tree) or leads_to.startswith(f"{tree}/"):
        return
    if not (target.startswith("/") and leads_to.startswith(allowed)):
        raise user_error(make_reason("cache.link_out", path=path, target=target), Unmovable)


def _naming(tree: Path) -> re.Pattern[bytes]:
    return re.compile(re.escape(os.fsencode(tree)) + _END)


def _holds(path: str, size: int, tree: Path, wanted: re.Pattern[bytes]) -> bool:
    if size == 0:
        return False
    with open(path, "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:  # noqa: PTH123
        return content.find(os.fsencode(tree)) >= 0 and wanted.search(content) is not None


def _make_placeless(path: Path, sources: set[str], wanted: re.Pattern[bytes]) -> None:
    module = path.name.split(".")[0]
    source = path.parent.parent / f"{module}.py" if path.parent.name == "__pycache__" else path.with_suffix(".py")
    if str(source) in sources or not source.is_file():
        path.unlink()
        return
    status = path.stat()
    # of the same length, or the lengths that the file holds would be wrong
    path.write_bytes(wanted.sub(lambda found: b"/" * len(found[0]), path.read_bytes()))
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))


def _readable_head(found: re.Match[bytes]) -> bytes:
    """The script's first line; for a line too long for the kernel, the shell's form that pip writes too."""
    return found[0] if len(found[0]) <= _MAX_HEAD_BYTES else _SHELL_HEAD % found[1]
