"""All that lies below a directory, which may be thousands deep: without recursion, as `os.walk` is in Python 3.11."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path


def walk(top: Path, enters: Callable[[str], bool] = lambda _: True) -> Iterator[tuple[str, os.DirEntry[str]]]:
    """Each file and directory below `top` with its name relative to that, and `/`. No link is followed.

    `enters` decides by its name whether a directory is looked into. Raises OSError."""
    waiting = [""]
    while waiting:
        here = waiting.pop()
        with os.scandir(top / here) as found:
            for entry in found:
                name = f"{here}{entry.name}"
                yield name, entry
                if entry.is_dir(follow_symlinks=False) and enters(name):
                    waiting.append(f"{name}/")
