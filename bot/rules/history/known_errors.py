"""Decides which files a known error is about, and how much a past resolution still counts. A resolution that was
shown to an attempt that failed loses weight, until it is proven again (REQ-RA-311)."""

from __future__ import annotations

import re
from collections.abc import Iterable

from bot.model import KnownError

MAX_FILES = 50
SPENT = 0.25

# what has a directory (in quotes it may hold spaces), or a name with an ending of letters, which versions lack
_PART = r"""[^\s"'`()<>\[\]{},;|=:]"""
_NAME = re.compile(
    rf"""(["'])<PATH>/([^"'<>]{{1,255}})\1|<PATH>/({_PART}{{1,255}})|({_PART}{{1,255}}\.[A-Za-z][A-Za-z0-9]{{0,9}})\b"""
)

_DOTTED = re.compile(r"[\w.]+\.(?!R(?:d|md|nw|proj)$)[A-Z][a-z]\w*")
"""A dotted name of code such as `typing.Dict`, without a directory. Files of R have such endings too."""


def base_name(path: str) -> str:
    """The part after the last `/` or `\\`; empty for a directory."""
    return path.replace("\\", "/").rpartition("/")[2]


def file_names(error: str, paths: Iterable[str] = ()) -> tuple[str, ...]:
    """The base names of files that a normalised error is stored under: those of `paths` first, then those in its
    text."""
    matches = (match for match in _NAME.finditer(error) if not _DOTTED.fullmatch(match[4] or ""))
    named = ((match[2] or match[3] or match[4]).rstrip(".!?") for match in matches)
    names = (base_name(path) for path in (*paths, *named))
    return tuple(dict.fromkeys(name for name in names if 0 < len(name) <= 255))[:MAX_FILES]


def weight(shown: int, passed: int) -> float:
    """The weight of a resolution: 1 when new, less with each attempt that got it and failed."""
    return (passed + 1) / (shown + 1)


def is_spent(shown: int, passed: int) -> bool:
    """Whether so many attempts that got it failed that it is no longer offered for a file."""
    return weight(shown, passed) <= SPENT


def may_be_replayed(known: KnownError) -> bool:
    """Whether the patch of a known error may be applied to a new failure without a request for it.

    The error must be the same by its exact text. A change of a run must be proven, a person's must be merged."""
    resolution = known.resolution
    proven = resolution.proof == "proven" or (resolution.proof is None and resolution.merged)
    return known.exact and resolution.patch is not None and proven
