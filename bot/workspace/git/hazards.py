"""Finds files of a working tree that make git hang or run out of memory, among those that git itself reads.
A check may have created them: git opens them even if they are a pipe, a device or gigabytes of zeros."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator
from pathlib import Path

from bot.model.reasons import Reason
from bot.reports.locale.reasons import refused
from bot.rules.reasons import make_reason
from bot.workspace.files.nofollow import read_or_none

RULES = frozenset((b".gitignore", b".gitattributes"))
_IN_REPOSITORY = frozenset((b"HEAD", b"config", b"commondir", b"gitdir"))
MAX_RULES_BYTES = 10 << 20
"""Of one file of rules; git reads it whole."""

_MAX_ENTRIES = 1_000_000
_MANY_WILDCARDS = 4
_RUN = re.compile(rb"\*+")
_KINDS = {
    stat.S_IFIFO: "hazard.pipe",
    stat.S_IFCHR: "hazard.device",
    stat.S_IFBLK: "hazard.device",
    stat.S_IFSOCK: "hazard.socket",
}


def refuse_hazards(tree: Path) -> None:
    """Raises Refused (`unreadable_tree`) that names a file of `tree` at which git would hang or run out of memory."""
    if (hazard := find_hazard(tree)) is not None:
        raise refused("unreadable_tree", make_reason("git.hazard", hazard=hazard))


def find_hazard(tree: Path) -> Reason | None:
    """The first such file, with what is wrong with it. Looks at a million names at most, follows no link and opens none
    of the files."""
    for name, entry in _candidates(tree):
        try:
            status = entry.stat(follow_symlinks=False)
        except OSError:  # gone meanwhile
            continue
        if (kind := _KINDS.get(stat.S_IFMT(status.st_mode))) is not None:
            return make_reason(kind, path=printable(name))
        if stat.S_ISREG(status.st_mode) and status.st_size > MAX_RULES_BYTES:
            return make_reason("hazard.large", path=printable(name), limit=MAX_RULES_BYTES >> 20)
    return None


def costly_pattern(tree: Path) -> tuple[str, int] | None:
    """Returns the printable path and the line of the pattern with the most wildcards in ignore and attribute files.

    None if all are plain. Matching one name against such a pattern may take years."""
    worst, highest = None, _MANY_WILDCARDS - 1
    for name, _ in _candidates(tree):
        if name.rpartition(b"/")[2] not in RULES:
            continue
        for number, line in enumerate((read_or_none(tree, os.fsdecode(name)) or b"").splitlines(), 1):
            if (count := len(_RUN.findall(line))) > highest:
                worst, highest = (printable(name), number), count
    return worst


def printable(name: bytes) -> str:
    """A path for a sentence: what is no printable text is escaped, and the middle of a long one left out."""
    text = name.decode("utf-8", "backslashreplace")
    shown = "".join(char if char.isprintable() else repr(char)[1:-1] for char in text)
    return f"`{shown}`" if len(shown) <= 200 else f"`{shown[:80]}…{shown[-100:]}`"


def _candidates(tree: Path) -> Iterator[tuple[bytes, os.DirEntry[bytes]]]:
    """Files by the names that git reads by itself, with their paths below `tree`."""
    top = os.fsencode(tree)
    waiting, left = [b""], _MAX_ENTRIES
    while waiting and left > 0:
        below = waiting.pop()
        wanted = RULES if below.rpartition(b"/")[2] != b".git" else _IN_REPOSITORY
        try:
            with os.scandir(top + b"/" + below) as entries:
                for entry in entries:
                    left -= 1
                    name = below + b"/" + entry.name if below else entry.name
                    if entry.is_dir(follow_symlinks=False):
                        waiting.append(name)
                    elif entry.name in wanted:
                        yield name, entry
        except OSError:  # closed to us, gone, or too deep to be named
            continue
