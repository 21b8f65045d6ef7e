"""Which lines of a log name a place, and where in the tree that is: each line is tried with the problem matchers."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from bot.rules.failures.findings import Finding, Here
from bot.rules.failures.problem_matchers import FLUSH, INDENTED, hinting_lines

_FOREIGN = frozenset({".git", "node_modules", "site-packages", "dist-packages", ".venv", ".tox", ".nox", "__pycache__"})
_CONTROL = re.compile(r"[\x00-\x1f\ud800-\udfff]")
_WINDOWS = re.compile(r"^[A-Za-z]:/")
_ALONE = re.compile(r"(?:FILE: |== \[?)?(?P<path>[^\s:\[\]|]{1,400})(?:\]? (?:==|FAIL))?:?$")
"""A line that names a file for the rows below it."""

_BEFORE_A_NAME = ("FILE: ", "== ")
_LIKE_A_FILE = re.compile(r"[./]\w")


def relative_path(path: str, tree: str) -> str | None:
    """The path relative to the tree, with `/` and without `.` and `..`; None for what lies outside or isn't ours."""
    path = path.removeprefix("file://").replace("\\", "/")
    root = tree.replace("\\", "/").rstrip("/")
    if path.startswith("/") or _WINDOWS.match(path):
        if not root or not path.startswith(root + "/"):
            return None
        path = path[len(root) + 1 :]
    parts: list[str] = []
    for part in path.split("/"):
        if part == "..":
            if not parts:
                return None
            parts.pop()
        elif part not in ("", "."):
            parts.append(part)
    if not parts or not _FOREIGN.isdisjoint(parts) or _CONTROL.search(path) or path.startswith("<"):
        return None
    return "/".join(parts)


class Place(NamedTuple):
    """A line that names a place, by its index, what it reports, and its path relative to the tree; None outside it."""

    at: int
    finding: Finding
    path: str | None


def named_places(lines: Sequence[str], tree: str) -> Iterator[Place]:
    """Every line that names a place, in order."""
    header = named = ""
    read = 0  # lines looked at for headers
    paths: dict[str, str | None] = {}
    for index in hinting_lines(lines):
        for above in lines[read : index + 1]:
            if above and above[0] not in " \t":
                header = above
                alone = _ALONE.match(above) if " " not in above or above.startswith(_BEFORE_A_NAME) else None
                named = alone["path"] if alone is not None and _LIKE_A_FILE.search(alone["path"]) else named
        read = index + 1
        line = lines[index]
        for guard, pattern, reader in INDENTED if line[0] in " \t" else FLUSH:
            match = pattern.match(line) if guard in line else None
            finding = reader(match, Here(lines, index, header, named)) if match is not None else None
            if finding is not None:
                if finding.path not in paths:
                    paths[finding.path] = relative_path(finding.path, tree)
                yield Place(index, finding, paths[finding.path])
                break
