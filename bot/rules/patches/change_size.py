"""How large a change is, file by file."""

from __future__ import annotations

from bot.model import ChangedFile
from bot.rules.patches.diff_parser import FileDiff, parse_diff


def changed_files(diff: str) -> tuple[ChangedFile, ...]:
    """Each file of a unified diff, sorted by path, with the lines that it adds and removes; a moved file stands under
    its new name, and one of bytes has no lines."""
    found = {_path(part): part for part in parse_diff(diff) if part.paths}
    return tuple(
        ChangedFile(path=path, added=_lines(part, "+"), removed=_lines(part, "-"))
        for path, part in sorted(found.items())
    )


def _path(part: FileDiff) -> str:
    return part.moved[-1] if part.moved else part.paths[-1]


def _lines(part: FileDiff, mark: str) -> int:
    return sum(line.startswith(mark) for hunk in part.hunks for line in hunk.lines)
